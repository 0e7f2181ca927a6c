// A program that imports this module can use schemas, values and graphs without importing the modules that declare them.
@_exported public import CambiumGraph
@_exported public import CambiumModel

@_exported public import enum CambiumJSON.JSONValue
