package import CambiumGraph

extension Timeline {
    /// Creates the empty graph, with a fixed key for its indexes.
    package convenience init(memory: MemoryBudget = .standard) {
        self.init(memory: memory, key: HashKey(secret: Array("tests".utf8)))
    }
}
