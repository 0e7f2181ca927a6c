import Cambium
import CambiumModel
import CambiumProofs
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// Tables of checkpoints that are in chunks of the file of pages.
@Suite struct CheckpointTableTests {
    /// Every table is in chunks, and in more than one of them.
    static let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        (tuning.segmentByteCount, tuning.sealsSegments) = (1 << 20, false)
        (tuning.recordedTableByteCountMax, tuning.tablePartByteCountMax) = (0, 300)
        return tuning
    }()

    private func add(_ store: Store, _ numbers: Range<Int>) throws {
        try store.write { transaction in
            for number in numbers {
                try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
            }
        }
    }

    private func create(_ volume: any Volume, tuning: LogTuning = CheckpointTableTests.tuning) throws -> Store {
        try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
    }

    private func reopen(_ volume: any Volume, seed: UInt64 = 3) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: seed), tuning: Self.tuning)
    }

    private func root(_ volume: any Volume, _ number: UInt64) throws -> CheckpointRecord {
        let store = try StoreSettings.read(volume).store
        return try #require(try PageFile.root(volume, store: store, TransactionNumber(rawValue: number))).record
    }

    private func tables(_ root: CheckpointRecord) -> [Int] { root.chunks.indices.filter { root.chunks[$0] == .table } }

    /// Makes checkpoints of the second and the third transaction, and one transaction after them.
    private func made(_ volume: any Volume) throws -> Store {
        let store = try create(volume)
        for round in 0..<3 {
            try add(store, round * 50..<round * 50 + 50)
            if round < 2 { try store.checkpoint() }
        }
        return store
    }

    // MARK: Sizes

    @Test(arguments: [1, 1 << 62, 1 << 62 - 1] as [UInt64])
    func `a checkpoint record has at most 4 KiB, whatever its schema and its number of chunks`(number: UInt64) throws {
        let transaction = TransactionNumber(rawValue: number)
        let treeByteCount = 32 * number.nonzeroBitCount
        let tree = MerkleTree(leafCount: number, subtrees: Array(repeating: .ofEmptyTree, count: treeByteCount / 32))
        for (chunkCount, schemaByteCount) in [(1, 10), (100, 10), (200, 400), (400, 1000), (1, 3000), (1, 5000), (30_000, 600_000)] {
            let schema = SchemaCatalog(json: Array(repeating: 0x20, count: schemaByteCount))
            let count = try CheckpointRecord.tableChunkCount(
                transaction, schema: schema, chunkCount: chunkCount, isPacked: true, tuning: .standard)
            let chunks = Array(repeating: CheckpointRecord.Chunk(live: 1), count: chunkCount) + Array(repeating: .table, count: count)
            let root = CheckpointRecord(
                store: Array(repeating: 7, count: 16), transaction: transaction, time: 0, fanOutShift: 5, isPacked: true, layout: 1,
                logPosition: LogPosition(checksum: 0), pageFile: 1, epoch: 1, pageDirectory: 1, schema: schema, chunks: chunks,
                tree: tree)
            let encoded = root.encode()
            #expect(encoded.record.count <= 4096 && encoded.parts.count == count)
            #expect(encoded.parts.allSatisfy { $0.bytes.count <= 65_536 })
            let isSmall = chunkCount * 8 + schemaByteCount < 4096 - 96 - treeByteCount - 3
            #expect((count == 0) == isSmall && (count > 1) == (chunkCount == 30_000))
            let parts = Dictionary(uniqueKeysWithValues: encoded.parts.map { ($0.chunk, $0.bytes) })
            let read = try RecordedCheckpoint(encoded.record, store: root.store).resolved { chunk, _ in parts[chunk] ?? [] }
            #expect(read.chunks == chunks && read.schema == schema && read.tree == tree && tree != nil)
        }
    }

    @Test func `the head of the largest possible table names all of its chunks`() throws {
        let byteCount = CheckpointTable.byteCount(schemaByteCount: 64 << 20, chunkCount: 1 << 20, isPacked: true)
        let count = CheckpointTable.partCount(byteCount: byteCount, partByteCountMax: 65_536)
        #expect(count == 1153 && 4 + (count - 1) * CheckpointTable.Part.byteCount < 65_536 && count <= PageCapacity.tableChunkCount)
        let graph = CheckpointTable.byteCount(schemaByteCount: 100_000, chunkCount: 1 << 20, isPacked: false)
        #expect(CheckpointTable.partCount(byteCount: graph, partByteCountMax: 65_536) == 98)
        let schema = SchemaCatalog(json: Array(repeating: 0x20, count: 64 << 20))
        #expect(throws: CambiumError.self) {
            try CheckpointRecord.tableChunkCount(
                TransactionNumber(rawValue: 1), schema: schema, chunkCount: 1, isPacked: false, tuning: .standard)
        }
    }

    @Test func `a small store has its tables in its records, and a large schema takes chunks of the page file`() throws {
        let volume = MemoryVolume()
        let store = try create(volume, tuning: .standard)
        try add(store, 0..<10)
        try store.checkpoint()
        #expect(try tables(root(volume, 2)).isEmpty)
        var entity = EntityDefinition("Large") { AttributeDefinition("name", .string) }
        entity.attributes += (0..<1500).map { AttributeDefinition("attributeWithALongName\($0)", .int64, .optional) }
        let large = SchemaDefinition(entities: [entity])
        let other = MemoryVolume()
        let second = try Store.create(other, schema: Schema(large), durability: .synced, environment: fixedEnvironment())
        try second.write { try $0.insert("Large", ["name": .string("x")]) }
        try second.checkpoint()
        try second.close()
        let record = try #require(other.contents[CheckpointRecord.path(TransactionNumber(rawValue: 2))])
        #expect(try tables(root(other, 2)).count >= 2 && record.count == 140)
        let again = try Store.reopened(other)
        #expect(again.recovery.notes == [] && again.recovery.checkpoint.rawValue == 2 && again.graph.digest() == second.graph.digest())
        #expect(try Verification(other).findings == [])
    }

    // MARK: Owners

    @Test func `no page is written to the chunks of a table while its checkpoint is kept`() throws {
        let volume = MemoryVolume()
        var store = try made(volume)
        let reader = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 3)))
        let export = reader.graph.export
        for round in 0..<12 {
            if round % 4 == 3 {
                try store.close()
                store = try reopen(volume, seed: UInt64(round))
                #expect(store.recovery.notes == [] && store.recovery.transactionCount == 0)
            }
            try add(store, 1000 + round * 40..<1040 + round * 40)
            try store.checkpoint()
            var owners: [Int: TransactionNumber] = [:]
            for number in try CheckpointRecord.list(volume) {
                for chunk in tables(try root(volume, number.rawValue)) { #expect(owners.updateValue(number, forKey: chunk) == nil) }
            }
            let space = store.writer.timeline.space
            #expect(owners.keys.allSatisfy { space.live[$0] == 0 && !space.mayUse($0) && !space.emptyChunks.contains(UInt32($0)) })
            #expect(space.tableChunks.isEmpty)
        }
        #expect(reader.graph.export == export)
        #expect(try Verification(volume).findings == [])
        // The chunks of dropped checkpoints are used again.
        #expect(store.writer.timeline.space.chunkCount < 80)
        try store.close()
    }

    @Test func `a checkpoint that replaces another one has its table in other chunks`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        let before = try tables(root(volume, 3))
        try store.checkpoint()
        let first = try tables(root(volume, 4))
        _ = try #require(store.checkpoints).store(again: true)
        let second = try tables(root(volume, 4))
        #expect(Set(first).isDisjoint(with: second) && Set(before).isDisjoint(with: second) && !second.isEmpty)
        try store.close()
        #expect(try reopen(volume).recovery.notes == [] && Verification(volume).findings == [])
    }

    @Test func `a checkpoint that fails releases its chunks`() throws {
        let volume = FaultyVolume()
        let store = try made(volume)
        try store.checkpoint()
        let space = store.writer.timeline.space
        let chunkCount = space.chunkCount
        var failureCount = 0
        for round in 0..<20 {
            try add(store, 2000 + round..<2001 + round)
            // The failure follows the joint and its sync, because the failure of this sync would be a failure of the log.
            volume.fail(at: volume.operationCount + 4 + round, with: 28)
            do { try store.checkpoint() } catch { failureCount += 1 }
            volume.fail(at: .max, with: 28)
        }
        #expect(failureCount > 5)
        try store.checkpoint()
        #expect(space.tableChunks.isEmpty && space.chunkCount < chunkCount + 40)
        #expect(try Verification(volume).findings == [])
    }

    @Test func `chunks of a removed checkpoint are used again only after its removal is durable`() throws {
        let volume = FaultyVolume()
        let store = try made(volume)
        try store.checkpoint()
        let checkpointer = try #require(store.checkpoints).checkpointer
        let second = TransactionNumber(rawValue: 2)
        // The record is removed, and then the sync of its directory fails.
        volume.fail(at: volume.operationCount + 1, with: 5)
        #expect(throws: CambiumError.self) { try checkpointer.whileNoneIsMade { try checkpointer.drop([second]) } }
        #expect(try volume.hasFailed && !CheckpointRecord.list(volume).contains(second))
        try checkpointer.reclaimChunks()
        for seed in 0..<8 as Range<UInt64> {
            let disk = MemoryVolume(contents: volume.image(seed: seed))
            #expect(try !CheckpointRecord.list(disk).contains(second), "seed \(seed)")
        }
    }

    @Test func `backups and compressed checkpoints have the tables`() throws {
        for compression in [CheckpointPolicy.Compression.none, .lz4] {
            let volume = MemoryVolume()
            try made(volume).close()
            let store = try reopen(volume)
            try store.setCheckpointPolicy(CheckpointPolicy(compression: compression))
            try store.close()
            let again = try reopen(volume, seed: 5)
            try add(again, 500..<600)
            try again.checkpoint()
            let copy = MemoryVolume()
            let backup = try Backup(volume, to: copy)
            #expect(try backup.checkpointCount == CheckpointRecord.list(volume).count)
            #expect(try tables(root(copy, 5)) == tables(root(volume, 5)) && root(copy, 5).isPacked == (compression == .lz4))
            for number in try CheckpointRecord.list(copy) {
                let moment = try ReadOnlyStore(copy, point: .transaction(number))
                #expect(moment.recovery.checkpoint == number && moment.recovery.notes == [])
            }
            #expect(try Verification(copy).findings == [] && Store.reopened(copy).graph.export == again.graph.export)
            try again.close()
        }
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a graph that has used all of its pages can be stored`() throws {
        var tuning = Self.tuning
        tuning.chunkCountMax = 512
        let volume = MemoryVolume()
        let store = try create(volume, tuning: tuning)
        let text = String(repeating: "long ", count: 2000)
        var count: Int64 = 0
        while true {
            do { try store.write { try $0.insert("Note", ["id": .int(count), "title": .string(text)]) } } catch { break }  // It is full.
            count += 1
        }
        let free = store.writer.timeline.space.freeChunkCount
        for round in 0..<3 {
            try store.label("full \(round)", store.graph.transaction)
            try store.checkpoint()
        }
        #expect(count > 1000 && store.writer.timeline.space.freeChunkCount >= free - 8)
        try store.close()
        let again = try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 9), tuning: tuning)
        #expect(again.graph.digest() == store.graph.digest() && again.recovery.notes == [])
        #expect(try Verification(volume).findings == [])
    }

    // MARK: Crashes

    @Test(.enabled(if: LongTests.areWanted))
    func `a crash at any operation of a checkpoint with a table in chunks keeps the earlier checkpoints`() throws {
        let whole = FaultyVolume()
        let first = try made(whole)
        let begun = whole.operationCount
        try first.checkpoint()
        let (export, operationCount) = (first.graph.export, whole.operationCount)
        #expect(operationCount - begun > 10)
        var found: Set<Int> = []
        for operation in begun...operationCount {
            let volume = FaultyVolume()
            let store = try made(volume)
            volume.crash(at: operation)
            do { try store.checkpoint() } catch {}  // The process has died.
            for seed in 0..<UInt64(3) {
                let place = "operation \(operation), seed \(seed)"
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                let roots = try CheckpointRecord.list(disk)
                found.insert(roots.count)
                for number in roots { #expect(try !tables(root(disk, number.rawValue)).isEmpty, "\(place)") }
                let again = try reopen(disk)
                #expect(again.graph.export == export && again.recovery.notes.allSatisfy { !$0.contains("checkpoint") }, "\(place)")
                #expect(again.recovery.checkpoint == roots.first, "\(place)")
                try add(again, 700..<720)
                try again.checkpoint()
                try again.close()
                #expect(try Verification(disk).findings == [] && reopen(disk).recovery.notes == [], "\(place)")
            }
        }
        #expect(found == [2, 3])
    }
}
