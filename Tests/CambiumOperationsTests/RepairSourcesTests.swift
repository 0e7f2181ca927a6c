import Cambium
import CambiumBytes
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumOperations
@testable import CambiumStore

/// A repair takes the best of the log, the checkpoints and the archive.
@Suite struct RepairSourcesTests {
    private func number(_ value: Int) -> TransactionNumber { TransactionNumber(rawValue: UInt64(value)) }

    @Test func `bytes after the frames of a segment hide no later transaction`() throws {
        var store = try CorruptStore()
        #expect(store.segments.count > 1)
        for segment in store.segments.dropLast() {
            let sound = try #require(store.files[segment])
            store.files[segment] = sound + [1]
            let (repair, saved) = try #require(try store.repaired())
            #expect(repair.missing.isEmpty && repair.findings.count == 1 && repair.root == store.root, "\(repair.findings)")
            #expect(saved.graph.digest() == store.graph.digest())
            store.files[segment] = sound
        }
    }

    @Test func `the checkpoint after a truncated segment replaces the lost changes`() throws {
        var store = try CorruptStore()
        let count = store.envelopes.count
        #expect(store.segments.count > 1)
        for (place, segment) in store.segments.dropLast().enumerated() {
            let sound = try #require(store.files[segment])
            store.files[segment] = Array(sound.prefix(110))
            let (repair, saved) = try #require(try store.repaired())
            #expect(repair.missing.count == 1 && repair.transactionCount == count, "segment \(place): \(repair.findings)")
            #expect(saved.graph.digest() == store.graph.digest() && saved.graph.labels == store.graph.labels)
            #expect(throws: CambiumError.self) { try saved.write(Author(requestID: "request 0")) { try $0.insert("Memo") } }
            store.files[segment] = sound
        }
    }

    /// Returns the files that a repair writes, and the number of ranges of lost transactions. The repair reads the metadata of at most
    /// `windowCount` lost transactions at once.
    private func repaired(_ files: [String: [UInt8]], windowCount: UInt64) throws -> (files: [String: [UInt8]], lost: Int) {
        let (log, volume) = (try LogReader(MemoryVolume(contents: files)), MemoryVolume())
        try LogWriter.create(volume, log.settings, saltSeed: Array(repeating: 7, count: 16))
        let empty = try LogReader(volume)
        let writer = try LogWriter(empty, try empty.scan { _ in }, preallocates: false) { Array(repeating: 7, count: 16) }
        var run = try RepairRun(log, writer, windowCount: windowCount)
        try run.save()
        try writer.close()
        return (volume.contents, run.report.missing.count)
    }

    @Test func `the number of lost transactions that a repair reads at once does not matter`() throws {
        var (store, lost) = (try CorruptStore(), 0)
        for segment in store.segments.dropLast() {
            let sound = try #require(store.files[segment])
            store.files[segment]?[sound.count / 2] ^= 0x10
            let whole = try repaired(store.files, windowCount: .max)
            for count in UInt64(1)...3 {
                let files = try repaired(store.files, windowCount: count).files
                #expect(files == whole.files, "\(segment) \(count)")
            }
            lost += whole.lost
            store.files[segment] = sound
        }
        #expect(lost > 0)
    }

    @Test func `a corrupt byte anywhere in the log costs only the changes up to the next checkpoint`() throws {
        var store = try CorruptStore(roundCount: 3)
        var missingCounts: Set<Int> = []
        for segment in store.segments {
            let sound = try #require(store.files[segment])
            for offset in stride(from: 7, to: sound.count, by: max(1, sound.count / 4)) {
                store.files[segment]?[offset] ^= 0x10
                let (repair, saved) = try #require(try store.repaired())
                let lost = repair.missing.reduce(0) { $0 + Int($1.upperBound.rawValue - $1.lowerBound.rawValue) + 1 }
                #expect(lost <= 6 && saved.graph.digest() == store.graph.digest(), "\(segment) \(offset): \(repair.findings)")
                missingCounts.insert(lost)
                store.files[segment] = sound
            }
        }
        #expect(missingCounts.count > 2)
    }

    @Test func `changes of the schema in a gap are saved with the state`() throws {
        for round in 1...2 {
            var store = try CorruptStore(roundCount: 3, widensAt: round)
            let segment = try #require(store.segments.last { Int($0.dropFirst(4).prefix(20)).map { $0 <= 2 + 4 * round } ?? false })
            store.files[segment]?[100] ^= 1
            let (repair, saved) = try #require(try store.repaired())
            #expect(!repair.missing.isEmpty && saved.graph.digest() == store.graph.digest(), "\(repair.findings)")
            #expect(saved.schema.entity("Note")?.attribute("added") != nil)
        }
    }

    @Test func `corrupt checkpoints are not used`() throws {
        var store = try CorruptStore()
        store.files[store.segments[0]]?[120] ^= 1
        let first = try #require(store.files.keys.filter { $0.hasPrefix("roots/") }.min())
        store.files[first]?[90] ^= 1
        let (repair, saved) = try #require(try store.repaired())
        #expect(repair.findings.contains { $0.contains("checkpoint") } && saved.graph.digest() == store.graph.digest())
        for root in store.files.keys where root.hasPrefix("roots/") { store.files[root]?[90] ^= 2 }
        store.files[store.segments[0]]?[120] ^= 1
        store.files[store.segments[1]]?[110] ^= 1
        let rest = try #require(try store.repaired()).repair
        #expect(rest.missing.last?.upperBound == number(store.envelopes.count) && rest.transactionCount < store.envelopes.count)
    }

    /// Returns the files of a checkpoint of the same store, in another history without objects.
    private func checkpointWithoutObjects(_ number: UInt64, schema: Schema = Notes.schema) throws -> [String: [UInt8]] {
        let volume = MemoryVolume()
        try Store.create(volume, schema: schema, durability: .synced, environment: fixedEnvironment()).abandon()
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 9))
        while store.graph.transaction.rawValue < number { try store.label("label \(store.graph.transaction)") }
        try store.checkpoint()
        store.abandon()
        let paths = [CheckpointRecord.path(TransactionNumber(rawValue: number))]
        return volume.contents.filter { paths.contains($0.key) || $0.key.hasPrefix("pages-") }
    }

    /// A schema to which no migration from the schema of the notes leads, because an attribute has another type.
    private static let otherSchema: Schema = {
        var definition = Notes.definition
        definition.entities[0].attributes[2] = AttributeDefinition("rating", .string, .optional)
        do { return try Schema(definition) } catch { preconditionFailure("The schema is sound: \(error)") }
    }()

    @Test(arguments: [false, true])
    func `a checkpoint of a history with fewer ids or another schema is not used, and the next one is`(hasOtherSchema: Bool) throws {
        let schema = hasOtherSchema ? Self.otherSchema : Notes.schema
        var (store, count) = (try CorruptStore(roundCount: 3), 0)
        for segment in store.segments.dropLast() {
            let sound = try #require(store.files[segment])
            let files = store.files
            store.files[segment]?[sound.count / 2] ^= 1
            let before = try #require(try store.repaired())
            if let lost = before.repair.missing.first, lost.lowerBound.rawValue > 2, lost.lowerBound < lost.upperBound {
                store.files.merge(try checkpointWithoutObjects(lost.lowerBound.rawValue, schema: schema)) { own, _ in own }
                let (repair, saved) = try #require(try store.repaired())
                #expect(repair.missing == [lost] && saved.graph.digest() == before.store.graph.digest(), "\(repair.findings)")
                let finding = repair.findings.first { $0.contains("cannot be written as changes. ") }
                #expect(finding?.contains(hasOtherSchema ? "rating" : "another digest") == true, "\(repair.findings)")
                count += 1
            }
            store.files = files
        }
        #expect(count > 0)
    }

    @Test func `a repair identifies the store without its settings, its first segment or all segments`() throws {
        var store = try CorruptStore()
        store.files["store.json"] = nil
        #expect(try store.repaired()?.store.graph.digest() == store.graph.digest())
        store.files[store.segments[0]]?[20] ^= 1
        #expect(try store.repaired()?.store.graph.digest() == store.graph.digest())
        for segment in store.segments { store.files[segment] = nil }
        #expect(try store.repaired()?.store.graph.digest() == store.graph.digest())
        // The newest checkpoint record is unreadable, and longer than any other small file of a store.
        store.files[CheckpointRecord.path(number(1 << 20))] = Array(repeating: 7, count: 2 << 20)
        #expect(try store.repaired()?.store.graph.digest() == store.graph.digest())
    }

    @Test func `retired transactions come from the archive, or from the checkpoint without an archive`() throws {
        let (volume, archive, root) = try Archiving.compacted()
        let digest = try ReadOnlyStore(volume).graph.digest()
        let target = MemoryVolume()
        let whole = try Repair(try ArchivedVolume(volume, archive: archive), to: target, environment: fixedEnvironment(seed: 5))
        #expect(whole.findings.isEmpty && whole.missing.isEmpty && whole.root == root)
        let other = MemoryVolume()
        let rest = try Repair(volume, to: other, environment: fixedEnvironment(seed: 5))
        #expect(rest.missing == [number(1)...number(41)] && rest.findings.contains { $0.contains("retired") })
        #expect(try ReadOnlyStore(other).graph.digest() == digest)
        var messages: [String?] = []
        try TransactionLog(other).forEach { messages.append($0.metadata.message) }
        #expect(messages[5] == "adds 4")
    }

    @Test func `an archive replaces retired segments that are corrupt or missing`() throws {
        let (volume, archive, root) = try Archiving.compacted(count: 16)
        let retired = try LogDirectory.segments(volume, upTo: LogReader(volume).retiredEnd())
        #expect(retired.count > 2)
        for segment in retired {
            for offset in [3, 30, 100, nil] {
                var files = volume.contents
                let path = LogFileName.path(segment, .segment)
                if let offset { files[path]?[offset] ^= 1 } else { files[path] = nil }
                let reader = try LogReader(MemoryVolume(contents: files))
                let (log, flaw) = try Repair.whole(reader, SegmentArchive(reading: archive, of: reader.settings.store))
                let report = try Repair(log.volume, to: MemoryVolume(), environment: fixedEnvironment(seed: 5))
                #expect(flaw?.contains("replaces the log") == true, "\(path), \(offset ?? -1)")
                #expect(report.missing.isEmpty && report.root == root, "\(path), \(offset ?? -1): \(report.findings)")
            }
        }
    }

    @Test func `an archive that differs from a retired segment is not used although another one is corrupt`() throws {
        let (volume, _, _) = try Archiving.compacted(count: 16)
        let (other, archive) = (MemoryVolume(), MemoryVolume())
        let store = try Archiving.made(other, count: 16, word: "another title ")
        try store.compact(.since(.latest), in: archive)
        try store.close()
        let path = try LogFileName.path(#require(LogDirectory.segments(volume).first), .segment)
        let file = try volume.open(path, .update)
        try file.write([0xEE], at: 100)
        let reader = try LogReader(volume)
        #expect(code { _ = try Repair.whole(reader, SegmentArchive(reading: archive, of: reader.settings.store)) } == .corrupted)
    }

    @Test func `a repair ignores the archive of a compaction that was interrupted before it retired a transaction`() throws {
        let volume = MemoryVolume()
        try Archiving.made(volume, count: 3).close()
        let reader = try LogReader(volume)
        try ArchiveNote("archive", upTo: reader.lastDurableTransaction).write(to: volume, store: reader.settings.store)
        #expect(try reader.archiveOfCorruptStore() == nil)
        #expect(try reader.retirementFlaw()?.reason == nil)
    }

    @Test func `a repair of a sound store reports nothing while a writer never pauses`() throws {
        let volume = WatchedVolume()
        let store = try Archiving.made(volume, count: 10)
        let count = Guarded(10)
        let write: @Sendable () throws -> Void = {
            let number = count.withLock { count in
                count += 1
                return count
            }
            try Archiving.add(store, number)
        }
        volume.beforeListing.withLock { $0 = Array(repeating: write, count: 400) }
        let repair = try Repair(volume, to: MemoryVolume(), environment: fixedEnvironment(seed: 5))
        #expect(repair.findings.isEmpty && repair.missing.isEmpty && count.withLock { $0 } > 12)
        try store.close()
    }
}
