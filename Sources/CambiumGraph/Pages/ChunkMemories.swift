/// The kind of memory of each chunk, and the number of chunks whose bytes are in a file.
struct ChunkMemories: RandomAccessCollection {
    private var memories: [ChunkMemory]
    /// The number of chunks whose bytes are in a file, including chunks that no thread has touched yet.
    private(set) var mappedCount: Int

    static let none = ChunkMemories(memories: [], mappedCount: 0)

    /// Returns the kinds of memory for a page space that was opened from a checkpoint. The source, which reads the stored pages, supplies
    /// every chunk.
    static func source(count: Int) -> ChunkMemories {
        ChunkMemories(memories: [ChunkMemory](repeating: .source, count: count), mappedCount: count)
    }

    var startIndex: Int { 0 }
    var endIndex: Int { memories.count }

    mutating func append(_ memory: ChunkMemory) {
        memories.append(memory)
        if memory.isMapped { mappedCount += 1 }
    }

    subscript(chunk: Int) -> ChunkMemory {
        get { memories[chunk] }
        set {
            mappedCount += (newValue.isMapped ? 1 : 0) - (memories[chunk].isMapped ? 1 : 0)
            memories[chunk] = newValue
        }
    }
}
