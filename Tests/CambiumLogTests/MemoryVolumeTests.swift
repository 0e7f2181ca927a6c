import CambiumBytes
import Dispatch
import Testing

@testable import CambiumLog

@Suite struct MemoryVolumeTests {
    @Test func `a file is either shared or removed, even if two threads try at the same time`() throws {
        for _ in 0..<5000 {
            let volume = MemoryVolume(contents: ["root": [1]])
            let share = Guarded<(any VolumeLock)?>(nil)
            let isRemoved = Guarded(false)
            DispatchQueue.concurrentPerform(iterations: 2) { thread in
                if thread == 0 {
                    let taken = try? volume.share("root")  // The file no longer exists.
                    share.withLock { $0 = taken }
                } else {
                    let removed = (try? volume.removeUnlessShared("root")) ?? false
                    isRemoved.withLock { $0 = removed }
                }
            }
            try #require(share.withLock { $0 != nil } != isRemoved.withLock { $0 })
        }
    }

    @Test func `a shared file is neither removed nor replaced`() throws {
        let volume = MemoryVolume(contents: ["root": [1], "new": [2]])
        let share = try volume.share("root")
        #expect(try !volume.removeUnlessShared("root") && !volume.renameUnlessShared("new", to: "root"))
        #expect(volume.contents == ["root": [1], "new": [2]])
        share.unlock()
        #expect(try volume.renameUnlessShared("new", to: "root") && volume.removeUnlessShared("root"))
        #expect(volume.contents == [:])
    }
}
