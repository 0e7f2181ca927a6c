public import CambiumGraph
import CambiumModel

extension Store {
    /// Returns the graph at a moment that is not later than the newest graph. An open store keeps the graphs of the last few requests.
    /// A replay continues from the latest of these graphs that is not after the moment.
    ///
    /// ```swift
    /// let yesterday = try store.graph(at: .time(Timestamp(Date.now - 86_400)))
    /// ```
    ///
    /// Writers and readers continue at the same time. Throws `.notFound` if there is no such moment, or if the transactions that lead to it
    /// were retired, even if the graph was returned earlier. Also throws `.notFound` if another store has taken the place of this store.
    /// Throws `.invalidInput` for an earlier moment and for any time if the store is in memory, because such a store has no log. Throws
    /// `.corrupted` if the log up to the moment is corrupt, and `.ioFailure` if it cannot be read. Complexity: O(bytes of the log between
    /// the moment and the preceding checkpoint or kept moment); O(1) for the newest moment.
    public func graph(at point: Point) throws -> Graph {
        let newest = graph
        if point == .latest { return newest }
        var moment = try EarlierMoment(point) { newest.labels }
        if moment.number == newest.transaction { return newest }
        if let number = moment.number { try moment.check(newest.transaction, isLogRead: number > newest.transaction) }
        guard let past else { throw CambiumError(.invalidInput, "A store in memory has no earlier moments. Use a store on disk.") }
        // Transactions after the newest graph may still be rolled back, so the replay ends before them.
        moment.number = moment.number ?? newest.transaction
        return try past.graph(at: moment)
    }
}
