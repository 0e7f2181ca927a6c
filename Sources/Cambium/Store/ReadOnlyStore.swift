public import CambiumGraph
package import CambiumLog
public import CambiumModel

/// A moment in the history of a store.
public enum Point: Sendable, Hashable {
    case latest
    case transaction(TransactionNumber)
    /// The last transaction that is not later; microseconds since 1970.
    case time(Int64)
    /// The transaction that a label names.
    case label(String)
}

/// A store as it was at one moment, read beside whoever writes to it. Nothing is locked, nothing is written; what is shown is
/// durable, because the log is synced first.
public struct ReadOnlyStore: Sendable {
    public let graph: Graph
    public let recovery: RecoveryReport

    /// Reads a store from its newest checkpoint that is not later, and from its log.
    ///
    /// Throws `.notFound` where there is no store or no such moment, `.damaged` where its log is corrupt. Complexity: O(log behind the
    /// checkpoint).
    public init(at path: String, point: Point = .latest) throws {
        try self.init(SystemVolume(root: path), point: point)
    }

    /// A label as the transaction that it names.
    private static func resolved(_ point: Point, _ volume: any Volume) throws -> Point {
        guard case .label(let name) = point else { return point }
        let labels = try ReadOnlyStore(volume).graph.labels
        if let number = labels[name] { return .transaction(number) }
        let known = labels.isEmpty ? "the store has none" : "there are: \(labels.keys.sorted().joined(separator: ", "))"
        throw CambiumError(.notFound, "There is no label '\(name)'; \(known).")
    }

    package init(_ volume: any Volume, point: Point = .latest) throws {
        let point = try Self.resolved(point, volume)
        let reader = try LogReader(volume)
        let stored = try StoredGraph(reader, notAfter: point)
        var replay = Replay(stored)
        let end = try replay.run(reader, makesDurable: true) { record in
            switch point {
            case .latest, .label: false
            case .transaction(let number): record.number > number
            case .time(let time): record.metadata.time > time
            }
        }
        if case .transaction(let number) = point, number > end.lastTransaction || number == .none {
            throw CambiumError(.notFound, "There is no transaction \(number); the last one is \(end.lastTransaction).")
        }
        if case .time = point, replay.transactionCount == 0, stored.pages == nil {
            throw CambiumError(.notFound, "The store is younger than the time given.")
        }
        graph = stored.timeline.head
        recovery = RecoveryReport(reader, stored, end, transactionCount: replay.transactionCount)
    }
}
