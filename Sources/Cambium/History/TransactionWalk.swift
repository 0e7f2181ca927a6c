package import CambiumGraph
internal import CambiumLog
package import CambiumModel

/// One transaction of a walk through the history of a store, with the graphs before and after it.
package struct WalkedTransaction {
    package let entry: TransactionLog.Entry
    package let before: Graph
    package let after: Graph

    package var changes: Changes { after.changes(since: before) }
}

extension EarlierGraphs {
    /// Calls `body` with each transaction after `first` up to `last`, in order. If transactions after `first` were retired, begins after
    /// the last retired one.
    ///
    /// Throws as `graph(at:)` does, and the errors of `body`. Complexity: O(bytes of the log from the checkpoint before `first` to `last`).
    ///
    /// - Returns: the transaction after which the walk began.
    @discardableResult
    package func walk(
        after first: TransactionNumber, through last: TransactionNumber, _ body: (WalkedTransaction) throws -> Void
    ) throws -> TransactionNumber {
        let reader = try LogReader(volume)
        let begin = max(first, try reader.retiredEnd())
        var view =
            begin == .none
            ? try EarlierView(beforeFirst: reader) : try EarlierView(reader, at: EarlierMoment(number: begin), memory: .standard)
        if begin >= last { return begin }
        var before = view.graph
        try view.advance(reader, stepwiseTo: last) { after, record in
            try body(WalkedTransaction(entry: TransactionLog.Entry(record), before: before, after: after))
            before = after
            return true
        }
        return begin
    }
}
