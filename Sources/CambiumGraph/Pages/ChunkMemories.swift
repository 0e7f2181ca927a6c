/// What the memory of each chunk is, with how many chunks are a file's.
struct ChunkMemories: RandomAccessCollection {
    private var memories: [ChunkMemory]
    /// Chunks whose bytes are those of a file, whether they were touched or not.
    private(set) var mappedCount: Int

    static let none = ChunkMemories(memories: [], mappedCount: 0)

    /// The chunks of a space that was stored.
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
