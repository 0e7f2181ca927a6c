extension Store {
    /// Lends the newest graph until the lease expires, or until the caller ends or releases the lease. Complexity: O(1); never waits for a
    /// writer or for the disk.
    ///
    /// - Parameter duration: the time for which the lease is valid; `nil` for no time limit. After this time, the lease ends with the next
    ///   read of any lease, or with the next transaction. The same happens if the clock was set back to a time that precedes the
    ///   beginning of the lease by more than `duration`. Later transactions free its pages.
    public func lease(for duration: Duration? = nil) -> GraphLease { leases.lend(graph, for: duration) }

    /// Ends the leases that are at least `age` old, and returns their number. Reads of these leases then throw `.expired`. The next
    /// transactions free the pages that only these leases reached. Graphs that other code holds are not affected. Complexity: O(leases).
    @discardableResult
    public func expireLeases(olderThan age: Duration = .zero) -> Int { leases.expire(olderThan: age) }
}
