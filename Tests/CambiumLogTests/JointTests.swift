import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Joints, and how readers begin at them. A joint is a frame without transactions that marks a position of the log for a checkpoint.
@Suite struct JointTests {
    private func add(_ store: Store, _ number: Int) throws {
        try store.write(Author(actor: "actor \(number % 2)", message: "adds")) { try $0.insert("Note", ["id": .int(Int64(number))]) }
    }

    /// Makes three rounds of three transactions and a checkpoint in one segment, and two transactions after them.
    private func made(_ volume: any Volume = MemoryVolume(), tuning: LogTuning = .standard) throws -> Store {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        for round in 0..<3 {
            for number in 0..<3 { try add(store, round * 10 + number) }
            try store.checkpoint()
        }
        for number in 90..<92 { try add(store, number) }
        return store
    }

    private func segments(_ volume: any Volume) throws -> [UInt64] { try LogDirectory.segments(volume).map(\.rawValue) }

    private func root(_ volume: any Volume, _ number: UInt64) throws -> CheckpointRecord {
        let store = try StoreSettings.read(volume).store
        return try #require(try PageFile.root(volume, store: store, TransactionNumber(rawValue: number))).record
    }

    // MARK: Bytes

    @Test func `a checkpoint leaves a joint of 23 bytes in the segment, which its record names`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try add(store, 1)
        try store.checkpoint()
        try store.close()
        #expect(try segments(volume) == [1])
        let root = try root(volume, 2)
        let bytes = try #require(volume.contents["log/00000000000000000001.log"])
        let joint = Array(bytes[root.logPosition.jointOffset...])
        // Length, checksum, distance, count, region.
        #expect(joint.count == 23 && joint[0] == 18 && joint[6] == 0)
        #expect(ByteReader.peek(joint, at: 1) == root.logPosition.checksum)
        var reader = ByteReader(joint[7...])
        #expect(try reader.read(UInt64.self) == 2 && reader.read(Int64.self) == root.time)
        let record = try #require(volume.contents[CheckpointRecord.path(root.transaction)])
        var place = ByteReader(record[52...])
        #expect(try place.read(UInt32.self) == root.logPosition.checksum)
        #expect(try place.read(UInt64.self) == UInt64(root.logPosition.jointOffset))
    }

    @Test func `checkpoints of one transaction share a joint, and one at the beginning of a segment needs no joint`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        for number in 0..<600 { try add(store, number) }
        try store.checkpoint()
        let joint = try root(volume, 601).logPosition
        try store.compact(.all)
        #expect(try root(volume, 601).logPosition == joint)
        try store.close()
        let again = try Store.open(volume, durability: nil)
        try again.compact(.since(.latest))
        #expect(try segments(volume) == [1, 602] && root(volume, 601).logPosition == joint)
        try again.close()
    }

    // MARK: Single transactions

    /// A store whose log has a joint after each 300 bytes, without a checkpoint.
    private func joined() throws -> MemoryVolume {
        var tuning = LogTuning()
        tuning.jointByteCount = 300
        let volume = MemoryVolume()
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        for number in 0..<60 { try add(store, number) }
        return volume
    }

    private func text(_ record: LogRecord) throws -> String { "\(record.number) \(record.metadata) \(try record.ops())" }

    @Test func `the writer appends joints, and a reader of one transaction needs only the frames after the last one before it`() throws {
        let volume = try joined()
        var records: [LogRecord] = []
        let end = try LogReader(volume).scan { records.append($0) }
        #expect(records.count == 61 && end.verdict == .clean)
        let expected = try records.map(text)
        for (record, text) in zip(records, expected) { #expect(try LogReader(volume).record(record.number).map(self.text) == text) }
        #expect(try LogReader(volume).record(TransactionNumber(rawValue: 62)) == nil)
        // The actor of most transactions is interned after the last joint, so a wrong position would show a wrong actor.
        let last = try #require(records.last)
        var changed = try volume.bytes(of: last.file)
        for record in records.dropLast(10).dropFirst() { changed[record.frameOffset + record.byteCount - 1] ^= 1 }
        try volume.replace(last.file, changed)
        #expect(try LogReader(volume).record(last.number).map(text) == expected.last)
        #expect(code { _ = try LogReader(volume).record(TransactionNumber(rawValue: 30)) } == .corrupted)
    }

    @Test func `a flipped bit leads a reader of one transaction to the right transaction or to an error`() throws {
        let volume = try joined()
        var expected: [String] = []
        _ = try LogReader(volume).scan { expected.append(try text($0)) }
        let path = LogFileName.path(TransactionNumber(rawValue: 1), .segment)
        let bytes = try volume.bytes(of: path)
        var (rightCount, count) = (0, 0)
        for place in stride(from: Format.Segment.headerByteCount, to: bytes.count, by: 61) {
            var changed = bytes
            changed[place] ^= 1 << UInt8(place % 8)
            try volume.replace(path, changed)
            for number in [20, 40, 60] {
                count += 1
                do {
                    let found = try LogReader(volume).record(TransactionNumber(rawValue: UInt64(number)))
                    // The last transactions may look like a torn tail.
                    if found == nil, number == 60 { continue }
                    #expect(try found.map(text) == expected[number - 1], "byte \(place)")
                    rightCount += 1
                } catch let error as CambiumError { #expect(error.code == .corrupted) }
            }
        }
        #expect(2 * rightCount > count)
    }

    // MARK: Forged joints

    private func scan(_ images: [SegmentImage]) throws -> [LogRecord] {
        let settings = StoreSettings(store: SegmentImage.store, creationTime: SegmentImage.time, durability: .synced)
        var contents = [StoreSettings.fileName: settings.encode()]
        for image in images { contents[image.path] = image.bytes }
        var records: [LogRecord] = []
        _ = try LogReader(MemoryVolume(contents: contents)).scan { records.append($0) }
        return records
    }

    private func image(_ build: (inout SegmentImage) -> Void) -> [SegmentImage] {
        var image = SegmentImage(first: 1)
        build(&image)
        return [image]
    }

    @Test func `frames after a joint are readable without the frames before it`() throws {
        let records = try scan(
            image {
                $0.append(3)
                $0.appendJoint()
                $0.append(2)
                $0.append()
                $0.appendJoint()
            })
        #expect(records.map(\.number.rawValue) == [1, 2, 3, 4, 5, 6])
        #expect(records.map { $0.metadata.actor } == (1...6).map { "actor \($0 % 2)" })
    }

    @Test func `a joint that contradicts the frames before it is corruption`() throws {
        let forgeries: [(inout SegmentImage) -> Void] = [
            { $0.appendJoint(transaction: 4) }, { $0.appendJoint(transaction: 2) }, { $0.appendJoint(transaction: .max) },
            { $0.appendJoint(time: SegmentImage.time) }, { $0.appendJoint(time: .max) }, { $0.appendJoint(time: .min) },
            {
                $0.appendJoint()
                $0.appendJoint()
            },
        ]
        for forge in forgeries {
            let images = image {
                $0.append(3)
                forge(&$0)
                $0.append()
            }
            #expect(code { _ = try scan(images) } == .corrupted)
        }
        #expect(code { _ = try scan(image { $0.appendJoint() }) } == .corrupted)
    }

    @Test func `a checkpoint whose position does not fit the log is corrupt`() throws {
        let volume = MemoryVolume()
        try made(volume).close()
        let sound = try root(volume, 10)
        let (early, offset) = (try root(volume, 7).logPosition, sound.logPosition.jointOffset)
        let positions = [
            LogPosition(jointOffset: offset, checksum: sound.logPosition.checksum ^ 1), LogPosition(checksum: sound.logPosition.checksum),
            early, LogPosition(jointOffset: offset - 1, checksum: sound.logPosition.checksum),
            LogPosition(jointOffset: 1 << 48, checksum: sound.logPosition.checksum),
            LogPosition(jointOffset: 96, checksum: sound.logPosition.checksum),
        ]
        for position in positions {
            var forged = sound
            forged.logPosition = position
            let copy = MemoryVolume(contents: volume.contents)
            try copy.replace(CheckpointRecord.path(forged.transaction), forged.encode().record)
            #expect(
                code { _ = try ReadOnlyStore(copy) } == .corrupted && code { _ = try Store.reopened(copy) } == .corrupted, "\(position)")
            #expect(try !Verification(copy).isSound, "\(position)")
        }
        #expect(throws: DecodingError.self) {
            var forged = sound
            forged.logPosition = LogPosition(jointOffset: 1 << 48 + 1, checksum: 0)
            _ = try RecordedCheckpoint(forged.encode().record, store: forged.store)
        }
    }

    // MARK: Readers

    @Test func `readers begin at the joint of a checkpoint, and followers continue past joints`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let follower = try StoreFollower(volume)
        for round in 0..<4 {
            let reader = try ReadOnlyStore(volume)
            #expect(reader.recovery.checkpoint.rawValue == UInt64(round == 0 ? 10 : 11 + round * 3))
            #expect(reader.recovery.transactionCount == (round == 0 ? 2 : 1) && reader.graph.export == store.graph.export)
            #expect(follower.graph.export == store.graph.export)
            let moment = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 8)))
            #expect(moment.recovery.checkpoint.rawValue == 7 && moment.graph.objectCount == 7)
            for number in 0..<2 { try add(store, 200 + round * 10 + number) }
            try store.checkpoint()
            try add(store, 300 + round)
            #expect(try follower.advance() > 0)
        }
        try store.close()
        #expect(try segments(volume) == [1] && Verification(volume).findings == [])
    }

    @Test func `a store opened at a joint continues there, whether or not it was closed`() throws {
        for isClosed in [true, false] {
            let volume = MemoryVolume()
            let store = try made(volume)
            try store.checkpoint()
            if isClosed { try store.close() } else { store.abandon() }
            let again = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3))
            #expect(again.recovery.transactionCount == 0 && again.recovery.checkpoint.rawValue == 12)
            #expect(try again.checkpoint().byteCount == 0)
            try add(again, 500)
            try again.checkpoint()
            try again.close()
            #expect(try segments(volume) == [1] && Verification(volume).findings == [])
            #expect(try ReadOnlyStore(volume).graph.export == again.graph.export)
        }
    }

    @Test func `a backup omits a checkpoint whose joint lies beyond the end of the copy`() throws {
        for listing in 0..<6 {
            let volume = WatchedVolume()
            let store = try Store.create(volume.memory, schema: Notes.schema, durability: .synced, environment: fixedEnvironment())
            for number in 0..<5 { try add(store, number) }
            volume.beforeListing.withLock { $0 = Array(repeating: {}, count: listing) + [{ _ = try store.checkpoint() }] }
            let copy = MemoryVolume()
            let backup = try Backup(volume, to: copy)
            let opened = try Store.open(copy, durability: nil)
            #expect(opened.graph.export == store.graph.export && opened.recovery.notes == [], "listing \(listing)")
            #expect(opened.recovery.checkpoint.rawValue == (backup.checkpointCount == 0 ? 0 : 6), "listing \(listing)")
            try opened.close()
            #expect(try Verification(copy).findings == [], "listing \(listing)")
        }
    }

    // MARK: Sealed segments

    @Test func `a sealed segment lists its joints, and readers begin with checkpoints inside it`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let early = try CheckpointRecord.list(volume)
        try store.writer.log?.endSegment(with: store.graph.transaction)
        try add(store, 600)
        try #require(store.commits.sealing).whileNoneIsSealed { sealer, _ in _ = try sealer.seal(TransactionNumber(rawValue: 1)) }
        let index = try #require(try SegmentReader(volume, path: "log/00000000000000000001.log").index)
        #expect(index.joints.map(\.transactionCount) == [4, 7, 10] && index.transactionCount == 12)
        for number in early {
            #expect(index.checksum(after: number.rawValue) == (try root(volume, number.rawValue)).logPosition.checksum)
            let moment = try ReadOnlyStore(volume, point: .transaction(number.next))
            #expect(moment.recovery.checkpoint == number && moment.graph.objectCount == Int(number.rawValue))
        }
        try store.close()
        let verification = try Verification(volume)
        #expect(verification.findings == [] && verification.digest == store.graph.digest())
    }
}
