public import CambiumGraph
public import CambiumJSON
public import CambiumModel

/// The changes that a program makes to rows before they are written.
///
///     let hooks = ExportHooks { graph, id, row in row["internal"] == .bool(true) ? .leaveOut : .write }
public struct ExportHooks: Sendable {
    public enum Decision: Sendable { case write, leaveOut }

    /// Receives an object of the graph and the row that was made from it, and may change the row. Returns whether the export writes the
    /// row. An error that the hook throws ends the export.
    public typealias WillExport = @Sendable (Graph, ObjectID, inout JSONValue) throws -> Decision

    /// The hook that is called for each row, but not for objects that are nested in a row. The export does not check the changed row, so
    /// the program must ensure that an import can read it.
    package var willExport: WillExport?

    /// Creates hooks. `nil` means no hook.
    public init(willExport: WillExport? = nil) { self.willExport = willExport }
}
