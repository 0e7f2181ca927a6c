import Cambium
import CambiumModel
import CambiumTesting
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct ArchiveRefusalTests {
    @Test func `an archive of another store is refused, and nothing changes`() throws {
        let (volume, archive, _) = try Archiving.compacted(count: 12)
        let other = MemoryVolume()
        let store = try Archiving.made(other, count: 12, seed: 7)
        let (before, archived) = (other.contents, archive.contents)
        for isDryRun in [true, false] {
            #expect(code { try store.compact(.since(.latest), in: archive, isDryRun: isDryRun) } == .conflict)
        }
        #expect(other.contents == before && archive.contents == archived)
        let archiveOfOther = MemoryVolume()
        try store.compact(.since(.latest), in: archiveOfOther)
        #expect(code { _ = try Archiving.restored(volume, archiveOfOther) } == .conflict)
        #expect(code { _ = try Verification(volume, archive: archiveOfOther) } == .conflict)
        #expect(code { _ = try Archiving.restored(volume, MemoryVolume()) } == .notFound)
    }

    @Test func `a new archive is refused in a directory where another store has begun one in the meantime`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        _ = try Archiving.made(volume, count: 5, seed: 7)
        let adding = try SegmentArchive(adding: archive, of: LogReader(volume).settings.store)
        try Archiving.made(MemoryVolume(), count: 5).compact(.since(.latest), in: archive)
        #expect(code { try adding.withLock(apartFrom: volume) {} } == .conflict)
        // The refusal released the lock.
        try archive.lock(LogWriter.lockFileName).unlock()
    }

    @Test func `an archive of a diverged copy is refused, and the error names the file and the transaction`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(volume, count: 6)
        let copy = MemoryVolume()
        _ = try Backup(volume, to: copy)
        let other = try Archiving.reopen(copy)
        for number in 10..<20 {
            try Archiving.add(store, number)
            try Archiving.add(other, number + 100)
        }
        try store.compact(.since(.latest), in: archive)
        let archived = archive.contents
        let refusal = error { try other.compact(.since(.latest), in: archive) }
        #expect(refusal?.code == .conflict && refusal?.place?.file?.contains("/log/0000") == true)
        #expect(refusal?.message.contains("Transaction 8 of the archive differs") == true && archive.contents == archived)
        #expect(try LogReader(copy).retiredEnd() == .none)
    }

    @Test func `a store or a directory with other files does not become an archive`() throws {
        let volume = MemoryVolume()
        let store = try Archiving.made(volume, count: 12)
        let another = MemoryVolume()
        _ = try Archiving.made(another, count: 3)
        let foreign = MemoryVolume()
        _ = try Archiving.made(foreign, count: 3, seed: 7)
        for archive in [volume, another, foreign, MemoryVolume(contents: ["notes.txt": [1]])] {
            let before = archive.contents
            #expect(code { try store.compact(.since(.latest), in: archive) } == .cannotCreate)
            #expect(archive.contents == before)
        }
        let shared = MemoryVolume()
        try store.compact(.since(.latest), in: shared)
        let more = MemoryVolume(contents: shared.contents.merging(["README": [1]]) { $1 })
        #expect(try store.compact(.since(.latest), in: more).missingFromArchive.isEmpty)
        let lock = try shared.lock(LogWriter.lockFileName)
        let error = #expect(throws: CambiumError.self) { _ = try store.compact(.since(.latest), in: shared) }
        #expect(error?.code == .locked && error?.message.contains("archive") == true)
        lock.unlock()
    }

    @Test func `the store's own log under another name is refused as an archive`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-archive-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }  // The operating system removes leftovers.
        let store = try Store.create(at: directory + "/store", schema: Notes.schema)
        for number in 0..<5 { try Archiving.add(store, number) }
        try FileManager.default.createDirectory(atPath: directory + "/archive", withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: directory + "/archive/log", withDestinationPath: directory + "/store/log")
        #expect(code { try store.compact(.since(.latest), archive: directory + "/archive") } == .cannotCreate)
        #expect(try LogReader(SystemVolume(root: directory + "/store")).retiredEnd() == .none)
        try store.close()
        #expect(try Store.verify(at: directory + "/store").findings == [])
    }

    @Test func `a transaction that differs from the retired one is reported with its file and its number`() throws {
        let (volume, _, _) = try Archiving.compacted(count: 12)
        let forged = MemoryVolume()
        // The ids, times, authors and salts are the same, but the ops differ.
        try Archiving.made(MemoryVolume(), count: 12, word: "A LONG TITLE ").compact(.since(.latest), in: forged)
        let refusal = error { _ = try Archiving.restored(volume, forged) }
        #expect(refusal?.code == .corrupted && refusal?.message.contains("Transaction 2 ") == true)
        #expect(refusal?.place?.file?.hasPrefix("memory/log/0000000000000000000") == true, "\(String(describing: refusal?.place))")
    }

    @Test func `an archived segment with the same transactions and other checksums is refused`() throws {
        let (volume, _, _) = try Archiving.compacted(count: 12)
        let archive = MemoryVolume()
        // Each frame states how far the log was durable, so the checksums differ if no transaction waits for the disk.
        let other = try Archiving.made(MemoryVolume(), count: 12, durability: .buffered(every: .seconds(60)))
        try other.compact(.since(.latest), in: archive)
        let reading = try SegmentArchive(reading: archive, of: LogReader(volume).settings.store)
        let end = TransactionNumber(rawValue: 13)
        // The first segment has a single frame, which states nothing about durability.
        let segments = try LogDirectory.segments(volume, upTo: end).dropFirst()
        #expect(segments.count > 2)
        for segment in segments {
            #expect(code { _ = try reading.paths(inPlaceOf: segment, to: end, of: volume) } == .corrupted, "\(segment)")
        }
        let made = MemoryVolume()
        _ = try Archiving.made(made, count: 12)
        let adding = try SegmentArchive(adding: archive, of: LogReader(made).settings.store)
        for segment in segments { #expect(code { _ = try adding.add([segment], from: made) } == .conflict, "\(segment)") }
    }

    @Test func `bytes after the end of an archived segment are corruption`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        try Archiving.made(volume, count: 12, tuning: Archiving.unsealed).compact(.since(.latest), in: archive)
        let reading = try SegmentArchive(reading: archive, of: LogReader(volume).settings.store)
        let end = TransactionNumber(rawValue: 13)
        let segments = try LogDirectory.segments(volume, upTo: end)
        #expect(!segments.isEmpty)
        for segment in segments {
            #expect(try !reading.paths(inPlaceOf: segment, to: end, of: volume).isEmpty)
            let file = try archive.open(LogFileName.path(segment, .segment), .update)
            try file.write([0], at: try file.byteCount())
            #expect(code { _ = try reading.paths(inPlaceOf: segment, to: end, of: volume) } == .corrupted, "\(segment)")
        }
    }

    @Test func `transactions that the archive's disk does not keep as written are not retired`() throws {
        let volume = MemoryVolume()
        let store = try Archiving.made(volume, count: 12)
        let export = store.graph.export
        for suffix in [".log", ".ops"] {
            #expect(code { try store.compact(.since(.latest), in: LyingVolume(suffix)) } == .ioFailure)
            #expect(try LogReader(volume).retiredEnd() == .none && store.graph.export == export)
        }
        #expect(try store.compact(.since(.latest), in: MemoryVolume()).archivedSegmentCount > 3)
    }

    @Test func `a restore from an incomplete archive fails and names the missing file`() throws {
        let (volume, archive, _) = try Archiving.compacted()
        for path in archive.contents.keys.sorted() {
            var contents = archive.contents
            contents[path] = nil
            let refusal = error { _ = try Archiving.restored(volume, MemoryVolume(contents: contents)) }
            #expect(refusal?.code == (path.hasSuffix(".log") ? .notFound : .corrupted), "\(path)")
            #expect(refusal?.place?.file?.contains(path) == true, "\(path)")
        }
        // A segment that is retired in the archive as well has no transactions to restore.
        var contents = archive.contents
        let path = try #require(contents.keys.filter { $0.hasSuffix(".log") }.sorted().first)
        contents[path] = volume.contents[path]
        #expect(code { _ = try Archiving.restored(volume, MemoryVolume(contents: contents)) } == .notFound)
    }

    @Test func `transactions that were retired before the archive was begun are reported as missing`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(volume, count: 10)
        let early = try store.compact(.since(.latest)).retiredEnd
        for number in 10..<20 { try Archiving.add(store, number) }
        let compaction = try store.compact(.since(.latest), in: archive)
        #expect(compaction.missingFromArchive == [TransactionNumber(rawValue: 1)...early] && compaction.archivedSegmentCount > 0)
        let refusal = error { _ = try Archiving.restored(volume, archive) }
        #expect(refusal?.code == .notFound && refusal?.place?.file?.contains("00000000000000000001.log") == true)
    }

    @Test func `a corrupt byte anywhere in an archive is found`() throws {
        let (volume, archive, root) = try Archiving.compacted(count: 8)
        for (path, bytes) in archive.contents {
            for offset in stride(from: 0, to: bytes.count, by: bytes.count > 2000 ? 7 : 3) {
                var contents = archive.contents
                contents[path]?[offset] ^= 1 << UInt8(offset % 8)
                let found = error { _ = try Archiving.restored(volume, MemoryVolume(contents: contents)) }
                let isReported = [.corrupted, .conflict, .unsupportedFormat, .notFound].contains(found?.code)
                #expect(isReported, "\(path), byte \(offset): \(found.map { "\($0)" } ?? "nothing")")
            }
        }
        #expect(try Verification(Archiving.restored(volume, archive)).root == root)
    }

    @Test func `a corrupt log is neither archived nor retired`() throws {
        let volume = MemoryVolume()
        let store = try Archiving.made(volume)
        try store.checkpoint()
        let path = try #require(volume.contents.keys.filter { $0.hasSuffix(".ops") }.sorted().first)
        let file = try volume.open(path, .update)
        try file.write([0xEE, 0xEE], at: 200)
        let archive = MemoryVolume()
        let segments = try LogDirectory.segments(volume, upTo: TransactionNumber(rawValue: 41))
        let adding = try SegmentArchive(adding: archive, of: LogReader(volume).settings.store)
        let found = error { _ = try adding.add(segments, from: volume) }
        #expect(found?.code == .corrupted && found?.place?.file?.contains(path) == true && archive.contents[path] == nil)
        #expect(code { try store.compact(.since(.latest), in: archive) } == .corrupted)
        #expect(try LogReader(volume).retiredEnd() == .none)
    }

    @Test func `a compaction during the copy of a store and its archive fails the copy, and a new copy is sound`() throws {
        let (volume, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(volume, count: 10)
        try store.compact(.since(.latest), in: archive)
        for number in 10..<20 { try Archiving.add(store, number) }
        let whole = try ArchivedVolume(volume, archive: archive)
        try store.compact(.since(.latest), in: archive)
        #expect(code { _ = try Backup(whole, to: MemoryVolume()) } == .ioFailure)
        #expect(try Verification(Archiving.restored(volume, archive)).isSound)
    }

    @Test func `a file with a number that no transaction can have is not a segment of an archive`() throws {
        let (volume, archive, _) = try Archiving.compacted()
        var files = archive.contents
        let last = try #require(files.keys.filter { $0.hasSuffix(".log") }.max())
        files[last] = nil
        files["log/18446744073709551615.log"] = [1, 2, 3]
        let lacking = try SegmentArchive(reading: MemoryVolume(contents: files), of: StoreSettings.read(volume).store)
        let end = try LogReader(volume).retiredEnd()
        #expect(try lacking.missing(of: volume).map(\.upperBound) == [end])
    }

    @Test func `a failed compaction removes an empty archive even if the process has too many open files`() throws {
        let volume = CrowdedVolume()
        let archive = try SegmentArchive(adding: volume, of: [UInt8](repeating: 1, count: 16))
        let refusal = code {
            try archive.withLock(apartFrom: MemoryVolume()) {
                volume.isCrowded.store(true, ordering: .relaxed)
                _ = try volume.list("log")
            }
        }
        #expect(refusal == .ioFailure && volume.memory.contents.isEmpty)
    }

    @Test func `a store that is read with its archive refuses writes`() throws {
        let (volume, archive, _) = try Archiving.compacted(count: 5)
        let whole = try ArchivedVolume(volume, archive: archive)
        #expect(code { _ = try Store.open(whole, durability: nil) } == .notWritable)
        #expect(code { _ = try whole.lock(LogWriter.lockFileName) } == .notWritable)
        #expect(code { _ = try whole.open("x", .create) } == .notWritable && code { try whole.remove("HEAD") } == .notWritable)
    }
}

/// Files in memory that include the lock file. While the process has too many open files, no file and no directory can be opened.
private final class CrowdedVolume: OverMemory {
    let memory = MemoryVolume()
    let isCrowded = Atomic(false)

    private func check() throws(CambiumError) {
        if isCrowded.load(ordering: .relaxed) { throw CambiumError(.ioFailure, "There are too many open files.") }
    }

    var name: String { "crowded" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        try check()
        return try memory.open(path, mode)
    }
    func list(_ directory: String) throws(CambiumError) -> [String] {
        try check()
        return try memory.list(directory)
    }
    func lock(_ path: String) throws(CambiumError) -> any VolumeLock {
        _ = try memory.open(path, .create)
        return try memory.lock(path)
    }
}

/// Files in memory whose bytes change when they get their final name.
private final class LyingVolume: OverMemory {
    let memory = MemoryVolume()
    private let suffix: String

    init(_ suffix: String) { self.suffix = suffix }

    var name: String { "lying" }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile { try memory.open(path, mode) }

    func rename(_ path: String, to newPath: String) throws(CambiumError) {
        try memory.rename(path, to: newPath)
        if newPath.hasSuffix(suffix) { try memory.open(newPath, .update).write([0xA5, 0x5A], at: 110) }
    }
}
