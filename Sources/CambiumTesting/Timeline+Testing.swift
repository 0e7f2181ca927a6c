package import CambiumGraph

extension Timeline {
    /// Creates a timeline with an empty graph. The secret key of its hash indexes is fixed, so that the runs of a test are reproducible.
    ///
    package convenience init(memory: MemoryBudget = .standard) {
        self.init(memory: memory, key: HashKey(secret: Array("tests".utf8)))
    }
}
