import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct RecoveryTests {
    private static let segment = "log/00000000000000000001.log"

    /// Makes a small store. Returns its files, without closing it by default, and the exports after each transaction.
    private func small(_ durability: Durability = .synced, closes: Bool = false) throws -> (files: [String: [UInt8]], exports: [String]) {
        let volume = MemoryVolume()
        let store = try Store.notes(volume, durability: durability)
        var exports = ["", store.graph.export]
        for number in 0..<12 {
            try store.write(Author(actor: "actor \(number % 3)")) { transaction in
                let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
                try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("text")]))
            }
            exports.append(store.graph.export)
        }
        if closes { try store.close() }
        return (volume.contents, exports)
    }

    private func cut(_ files: [String: [UInt8]], to count: Int) -> MemoryVolume {
        var files = files
        files[Self.segment] = Array((files[Self.segment] ?? []).prefix(count))
        return MemoryVolume(contents: files)
    }

    /// The distance between two lengths to which a test cuts a log. Every frame is longer.
    private static let step = LongTests.areWanted ? 1 : 29

    @Test func `a log that is truncated anywhere loses only transactions that were not known to be durable`() throws {
        // The store syncs nothing after its creation, so each transaction after the first may be lost. No part of a lost one may remain.
        let (files, exports) = try small(.buffered(every: .seconds(3600)))
        let byteCount = try #require(files[Self.segment]).count
        let head = try #require(try LogReader(MemoryVolume(contents: files)).head)
        let durable = Int(head.position)
        var seen: Set<String> = []
        for count in Array(stride(from: durable, to: byteCount, by: Self.step)) + [byteCount] {
            let store = try Store.open(cut(files, to: count), durability: nil)
            #expect(exports.contains(store.graph.export), "cut to \(count) of \(byteCount) bytes")
            seen.insert(store.graph.export)
            try store.close()
        }
        #expect(seen.count == Set(exports).count)
    }

    @Test func `a log that is truncated before its known durable end is refused`() throws {
        let (files, exports) = try small(closes: true)
        let byteCount = try #require(files[Self.segment]).count
        for count in stride(from: byteCount - 1, through: max(0, byteCount - 4096), by: -Self.step) {
            let volume = cut(files, to: count)
            let before = volume.contents
            #expect(code { _ = try Store.open(volume, durability: nil) } == .corrupted, "cut to \(count) of \(byteCount) bytes")
            #expect(volume.contents == before)
        }
        #expect(try Store.open(cut(files, to: byteCount), durability: nil).graph.export == exports.last)
    }

    @Test func `a transaction acknowledged as synced is never mistaken for a torn tail`() throws {
        // HEAD lags. Each frame states how far the log was durable when the frame was written, so all frames except the last are covered.
        let (files, _) = try small()
        let bytes = try #require(files[Self.segment])
        let reader = try LogReader(MemoryVolume(contents: files))
        var offsets: [Int] = []
        _ = try reader.scan { offsets.append($0.frameOffset) }
        #expect(offsets.count > 10)
        for offset in offsets.dropLast(2) {
            var files = files
            var corrupted = bytes
            corrupted[offset + 8] ^= 1
            files[Self.segment] = corrupted
            #expect(code { _ = try Store.open(MemoryVolume(contents: files), durability: nil) } == .corrupted, "frame at \(offset)")
        }
    }

    @Test func `a flipped bit in any byte of a small store is detected`() throws {
        let (files, _) = try small(closes: true)
        for (path, bytes) in files where path != "LOCK" {
            for offset in stride(from: 0, to: bytes.count, by: LongTests.areWanted ? 1 : max(1, bytes.count / 25)) {
                var files = files
                var corrupted = bytes
                corrupted[offset] ^= 1 << UInt8(offset % 8)
                files[path] = corrupted
                let verification = try? Verification(MemoryVolume(contents: files))
                // One slot of HEAD whose checksum does not match is a note, because a crash leaves such a slot.
                let isReported = verification.map { (!$0.isSound || path == Head.fileName) && !$0.findings.isEmpty } ?? true
                #expect(isReported, "\(path) at \(offset)")
            }
        }
    }

    @Test func `writing continues after a torn tail in a new segment`() throws {
        let (files, exports) = try small(.buffered(every: .seconds(3600)))
        let volume = cut(files, to: try #require(files[Self.segment]).count - 3)
        let store = try Store.open(volume, durability: .synced)
        #expect(store.recovery.cutByteCount > 0)
        try store.write { try $0.insert("Note", ["id": .int(99)]) }
        try store.close()
        let reopened = try Store.reopened(volume)
        #expect(reopened.graph.export == store.graph.export)
        #expect(reopened.recovery.notes.isEmpty)
        #expect(volume.contents.keys.filter { $0.hasPrefix("log/") }.count == 2)
        #expect(!exports.contains(reopened.graph.export))
        #expect(try Verification(volume).isSound)
    }

    @Test func `a log that lost all of its frames is refused, and nothing is written`() throws {
        var (files, _) = try small(.buffered(every: .seconds(3600)))
        for expected in [CambiumError.Code.corrupted, .notFound] {
            let volume = cut(files, to: Format.Segment.headerByteCount + 1)
            let before = volume.contents
            #expect(code { _ = try Store.open(volume, durability: .synced) } == expected && volume.contents == before)
            // Without HEAD, nothing states that there was a transaction.
            files["HEAD"] = nil
        }
    }

    @Test(arguments: ["store.json", "HEAD", segment])
    func `a missing file is reported`(path: String) throws {
        var files = try small(closes: true).files
        files[path] = nil
        let verification = try? Verification(MemoryVolume(contents: files))
        #expect(verification.map { !$0.isSound } ?? true)
    }

    @Test(arguments: [Format.Head.sequenceMax, Format.Head.sequenceMax - 1])
    func `a writer replaces a HEAD with the greatest sequence number by a valid one`(sequence: UInt64) throws {
        var files = try small(closes: true).files
        let settings = try StoreSettings.read(MemoryVolume(contents: files))
        var newest = try #require(try Head.read(MemoryVolume(contents: files), store: settings.store).head)
        newest.sequence = sequence
        var other = newest
        other.sequence -= 1
        let slots = [newest, other].sorted { $0.sequence % 2 < $1.sequence % 2 }.map { $0.encode(store: settings.store) }
        files[Head.fileName] = slots[0] + slots[1]
        let volume = MemoryVolume(contents: files)
        #expect(try Verification(volume).findings == [])
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 2))
        try store.write { try $0.insert("Note", ["id": .int(100)]) }
        #expect(try LogReader(volume).lastDurableTransaction >= TransactionNumber(rawValue: 13))
        try store.close()
        #expect(try Verification(volume).findings == [])
    }

    /// Returns the files of a closed store, in which the end of the given slots of HEAD has not reached the disk.
    private func torn(_ slots: [Int]) throws -> MemoryVolume {
        var files = try small(closes: true).files
        var head = try #require(files[Head.fileName])
        for slot in slots {
            let end = (slot + 1) * Format.Head.slotByteCount
            head.replaceSubrange(end - 100..<end, with: repeatElement(0, count: 100))
        }
        files[Head.fileName] = head
        return MemoryVolume(contents: files)
    }

    @Test(arguments: [0, 1]) func `a torn slot of HEAD is a note of a sound store, and the next writer replaces it`(slot: Int) throws {
        let volume = try torn([slot])
        let verification = try Verification(volume)
        #expect(verification.isSound && verification.transactionCount == 13)
        #expect(verification.findings.count == 1 && verification.findings[0].hasPrefix("HEAD is torn: slot \(slot) "))
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 2)).close()
        #expect(try Verification(volume).findings == [])
    }

    @Test func `a HEAD without a valid slot, or with a valid slot of another store, is corrupt`() throws {
        let volume = try torn([0, 1])
        #expect(try !Verification(volume).isSound)
        var files = try small(closes: true).files
        let other = MemoryVolume()
        try Store.create(other, schema: Notes.schema, durability: .synced).close()
        let slots = try #require(other.contents[Head.fileName]).prefix(Format.Head.slotByteCount)
        files[Head.fileName]?.replaceSubrange(0..<Format.Head.slotByteCount, with: slots)
        #expect(try !Verification(MemoryVolume(contents: files)).isSound)
    }

    @Test func `a HEAD that is too long is reported, and prevents neither an opening nor a repair`() throws {
        var (files, exports) = try small(closes: true)
        files[Head.fileName]?.append(contentsOf: repeatElement(0, count: 2 << 20))
        let volume = MemoryVolume(contents: files)
        let flaw = "HEAD is corrupt: bytes follow the two slots"
        #expect(try Verification(volume).findings == [flaw])
        #expect(try ReadOnlyStore(volume).graph.export == exports.last)
        let repair = try Repair(volume, to: MemoryVolume(), environment: fixedEnvironment(seed: 3))
        #expect(repair.findings == [flaw] && repair.transactionCount == exports.count - 1)
    }

    @Test func `the next opening cuts off the bytes after the slots of HEAD`() throws {
        var files = try small(closes: true).files
        files[Head.fileName]?.append(contentsOf: [7, 8, 9])
        let volume = MemoryVolume(contents: files)
        #expect(try !Verification(volume).isSound)
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 2)).close()
        #expect(volume.contents[Head.fileName]?.count == 256)
        #expect(try Verification(volume).findings == [])
    }

    @Test func `files of another store are reported`() throws {
        var files = try small(closes: true).files
        let other = MemoryVolume()
        try Store.create(other, schema: Notes.schema, durability: .synced).close()
        for path in ["HEAD", Self.segment] {
            let kept = files[path]
            files[path] = other.contents[path]
            #expect(try !Verification(MemoryVolume(contents: files)).isSound, "\(path)")
            files[path] = kept
        }
    }

    @Test func `a log of several segments does not verify if one of them is missing`() throws {
        let volume = MemoryVolume()
        for round in 0..<3 {
            let store = try round == 0 ? Store.notes(volume) : Store.open(volume, durability: .buffered(every: .seconds(3600)))
            try store.write { try $0.insert("Note", ["id": .int(Int64(round))]) }
            // The process dies in the middle of a write.
            store.abandon()
            let name = try #require(volume.contents.keys.filter { $0.hasPrefix("log/") }.max())
            try volume.open(name, .update).write([9, 9, 9], at: try #require(volume.contents[name]).count)
        }
        let segments = volume.contents.keys.filter { $0.hasPrefix("log/") }.sorted()
        #expect(segments.count == 3)
        for segment in segments {
            var files = volume.contents
            files[segment] = nil
            #expect((try? Verification(MemoryVolume(contents: files)))?.isSound != true, "\(segment)")
        }
    }
}
