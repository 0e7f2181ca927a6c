// The one import of programs. It has no declarations of its own.
@_exported public import CambiumEdits
@_exported public import CambiumExchange
@_exported public import CambiumGraph
@_exported public import CambiumModel
@_exported public import CambiumOperations
@_exported public import CambiumProofs
@_exported public import CambiumRecords
@_exported public import CambiumStore

@_exported public import enum CambiumJSON.JSONValue
