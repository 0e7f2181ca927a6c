// Who imports Cambium works with schemas, values and graphs, and need not know which module they are from.
@_exported public import CambiumGraph
@_exported public import CambiumModel
