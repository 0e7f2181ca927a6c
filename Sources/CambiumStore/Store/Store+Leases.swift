extension Store {
    /// Lends the newest graph until the lease expires, or until the caller ends or releases the lease. Complexity: O(1); never waits for a
    /// writer or for the disk.
    ///
    /// - Parameter duration: the time for which the lease is valid; `nil` for no time limit. After that time, the lease ends at the next
    ///   read of any lease, or at the next transaction. The lease also ends if the clock is set back by more than this duration.
    ///   Transactions after the end of the lease free the pages of its graph.
    public func lease(for duration: Duration? = nil) -> GraphLease { leases.lend(graph, for: duration) }

    /// Ends the leases that are at least `age` old, and returns their number. Reads of these leases then throw `.expired`. The next
    /// transactions free the pages that only these leases reached. Graphs that other code holds are not affected. Complexity: O(leases).
    @discardableResult
    public func expireLeases(olderThan age: Duration = .zero) -> Int { leases.expire(olderThan: age) }
}
