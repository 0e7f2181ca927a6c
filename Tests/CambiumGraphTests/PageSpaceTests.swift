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

    @Test func `what was taken is kept ready, and a quarter more, however often it is taken`() {
        space.memory.expect(byteCount: 20 << 20)
        for _ in 0..<4 {
            refill()
            #expect(freeByteCount > 20 << 20 && freeByteCount < 64 << 20)
            take(20 << 20)
        }
    }

    @Test func `no more is kept than some`() {
        space.memory.expect(byteCount: 1 << 40)
        refill()
        #expect(freeByteCount >= 156 << 20 && freeByteCount <= 162 << 20)
    }

    @Test func `nothing is kept for what takes little`() {
        let reserved = space.memory.heapByteCount
        space.memory.expect(byteCount: 1 << 20)
        refill()
        #expect(space.memory.heapByteCount == reserved)
    }
}
