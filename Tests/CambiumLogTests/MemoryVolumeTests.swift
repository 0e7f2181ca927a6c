import Testing

@testable import CambiumLog

@Suite struct MemoryVolumeTests {
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
