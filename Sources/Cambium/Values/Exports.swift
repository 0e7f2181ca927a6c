// A program that imports Cambium can use schemas, values, graphs, imports and exports without importing the modules that declare them.
@_exported public import CambiumExchange
@_exported public import CambiumGraph
@_exported public import CambiumModel
@_exported public import CambiumProofs

@_exported public import enum CambiumJSON.JSONValue
