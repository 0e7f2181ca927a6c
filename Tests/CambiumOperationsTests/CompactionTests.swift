import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumBytes
@testable import CambiumLog
@testable import CambiumOperations
@testable import CambiumStore

@Suite struct CompactionTests {
    private let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        tuning.largeByteCount = 2000
        return tuning
    }()

    func made(_ volume: any Volume = MemoryVolume(), count: Int = 40) throws -> Store {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        for number in 0..<count { try add(store, number) }
        return store
    }

    func add(_ store: Store, _ number: Int) throws {
        try store.write(Author(actor: "actor \(number % 3)", message: "adds \(number)")) { transaction in
            let title = String(repeating: "a long title ", count: number % 10 == 3 ? 300 : 3)
            try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("\(title)\(number)")])
        }
    }

    func reopen(_ volume: any Volume) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 3), tuning: tuning)
    }

    private func envelopes(_ volume: any Volume) throws -> [String] {
        var found: [String] = []
        try TransactionLog(volume).forEach { found.append("\($0.number) \($0.metadata)") }
        return found
    }

    @Test func `compaction keeps the graph, the envelopes and the root of the tree, and frees the log`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let (root, envelopes) = (try Verification(volume).root, try envelopes(volume))
        let digest = store.graph.digest()
        let compaction = try store.compact(.since(.latest))
        #expect(compaction.retiredEnd.rawValue == 41 && compaction.firstMoment.rawValue == 41)
        #expect(compaction.segmentCount > 3 && compaction.logByteCount > 0)
        #expect(!volume.contents.keys.contains { $0.hasSuffix(".ops") })
        for number in 50..<60 { try add(store, number) }
        try store.close()
        let again = try reopen(volume)
        #expect(again.graph.digest() == store.graph.digest() && again.graph.export == store.graph.export)
        let verification = try Verification(volume)
        #expect(verification.isSound && verification.digest == store.graph.digest() && verification.transactionCount == 51)
        #expect(try Array(self.envelopes(volume).prefix(41)) == envelopes)
        #expect(try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 41))).graph.digest() == digest)
        var tree = LogTree()
        _ = try LogReader(volume).scan { if $0.number.rawValue <= 41 { try tree.append($0) } }
        #expect(HexText.encode(tree.root) == root)
    }

    @Test func `segments are retired after their sealing, never during it`() throws {
        var tuning = tuning
        tuning.sealsInBackground = true
        for round in 0..<10 {
            let volume = MemoryVolume()
            let store = try Store.create(
                volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(seed: UInt64(round)), tuning: tuning)
            for number in 0..<40 { try add(store, number) }
            let root = try Verification(volume).root
            try store.compact(.since(.latest))
            #expect(store.sealingFailure == nil)
            try store.close()
            let verification = try Verification(volume)
            #expect(verification.isSound && verification.root == root && verification.digest == store.graph.digest())
        }
    }

    @Test func `a reader whose transactions are retired begins again with the checkpoint that replaces them`() throws {
        for listing in 0..<4 {
            let volume = WatchedVolume()
            let store = try Store.create(
                volume.memory, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
            for number in 0..<8 {
                try store.write { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")]) }
                if number == 3 { try store.checkpoint() }
            }
            let compaction: @Sendable () throws -> Void = { try store.compact(.checkpoints(1)) }
            func compactLater() { volume.beforeListing.withLock { $0 = Array(repeating: {}, count: listing) + [compaction] } }
            compactLater()
            #expect(try ReadOnlyStore(volume).graph.export == store.graph.export, "listing \(listing)")
            try store.write { try $0.insert("Note", ["id": .int(100)]) }
            compactLater()
            #expect(try StoreFollower(volume).graph.export == store.graph.export, "listing \(listing)")
            try store.write { try $0.insert("Note", ["id": .int(101)]) }
            compactLater()
            #expect(try Statistics(volume).objectCount == store.graph.objectCount, "listing \(listing)")
        }
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a crash at any operation of a compaction leaves the store as before or as after`() throws {
        let measured = FaultyVolume()
        let first = try made(measured, count: 12)
        let begun = measured.operationCount
        try first.compact(.since(.latest))
        let operationCount = measured.operationCount
        #expect(operationCount > begun + 20)
        let export = first.graph.export
        for operation in begun...operationCount {
            let volume = FaultyVolume()
            let store = try made(volume, count: 12)
            volume.crash(at: operation)
            do { try store.compact(.since(.latest)) } catch {}  // The process has died.
            for seed in 0..<UInt64(4) {
                let place = "operation \(operation), seed \(seed)"
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                let again = try reopen(disk)
                #expect(again.graph.export == export, "\(place)")
                try again.compact(.since(.latest))
                try again.close()
                let verification = try Verification(disk)
                #expect(verification.isSound && verification.transactionCount == 13, "\(place): \(verification.findings)")
                #expect(!disk.contents.keys.contains { $0.hasSuffix(".ops") || $0.hasSuffix(".new") }, "\(place)")
            }
        }
    }

    // MARK: Replaced checkpoints

    /// Makes a store with holes in its pages and with a checkpoint of its newest transaction.
    private func sparse(_ volume: any Volume) throws -> Store {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        let (notes, _) = try store.write { transaction in
            try (0..<600).map { try transaction.insert("Note", ["id": .int(Int64($0)), "title": .string("the note with number \($0)")]) }
        }
        try store.write { transaction in try transaction.delete(notes.indices.filter { $0 % 7 != 0 }.map { notes[$0] }) }
        try store.checkpoint()
        return store
    }

    @Test func `a checkpoint with packed pages replaces the previous one without a transaction`() throws {
        let volume = MemoryVolume()
        let store = try sparse(volume)
        let (last, digest, byteCount) = (store.graph.transaction, store.graph.digest(), store.memory.pageByteCount)
        try store.compact(.checkpoints(1))
        #expect(store.graph.transaction == last && store.memory.pageByteCount < byteCount)
        let settings = try StoreSettings.read(volume)
        let root = try #require(try PageFile.root(volume, store: settings.store, last)).record
        #expect(root.chunks.reduce(0) { $0 + Int($1.live) } * 16 < byteCount)
        try store.close()
        let again = try reopen(volume)
        #expect(again.recovery.checkpoint == last && again.graph.digest() == digest)
        #expect(again.memory.pageByteCount < byteCount)
        #expect(try Verification(volume).isSound)
    }

    @Test func `a checkpoint that a reader uses is not replaced, and the reader's graph stays`() throws {
        let volume = MemoryVolume()
        let store = try sparse(volume)
        let record = volume.contents[CheckpointRecord.path(store.graph.transaction)]
        let reader = try ReadOnlyStore(volume)
        let export = reader.graph.export
        try store.compact(.all)
        #expect(volume.contents[CheckpointRecord.path(store.graph.transaction)] == record)
        for number in 1000..<1200 { try add(store, number) }
        try store.checkpoint()
        #expect(reader.graph.export == export && reader.graph.invariantFindings() == [])
        try store.close()
        #expect(try reopen(volume).graph.digest() == store.graph.digest())
        #expect(try Verification(volume).isSound)
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a crash while a checkpoint is replaced leaves the old one or the new one`() throws {
        let measured = FaultyVolume()
        let first = try sparse(measured)
        let begun = measured.operationCount
        try first.compact(.checkpoints(1))
        let end = measured.operationCount
        let digest = first.graph.digest()
        for operation in begun..<end {
            let disk = FaultyVolume()
            let store = try sparse(disk)
            disk.crash(at: operation)
            #expect(throws: (any Error).self) { try store.compact(.checkpoints(1)) }
            store.abandon()
            let image = MemoryVolume(contents: disk.image(seed: UInt64(operation)))
            let again = try reopen(image)
            #expect(again.graph.digest() == digest && again.recovery.transactionCount == 0, "operation \(operation)")
            try again.compact(.checkpoints(1))
            try again.close()
            let verification = try Verification(image)
            #expect(verification.isSound && verification.digest == digest, "operation \(operation): \(verification.findings)")
        }
    }
}
