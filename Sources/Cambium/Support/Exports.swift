// A program that imports Cambium uses schemas, values and graphs, and the rows of imports and exports. It need not know the modules that
// declare them.
@_exported public import CambiumExchange
@_exported public import CambiumGraph
@_exported public import CambiumModel

@_exported public import enum CambiumJSON.JSONValue
