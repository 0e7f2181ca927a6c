public import CambiumGraph
public import CambiumJSON
public import CambiumModel

/// What a program does to rows on their way out.
///
///     let hooks = ExportHooks { graph, id, row in row["internal"] == .bool(true) ? .leaveOut : .write }
public struct ExportHooks: Sendable {
    public enum Decision: Sendable { case write, leaveOut }

    /// Gets an object of the graph and the row that was made of it, and may change the row. What it throws ends the export.
    public typealias WillExport = @Sendable (Graph, ObjectID, inout JSONValue) throws -> Decision

    /// Called for each row, not for objects that are nested in one. What it makes of a row is written as it is: that an import
    /// reads it is the program's to see to.
    public var willExport: WillExport?

    public init(willExport: WillExport? = nil) { self.willExport = willExport }
}
