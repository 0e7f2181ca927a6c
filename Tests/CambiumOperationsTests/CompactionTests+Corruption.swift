import Cambium
import TestFixtures
import Testing

@testable import CambiumBytes
@testable import CambiumLog
@testable import CambiumStore

extension CompactionTests {
    @Test func `a checkpoint that differs from the replayed log does not replace the log`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        try store.checkpoint()
        try store.close()
        // The pages of this checkpoint have valid checksums, but differ from the graph of the log.
        let other = try made(MemoryVolume(), count: 9)
        try add(other, 77)
        try other.checkpoint()
        try other.close()
        let reader = try LogReader(volume)
        let number = TransactionNumber(rawValue: 11)
        let root = try #require(try PageFile.root(volume, store: reader.settings.store, number)).record
        let before = volume.contents
        let again = try reopen(volume)
        let path = PageFile.path(root.pageFile)
        let pages = try #require(volume.contents[path])
        // The test changes one title.
        let at = try #require(pages.indices.first { pages[$0...].starts(with: Array("a long title a long title a long title 7".utf8)) })
        let file = try volume.open(path, .update)
        try file.write([0x62], at: at)
        var forged = root
        for chunk in forged.chunks.indices where forged.chunks[chunk].hasPages {
            let start = chunk * 65_536
            forged.chunks[chunk].checksum = CRC32C.checksum(Array(try #require(volume.contents[path])[start..<start + 65_536]))
        }
        try volume.replace(CheckpointRecord.path(number), forged.encode().record)
        #expect(code { _ = try again.compact(.checkpoints(1)) } == .corrupted)
        #expect(volume.contents.filter { $0.key.hasPrefix("log/") }.keys == before.filter { $0.key.hasPrefix("log/") }.keys)
        #expect(try !Verification(volume).isSound)
    }

    @Test func `corrupt checkpoints of a retired log are reported, and no data is invented`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        try store.compact(.since(.latest))
        try store.close()
        var contents = volume.contents
        for name in contents.keys where name.hasPrefix("roots/") { contents[name]?[20] ^= 1 }
        let corrupted = MemoryVolume(contents: contents)
        #expect(code { _ = try reopen(corrupted) } == .corrupted)
        #expect(code { _ = try ReadOnlyStore(corrupted) } == .corrupted)
        let verification = try Verification(corrupted)
        #expect(!verification.isSound && verification.findings.count == 1)
        // The remedy for a corrupt checkpoint of a store with its whole log would be wrong here.
        #expect(verification.findings[0].contains("Restore the store from a backup. The reasons are: the checkpoint of transaction"))
        #expect(!verification.findings[0].contains("Open the store again"))
        #expect(corrupted.contents.filter { $0.key != "LOCK" } == contents.filter { $0.key != "LOCK" })
    }

    /// Returns a closed store and its files, with a retired log, a checkpoint of transaction 11, and one of transaction 16.
    private func madeWithTwoCheckpoints() throws -> (volume: MemoryVolume, store: Store) {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        try store.compact(.since(.latest))
        for number in 20..<25 { try add(store, number) }
        try store.checkpoint()
        try store.close()
        return (volume, store)
    }

    @Test func `the remedy for the oldest checkpoint of a retired log names no older checkpoint`() throws {
        let volume = try madeWithTwoCheckpoints().volume
        for (number, hasOlder) in [(11, false), (16, true)] as [(UInt64, Bool)] {
            var contents = volume.contents
            contents[CheckpointRecord.path(TransactionNumber(rawValue: number))]?[30] ^= 1
            let findings = try Verification(MemoryVolume(contents: contents)).findings
            #expect(findings.count == 1 && findings[0].contains("to use an older checkpoint or the log") == hasOlder, "\(findings)")
            #expect(findings[0].contains("Open the store again to use a later checkpoint.") != hasOlder, "\(findings)")
        }
    }

    @Test func `a store with a retired log opens with an older checkpoint and keeps it until a new one exists`() throws {
        let (volume, store) = try madeWithTwoCheckpoints()
        var contents = volume.contents
        let newest = CheckpointRecord.path(TransactionNumber(rawValue: 16))
        contents[newest]?[30] ^= 1
        let corrupted = MemoryVolume(contents: contents)
        for _ in 0..<3 {
            let again = try reopen(corrupted)
            #expect(again.recovery.checkpoint.rawValue == 11 && again.graph.export == store.graph.export)
            again.abandon()
        }
        let again = try reopen(corrupted)
        try again.checkpoint()
        try again.close()
        let last = try reopen(corrupted)
        #expect(last.recovery.checkpoint.rawValue == 16 && last.recovery.notes == [] && last.graph.export == store.graph.export)
        #expect(try Verification(corrupted).isSound)
    }
}
