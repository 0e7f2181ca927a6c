package import CambiumGraph

extension Timeline {
    /// Creates a timeline with an empty graph. The secret key of its hash indexes is fixed, so that the runs of a test are reproducible.
    ///
    /// - Parameter texts: The hash of texts in the indexes. Graphs of earlier builds have `.sipHash`.
    package convenience init(memory: MemoryBudget = .standard, texts: TextHash = .products) {
        self.init(memory: memory, key: HashKey(secret: Array("tests".utf8)), texts: texts)
    }
}
