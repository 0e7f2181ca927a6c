// A program that imports Cambium uses schemas, values and graphs, and the rows of imports and exports. The program need not import the
// modules that declare these types.
@_exported public import CambiumExchange
@_exported public import CambiumGraph
@_exported public import CambiumModel

@_exported public import enum CambiumJSON.JSONValue
