extension Store {
    /// The work of the store since it was opened, and its present size.
    ///
    /// Reading never waits for a writer or for the disk. Complexity: O(1).
    public var metrics: StoreMetrics { committer.currentMetrics }
}
