import Cambium
import CambiumBytes
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct ArchiveTests {
    @Test func `a store and its archive together restore every transaction`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(volume)
        try store.label("ten", TransactionNumber(rawValue: 10))
        let (before, ops) = (try Verification(volume), try Archiving.ops(volume))
        let moments = try (1...42).map { try Archiving.graph(volume, at: $0).digest() }
        let compaction = try store.compact(.since(.latest), in: archive)
        #expect(compaction.retiredEnd.rawValue == 42 && compaction.archivedSegmentCount == compaction.segmentCount)
        #expect(compaction.archivedByteCount == archive.contents.values.reduce(0) { $0 + $1.count })
        #expect(archive.contents.keys.contains { $0.hasSuffix(".ops") } && compaction.missingFromArchive.isEmpty)
        for number in 50..<60 { try Archiving.add(store, number) }
        try store.close()
        let whole = try Archiving.restored(volume, archive)
        let verification = try Verification(whole)
        #expect(verification.isSound && verification.findings == [] && verification.digest == store.graph.digest())
        #expect(try verification.root == Verification(volume).root && Array(Archiving.ops(whole).prefix(42)) == ops)
        #expect(try (1...42).map { try Archiving.graph(whole, at: $0).digest() } == moments)
        #expect(try ReadOnlyStore(whole, point: .label("ten")).graph.digest() == moments[9])
        var tree = LogTree()
        _ = try LogReader(whole).scan { if $0.number.rawValue <= 42 { try tree.append($0) } }
        #expect(HexText.encode(tree.root) == before.root)
        let again = try Archiving.reopen(whole)
        try Archiving.add(again, 99)
        try again.close()
        #expect(try Verification(whole).isSound && LogReader(whole).retiredEnd() == .none)
    }

    @Test func `compactions add to the same archive and skip the segments that it has`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(volume, count: 20)
        try store.compact(.since(.latest), in: archive)
        let first = archive.contents
        #expect(try store.compact(.since(.latest), in: archive).archivedSegmentCount == 0 && archive.contents == first)
        for number in 20..<40 { try Archiving.add(store, number) }
        let second = try store.compact(.since(.latest), in: archive)
        #expect(second.archivedByteCount == archive.contents.values.reduce(0) { $0 + $1.count } - first.values.reduce(0) { $0 + $1.count })
        #expect(second.archivedByteCount > 0 && first.allSatisfy { archive.contents[$0.key] == $0.value })
        try store.close()
        let whole = try Verification(Archiving.restored(volume, archive))
        #expect(try whole.isSound && whole.root == Verification(volume).root && whole.transactionCount >= 41)
    }

    @Test func `a compaction removes the files that interrupted compactions left in the archive, and no other file`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(volume, count: 10)
        try store.compact(.since(.latest), in: archive)
        let (before, number) = (archive.contents, TransactionNumber(rawValue: 5))
        let left = [LogFileName.path(number, .segment), LogFileName.path(number, .ops)].map { $0 + LogFileName.replacementSuffix }
        for path in left + ["log/notes.new"] { try archive.open(path, .create).write([1, 2, 3], at: 0) }
        try store.compact(.since(.latest), in: archive)
        #expect(archive.contents == before.merging(["log/notes.new": [1, 2, 3]]) { $1 })
        try store.close()
    }

    @Test func `an archived segment stays if the log has sealed it in the meantime, and is replaced if it is corrupt`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let open = try Archiving.made(volume, tuning: Archiving.unsealed)
        try open.checkpoint()
        try open.close()
        let segments = try LogDirectory.segments(volume, upTo: TransactionNumber(rawValue: 41))
        let added = try SegmentArchive(adding: archive, of: LogReader(volume).settings.store).add(segments, from: volume)
        #expect(added.segmentCount == segments.count && segments.count > 4)
        let reader = try LogReader(volume)
        let writer = try LogWriter(reader, try reader.scan { _ in }, preallocates: false, tuning: Archiving.unsealed) { [UInt8](0..<16) }
        for segment in segments { #expect(try SegmentSealer(writer).seal(segment) != nil) }
        try writer.close()
        let store = try Archiving.reopen(volume)
        for (place, segment) in segments.enumerated().dropFirst() where place < 4 {
            try damage(archive, LogFileName.path(segment, .segment), at: place == 1 ? 20 : place == 2 ? 100 : nil)
        }
        let ops = try #require(archive.contents.keys.filter { $0.hasSuffix(".ops") }.max())
        try damage(archive, ops, at: 110)
        #expect(try store.compact(.since(.latest), in: archive).archivedSegmentCount == 4)
        try store.close()
        #expect(try Verification(Archiving.restored(volume, archive)).isSound)
    }

    /// Changes a byte of a file, or cuts off its last byte if `offset` is `nil`.
    private func damage(_ volume: MemoryVolume, _ path: String, at offset: Int?) throws {
        let file = try volume.open(path, .update)
        let byteCount = try file.byteCount()
        guard let offset else { return try file.truncate(to: byteCount - 1) }
        try file.write([try #require(volume.contents[path])[offset] ^ 1], at: offset)
    }

    @Test func `a store is restored to a moment that was retired`() throws {
        let (volume, archive, _) = try Archiving.compacted()
        let whole = try ArchivedVolume(volume, archive: archive)
        let last = TransactionNumber(rawValue: 7)
        let target = MemoryVolume()
        let backup = try Backup(whole, to: target, last: last, environment: fixedEnvironment(seed: 5))
        #expect(try backup.transaction == last && ReadOnlyStore(target).graph.objectCount == 6)
        #expect(try Verification(target).isSound)
        #expect(code { _ = try Backup(volume, to: MemoryVolume(), last: last, environment: fixedEnvironment()) } == .notFound)
    }

    @Test func `a store with corrupt checkpoints is restored with its archive`() throws {
        let (volume, archive, root) = try Archiving.compacted(count: 10)
        var contents = volume.contents
        for name in contents.keys where name.hasPrefix("roots/") { contents[name]?[20] ^= 1 }
        let corrupted = MemoryVolume(contents: contents)
        #expect(code { _ = try ReadOnlyStore(corrupted) } == .corrupted)
        let whole = try Archiving.restored(corrupted, archive)
        #expect(try Verification(whole).root == root && Archiving.reopen(whole).graph.objectCount == 10)
    }

    @Test(arguments: [20, 100])
    func `a corrupt retired segment is refused with its archive, and the error names the repair`(offset: Int) throws {
        let (volume, archive, _) = try Archiving.compacted(count: 10)
        var contents = volume.contents
        contents[LogFileName.path(TransactionNumber(rawValue: 1), .segment)]?[offset] ^= 1
        let corrupted = MemoryVolume(contents: contents)
        let refusal = try #require(error { _ = try Archiving.restored(corrupted, archive) })
        #expect(refusal.code == .corrupted && refusal.message.contains("'cambium repair'"), "\(refusal)")
        let finding = try Verification(corrupted, archive: archive).findings.first
        #expect(finding?.contains("'cambium repair'") == true, "\(finding ?? "")")
    }

    @Test func `a backup from before the compaction serves as an archive`() throws {
        let volume = MemoryVolume()
        let store = try Archiving.made(volume)
        try store.checkpoint()
        let backup = MemoryVolume()
        _ = try Backup(volume, to: backup)
        let root = try Verification(volume).root
        try store.compact(.since(.latest))
        try store.close()
        // The compaction committed a digest, so the last segment of the backup is not needed.
        let whole = try Archiving.restored(volume, backup)
        #expect(try Verification(whole).root == Verification(volume).root && Archiving.ops(whole).count >= 41)
        #expect(code { _ = try store.compact(.since(.latest), in: backup) } == .cannotCreate && !root.isEmpty)
    }

    @Test func `a dry run reports what a run would archive, and changes nothing`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(volume)
        try store.checkpoint()
        let before = volume.contents
        let planned = try store.compact(.checkpoints(1), in: archive, isDryRun: true)
        #expect(volume.contents == before && archive.contents.isEmpty)
        let done = try store.compact(.checkpoints(1), in: archive)
        #expect(planned.archivedSegmentCount == done.archivedSegmentCount && planned.archivedByteCount == done.archivedByteCount)
        #expect(planned.archivedByteCount == archive.contents.values.reduce(0) { $0 + $1.count } && planned.archivedByteCount > 3000)
        let again = try store.compact(.checkpoints(1), in: archive, isDryRun: true)
        #expect(again.archivedSegmentCount == 0 && again.archivedByteCount == 0)
        #expect(try store.compact(.all, in: archive).archivedSegmentCount == 0)
    }

    @Test func `a verification with an archive replays everything and reports what the archive has lost`() throws {
        let (volume, archive, root) = try Archiving.compacted()
        let sound = try Verification(volume, archive: archive)
        #expect(sound.isSound && sound.findings == [] && sound.root == root && sound.digest != nil)
        #expect(sound.logByteCount > (try Verification(volume).logByteCount))
        let path = try #require(archive.contents.keys.filter { $0.hasSuffix(".log") }.sorted().dropFirst().first)
        var contents = archive.contents
        contents[path]?[150] ^= 1
        let corrupted = try Verification(volume, archive: MemoryVolume(contents: contents))
        #expect(!corrupted.isSound && corrupted.findings.contains { $0.contains(path) } && corrupted.root == root)
        contents[path] = nil
        let lost = try Verification(volume, archive: MemoryVolume(contents: contents))
        #expect(!lost.isSound && lost.findings.contains { $0.contains(path) } && lost.root == root)
    }

    @Test func `the error for a retired moment names the archive if the archive has all of the log`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(volume, count: 20)
        let moment = Point.transaction(TransactionNumber(rawValue: 3))
        func message(_ volume: any Volume) -> String? { error { _ = try ReadOnlyStore(volume, point: moment) }?.message }
        try store.compact(.since(.latest), in: archive)
        #expect(message(volume)?.contains("archived in 'memory'") == true)
        let copy = MemoryVolume()
        _ = try Backup(volume, to: copy)
        #expect(message(copy)?.contains("archived in 'memory'") == true)
        #expect(try !Archiving.restored(volume, archive).contents.keys.contains("ARCHIVE"))
        for offset in try #require(volume.contents["ARCHIVE"]).indices {
            var contents = volume.contents
            contents["ARCHIVE"]?[offset] ^= 1
            #expect(message(MemoryVolume(contents: contents))?.contains("archived") == false)
        }
        for number in 20..<30 { try Archiving.add(store, number) }
        try store.compact(.since(.latest))
        #expect(message(volume)?.contains("were retired") == true && message(volume)?.contains("archived") == false)
        try store.compact(.since(.latest), in: archive)
        #expect(message(volume)?.contains("archived") == false)
    }
}
