@testable import CambiumGraph

/// Stored chunks, in memory.
///
/// SENDABLE: a test uses it from one thread.
final class ChunkStorage: ChunkSource, PageStorage, @unchecked Sendable {
    private var chunks: [Int: UnsafeMutableRawPointer] = [:]
    /// The number of chunks that were supplied to spaces.
    private(set) var suppliedCount = 0
    var count: Int { chunks.count }

    /// Old versions of chunks that the table of a space may still refer to.
    private var replaced: [UnsafeMutableRawPointer] = []

    deinit { for chunk in chunks.values + replaced { chunk.deallocate() } }

    func store(_ fresh: [Int], of timeline: Timeline) {
        for chunk in fresh { timeline.withBytes(ofChunk: chunk) { put(chunk, $0) } }
    }

    /// Returns a copy of the chunks that later stores do not change.
    func copy() -> ChunkStorage {
        let copy = ChunkStorage()
        for (chunk, bytes) in chunks { copy.put(chunk, UnsafeRawBufferPointer(start: bytes, count: PageImage.chunkByteCount)) }
        return copy
    }

    private func put(_ chunk: Int, _ bytes: UnsafeRawBufferPointer) {
        let stored = chunks[chunk] ?? .allocate(byteCount: PageImage.chunkByteCount, alignment: 4096)
        chunks[chunk] = stored
        UnsafeMutableRawBufferPointer(start: stored, count: PageImage.chunkByteCount).copyMemory(from: bytes)
    }

    func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer? {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: PageImage.chunkByteCount, alignment: 4096)
        if let old = chunks.updateValue(memory, forKey: chunk) { replaced.append(old) }
        return memory
    }

    func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool { false }

    func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool { false }

    func discard(_ chunks: Range<Int>) -> (@Sendable () -> Void)? { nil }

    func suppliesSameChunks(as other: any ChunkSource) -> Bool { other === self }

    func refuse(_ reason: String) -> Never { preconditionFailure(reason) }

    func chunk(_ index: Int) -> UnsafeMutableRawPointer {
        suppliedCount += 1
        guard let chunk = chunks[index] else { preconditionFailure("Chunk \(index) was not stored.") }
        return chunk
    }
}
