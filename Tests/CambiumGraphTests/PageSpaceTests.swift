import Testing

@testable import CambiumGraph

/// Memory that is supplied in advance.
@Suite struct PageSpaceTests {
    private let space = PageSpace()

    private var freeByteCount: Int { space.memory.heapByteCount - space.liveGranules * PageLayout.granule }

    private func refill() {
        space.memory.refill { space.freeByteCount }
        space.memory.finishPreparing()
    }

    private func take(_ byteCount: Int) {
        for _ in 0..<byteCount / PageLayout.chunkByteCount {
            _ = space.allocate(granules: PageLayout.chunkGranules, kind: .blobExtent, birth: 1)
        }
    }

    @Test func `expected memory and a quarter more is supplied again after each use`() {
        space.memory.expect(byteCount: 20 << 20)
        for _ in 0..<4 {
            refill()
            #expect(freeByteCount > 20 << 20 && freeByteCount < 64 << 20)
            take(20 << 20)
        }
    }

    @Test func `the memory that is kept ready has a limit`() {
        space.memory.expect(byteCount: 1 << 40)
        refill()
        #expect(freeByteCount >= 156 << 20 && freeByteCount <= 162 << 20)
    }

    @Test func `no memory is kept ready for a small operation`() {
        let reserved = space.memory.heapByteCount
        space.memory.expect(byteCount: 1 << 20)
        refill()
        #expect(space.memory.heapByteCount == reserved)
    }

    @Test(arguments: [40, 100, 200, 400, 500, 700, 900, 1000])
    func `a small budget is used up to its last chunk, and is tight then`(kibibyteCount: Int) {
        let budget = MemoryBudget(byteCount: kibibyteCount << 10)
        let memory = PageMemory(budget: budget)
        var chunkCount = 0
        while memory.takeChunk(isForced: false) != nil { chunkCount += 1 }
        #expect(chunkCount == kibibyteCount / 64)
        #expect(budget.usedByteCount == chunkCount * PageLayout.chunkByteCount && budget.isTight)
    }

    @Test func `the free bytes of open chunks are counted, also after chunks are frozen`() {
        func counted() -> Int {
            space.openChunks.reduce(0) { $0 + PageLayout.chunkByteCount - Int(space.live[Int($1)]) * PageLayout.granule }
        }
        var pages: [PageRef] = []
        for epoch in UInt64(1)...4 {
            for number in 0..<500 { pages.append(space.allocate(granules: 10 + number, kind: .blobExtent, birth: epoch)) }
            #expect(space.freeByteCount == counted())
            for _ in 0..<300 { space.release(pages.remove(at: pages.count / 2)) }
            #expect(space.freeByteCount == counted())
            _ = space.freeze(epoch: epoch)
            #expect(space.freeByteCount == 0 && counted() == 0)
            for _ in 0..<100 { space.release(pages.removeFirst()) }
            #expect(space.freeByteCount == 0)
        }
    }

    @Test func `releasing the disk space of new chunks omits the chunks that graphs of closed stores map`() {
        let storage = ReleasedChunks()
        space.storage = storage
        let leased = space.chunkCount + 3
        _ = space.reuse(ChunkOwners(isRooted: [], leased: [leased]), spareCount: 0)
        #expect(!storage.chunks.contains(leased))
        #expect(storage.chunks.contains(leased - 1) && storage.chunks.contains(leased + 1))
    }
}

/// A storage that records the chunks whose disk space is released.
///
/// SENDABLE: a test uses it from one thread.
private final class ReleasedChunks: PageStorage, @unchecked Sendable {
    private(set) var chunks: [Int] = []

    func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer? { nil }

    func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool { false }

    func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool { false }

    func discard(_ chunks: Range<Int>) -> (@Sendable () -> Void)? {
        self.chunks += chunks
        return nil
    }
}
