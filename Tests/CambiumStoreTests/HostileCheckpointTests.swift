import Cambium
import CambiumModel
import CambiumTesting
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// Checkpoint records that verify but state something impossible, and directories that another program has changed.
@Suite struct HostileCheckpointTests {
    struct Change: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let body: @Sendable (inout CheckpointRecord) -> Void

        init(_ description: String, _ body: @escaping @Sendable (inout CheckpointRecord) -> Void) {
            testDescription = description
            self.body = body
        }
    }

    private static let impossible = [
        Change("the largest epoch") { $0.epoch = .max },
        Change("no directory") { $0.pageDirectory = 0 },
        Change("a directory beyond all chunks") { $0.pageDirectory = .max },
        Change("a directory in a chunk that the record does not have") { root in
            root.pageDirectory = UInt32(root.chunks.count * PageImage.chunkGranuleCount)
            root.chunks.append(.unused)
        },
        Change("a directory reference to another page") { $0.pageDirectory = 1 },
        Change("a directory at the end of a chunk") { $0.pageDirectory |= UInt32(PageImage.chunkGranuleCount - 1) },
        Change("an epoch before the epoch of its pages") { $0.epoch -= 1 },
        Change("a chunk with more granules than it holds") { $0.chunks[0].live = UInt16(PageImage.chunkGranuleCount + 1) },
        Change("a first chunk that is marked unused") { $0.chunks[0] = .unused },
        Change("no chunks") { $0.chunks = [] },
        Change("more chunks than a store can have") { root in
            root.chunks += Array(repeating: .unused, count: PageLayout.chunkCountMax)
        },
        Change("the newest chunk as the last chunk that a store can have") { root in
            root.chunks += Array(repeating: .unused, count: PageLayout.chunkCountMax - root.chunks.count - 1) + [root.chunks[0]]
        },
        Change("another transaction") { $0.transaction = TransactionNumber(rawValue: 2) },
        Change("groups of another size") { $0.fanOutShift = 255 },
        Change("another layout") { $0.layout &+= 1 },
        Change("another file") { $0.pageFile &+= 1 },
        Change("another store") { $0.store[3] ^= 1 },
        Change("an invalid schema") { $0.schema = SchemaCatalog(json: Array("{\"entities\":{\"A\":{\"parent\":\"B\"}}}".utf8)) },
        Change("another schema") { $0.schema = SchemaCatalog(json: Array("{\"entities\":{}}".utf8)) },
        Change("a schema that is not JSON") { $0.schema = SchemaCatalog(json: Array(repeating: 0x5B, count: 100_000)) },
    ]

    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        try store.write { transaction in
            for number in numbers {
                let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
                try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
            }
        }
    }

    /// Makes the files of a store of four transactions, with checkpoints of the second and the third.
    private func files() throws -> (contents: [String: [UInt8]], digest: GraphDigest) {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        for round in 0..<3 {
            try add(store, round * 50..<round * 50 + 50)
            if round < 2 { try store.checkpoint() }
        }
        try store.close()
        return (volume.contents, store.graph.digest())
    }

    private func path(_ number: UInt64) -> String { CheckpointRecord.path(TransactionNumber(rawValue: number)) }

    @Test func `verification reports a checkpoint that states another time than the log`() throws {
        let (volume, number) = (MemoryVolume(), TransactionNumber(rawValue: 2))
        let store = try Store.notes(volume)
        try add(store, 0..<5)
        try store.checkpoint()
        try add(store, 5..<10)
        try store.compact(.since(.transaction(number)))
        try store.close()
        #expect(try Verification(volume).findings.isEmpty)
        var record = try #require(try PageFile.root(volume, store: StoreSettings.read(volume).store, number)?.record)
        record.time -= 1
        try volume.replace(CheckpointRecord.path(number), record.encode().record)
        let verification = try Verification(volume)
        #expect(!verification.isSound && verification.findings.count == 1, "\(verification.findings)")
    }

    /// Expects that the store opens unchanged, accepts transactions, makes a checkpoint and opens from that checkpoint.
    private func use(_ volume: MemoryVolume, _ digest: GraphDigest, noteCount: Int, checkpoint: UInt64) throws {
        let reader = try ReadOnlyStore(volume)
        #expect(reader.graph.digest() == digest && reader.recovery.notes.count == noteCount, "\(reader.recovery.notes)")
        let store = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 5))
        #expect(
            store.graph.digest() == digest && store.recovery.checkpoint.rawValue == checkpoint && store.recovery.notes.count == noteCount)
        try add(store, 1000..<1010)
        try store.checkpoint()
        try store.compact(.checkpoints(1))
        try store.close()
        let again = try Store.reopened(volume)
        #expect(again.recovery.notes == [] && again.recovery.transactionCount <= 1 && again.graph.digest() == store.graph.digest())
        #expect(try Verification(volume).findings == [])
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: impossible) func `an opening skips an impossible checkpoint record and reports it`(
        change: Change
    ) throws {
        var (contents, digest) = try files()
        let store = try StoreSettings.read(MemoryVolume(contents: contents)).store
        var root = try #require(try PageFile.root(MemoryVolume(contents: contents), store: store, TransactionNumber(rawValue: 3))).record
        change.body(&root)
        contents[path(3)] = root.encode().record
        try use(MemoryVolume(contents: contents), digest, noteCount: 1, checkpoint: 2)
    }

    @Test(arguments: ["a\nb", "", "later"])
    func `an opening skips a checkpoint with an invalid label`(name: String) throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        _ = try store.transact(Author()) { transaction in
            try RegisterWriter.setLabel(&transaction.draft, name, TransactionNumber(rawValue: name == "later" ? 9 : 1))
            _ = try transaction.insert("Note", ["id": .int(1)])
        }
        try store.checkpoint()
        try store.close()
        let again = try Store.reopened(volume)
        #expect(again.recovery.notes.count == 1 && again.recovery.checkpoint == .none)
        #expect(again.graph.labels == [:] && again.graph.digest() == store.graph.digest())
    }

    @Test func `files with other names are not checkpoint records`() throws {
        var (contents, digest) = try files()
        for name in [
            "7.root", "+0000000000000000003.root", "00000000000000000000.root", "99999999999999999999.root", "a", ".root", "3.root.new",
            "04611686018427387905.root", "18446744073709551615.root",
        ] {
            contents["roots/" + name] = contents[path(3)]
        }
        #expect(try CheckpointRecord.list(MemoryVolume(contents: contents)).map(\.rawValue) == [3, 2])
        try use(MemoryVolume(contents: contents), digest, noteCount: 0, checkpoint: 3)
    }

    @Test(arguments: [3, 9, 1 << 62] as [UInt64])
    func `an opening skips a checkpoint record under the name of another one`(number: UInt64) throws {
        var (contents, digest) = try files()
        contents[path(number)] = contents[path(2)]
        try use(MemoryVolume(contents: contents), digest, noteCount: 1, checkpoint: number == 3 ? 2 : 3)
    }

    @Test func `a link in place of a checkpoint record hides neither the log nor an earlier moment, and checkpoints continue`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-link-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }  // The operating system removes leftovers.
        let store = try Store.create(at: directory, schema: Notes.schema)
        for round in 0..<3 {
            try add(store, round * 5..<round * 5 + 5)
            if round < 2 { try store.checkpoint() }
        }
        try store.close()
        let (record, volume) = (directory + "/" + path(3), SystemVolume(root: directory))
        try FileManager.default.moveItem(atPath: record, toPath: directory + "/moved")
        try FileManager.default.createSymbolicLink(atPath: record, withDestinationPath: directory + "/moved")
        let verification = try Verification(volume)
        #expect(verification.digest == store.graph.digest() && verification.transactionCount == 4)
        #expect(!verification.isSound && verification.findings.count == 1, "\(verification.findings)")
        #expect(try ReadOnlyStore(volume, point: .time(.max)).graph.digest() == store.graph.digest())
        let again = try Store.open(at: directory)
        #expect(again.recovery.checkpoint.rawValue == 2)
        try again.checkpoint()
        try again.close()
        #expect(try ReadOnlyStore(volume).recovery.checkpoint.rawValue == 4)
    }

    @Test func `a file that is too long for a checkpoint record is skipped, and only its beginning is read`() throws {
        var (contents, digest) = try files()
        let record = try #require(contents[path(3)])
        contents[path(3)] = record + [UInt8](repeating: 0, count: 16 << 20)
        let volume = WatchedVolume(contents: contents)
        #expect(try ReadOnlyStore(volume).graph.digest() == digest)
        #expect(volume.readByteCount.load(ordering: .relaxed) < 4 << 20)
        try use(volume.memory, digest, noteCount: 1, checkpoint: 2)
    }

    @Test func `a checkpoint record with the pages of another transaction is refused with the file of the pages`() throws {
        var (contents, digest) = try files()
        let store = try StoreSettings.read(MemoryVolume(contents: contents)).store
        var root = try #require(try PageFile.root(MemoryVolume(contents: contents), store: store, TransactionNumber(rawValue: 2))).record
        (root.transaction, root.tree) = (TransactionNumber(rawValue: 3), nil)
        contents[path(3)] = root.encode().record
        let volume = MemoryVolume(contents: contents)
        let error = #expect(throws: CambiumError.self) {
            _ = try LoadedCheckpoint(LogReader(volume), of: TransactionNumber(rawValue: 3))
        }
        #expect(error?.code == .corrupted && error?.place?.file?.contains("pages-") == true, "\(String(describing: error))")
        try use(volume, digest, noteCount: 1, checkpoint: 2)
    }

    @Test func `missing pages are reported, and the log restores the same graph`() throws {
        let (contents, digest) = try files()
        try use(MemoryVolume(contents: contents.filter { !$0.key.hasPrefix("pages-") }), digest, noteCount: 2, checkpoint: 0)
    }

    @Test func `zeroed pages are reported, and the log restores the same graph`() throws {
        var (contents, digest) = try files()
        let pages = try #require(contents.keys.first { $0.hasPrefix("pages-") })
        contents[pages] = [UInt8](repeating: 0, count: contents[pages]?.count ?? 0)
        try use(MemoryVolume(contents: contents), digest, noteCount: 2, checkpoint: 0)
    }

    @Test func `extra bytes at the end of a page file do no harm`() throws {
        var (contents, digest) = try files()
        let pages = try #require(contents.keys.first { $0.hasPrefix("pages-") })
        contents[pages]? += [UInt8](repeating: 0xA5, count: 100_000)
        try use(MemoryVolume(contents: contents), digest, noteCount: 0, checkpoint: 3)
    }
}
