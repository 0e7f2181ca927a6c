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
}
