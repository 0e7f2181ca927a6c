public import CambiumGraph
public import CambiumJSON
public import CambiumModel

/// The changes that a program makes to rows before the export writes the rows.
///
/// ```swift
/// let hooks = ExportHooks { graph, id, row in row["internal"] == .bool(true) ? .leaveOut : .write }
/// ```
public struct ExportHooks: Sendable {
    /// Whether the export writes a row.
    public enum Decision: Sendable { case write, leaveOut }

    /// The hook that the export calls for each row, but not for nested objects. The hook may change the row. The export does not check the
    /// change, so the program must ensure that an import can read the row.
    package var willExport: (@Sendable (Graph, ObjectID, inout JSONValue) throws -> Decision)?

    /// Creates hooks. `nil` means no hook.
    ///
    /// - Parameter willExport: Receives the id of an object in the graph, and the row that describes the object. May change the row.
    ///   Returns whether the export writes the row. An error that the hook throws ends the export.
    public init(willExport: (@Sendable (Graph, ObjectID, inout JSONValue) throws -> Decision)? = nil) { self.willExport = willExport }
}
