package import CambiumGraph

extension Timeline {
    /// The empty graph, with indexes whose key every test knows.
    package convenience init(memory: MemoryBudget = .standard) {
        self.init(memory: memory, key: HashKey(secret: Array("tests".utf8)))
    }
}
