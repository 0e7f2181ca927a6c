package import CambiumGraph

extension Timeline {
    /// Creates a timeline with an empty graph. The key of its indexes is fixed, so that each run of a test is the same.
    package convenience init(memory: MemoryBudget = .standard) {
        self.init(memory: memory, key: HashKey(secret: Array("tests".utf8)))
    }
}
