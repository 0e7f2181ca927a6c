internal import CambiumBytes
import CambiumGraph
internal import CambiumLog
public import CambiumModel

/// The transactions that an undo undoes.
///
/// ```swift
/// try store.undo(.actor("importer", since: .label("monday")), author: Author(actor: "jane"))
/// ```
public enum UndoSelection: Sendable, Hashable {
    case transaction(TransactionNumber)
    /// All transactions from the first number to the last one.
    case transactions(ClosedRange<TransactionNumber>)
    /// The transaction that applied a request which the store still remembers.
    case request(String)
    /// All transactions of an actor after a moment. The transaction of the moment itself is not undone.
    case actor(String, since: Point)
}

/// The way in which an undo treats values that were changed after the undone transactions.
///
/// ```swift
/// try store.undo(.transaction(number), policy: .skip)
/// ```
public enum UndoPolicy: String, Sendable, Hashable, CaseIterable {
    /// Any conflict is an error, and nothing is undone.
    case error
    /// Keeps the present state of everything in conflict, and undoes the rest.
    case skip
    /// Replaces the present state with the former one. An object that was deleted since then stays deleted.
    case force
}

extension UndoSelection {
    /// Returns the selected transactions as ascending ranges.
    ///
    /// Throws `.notFound` if the store does not have a selected transaction, or if there is none. Complexity: O(1), or O(bytes of the log
    /// after the moment) for the transactions of an actor.
    func ranges(in graph: Graph, _ past: EarlierGraphs) throws -> [ClosedRange<TransactionNumber>] {
        switch self {
        case .transaction(let number): return [try Self.existing(number...number, graph)]
        case .transactions(let range): return [try Self.existing(range, graph)]
        case .request(let id):
            guard let entry = graph.request(id) else {
                throw CambiumError(
                    .notFound, "The store remembers no request '\(id.excerpt)'. Name the transaction; 'cambium log' lists transactions.")
            }
            return [entry.transaction...entry.transaction]
        case .actor(let actor, let point):
            let ranges = try Self.ranges(of: actor, after: Self.number(of: point, graph, past), upTo: graph.transaction, past)
            if ranges.isEmpty {
                throw CambiumError(
                    .notFound,
                    "There is no transaction of '\(actor.excerpt)' after that moment. Check the name, or name an earlier moment.")
            }
            return ranges
        }
    }

    private static func existing(
        _ range: ClosedRange<TransactionNumber>, _ graph: Graph
    ) throws(CambiumError) -> ClosedRange<TransactionNumber> {
        try EarlierMoment(number: range.lowerBound).check(graph.transaction, isLogRead: true)
        try EarlierMoment(number: range.upperBound).check(graph.transaction, isLogRead: true)
        return range
    }

    private static func number(of point: Point, _ graph: Graph, _ past: EarlierGraphs) throws -> TransactionNumber {
        let moment = try EarlierMoment(point) { graph.labels }
        if let number = moment.number, number != .none {
            try moment.check(graph.transaction, isLogRead: true)
            return number
        }
        if point == .latest { return graph.transaction }
        do {
            return try past.graph(at: moment).transaction
        } catch let error as CambiumError where error.code == .notFound {
            // All transactions are after a time before the creation of the store.
            guard case .time = point, try LogReader(past.volume).retiredEnd() == .none else { throw error }
            return .none
        }
    }

    private static func ranges(
        of actor: String, after moment: TransactionNumber, upTo last: TransactionNumber, _ past: EarlierGraphs
    ) throws -> [ClosedRange<TransactionNumber>] {
        var ranges: [ClosedRange<TransactionNumber>] = []
        if moment >= last { return [] }
        try TransactionLog(past.volume).read(from: moment.next) { entry in
            if entry.number > last { return false }
            guard entry.metadata.isBy(actor) else { return true }
            if let open = ranges.last, open.upperBound.next == entry.number {
                ranges[ranges.count - 1] = open.lowerBound...entry.number
            } else {
                ranges.append(entry.number...entry.number)
            }
            return true
        }
        return ranges
    }
}
