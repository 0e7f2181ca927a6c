import CambiumTesting
import Testing

@testable import Cambium
@testable import CambiumBytes
@testable import CambiumLog

@Suite struct CompactionTests {
    private let tuning: LogTuning = {
        var tuning = LogTuning.tiny
        tuning.largeByteCount = 2000
        return tuning
    }()

    private func made(_ volume: any Volume = MemoryVolume(), count: Int = 40) throws -> Store {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        for number in 0..<count { try add(store, number) }
        return store
    }

    private func add(_ store: Store, _ number: Int) throws {
        try store.write(Author(actor: "actor \(number % 3)", message: "adds \(number)")) { transaction in
            let title = String(repeating: "a long title ", count: number % 10 == 3 ? 300 : 3)
            try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("\(title)\(number)")])
        }
    }

    private func reopen(_ volume: any Volume) throws -> Store {
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

    @Test func `moments before the kept ones are reported as missing, and later ones are shown`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 20)
        try store.checkpoint()
        for number in 20..<40 { try add(store, number) }
        let compaction = try store.compact(.since(.transaction(TransactionNumber(rawValue: 30))))
        #expect(compaction.retiredEnd.rawValue == 21 && compaction.firstMoment.rawValue == 21)
        #expect(code { _ = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 20))) } == .notFound)
        for number: UInt64 in [21, 22, 30, 41] {
            let graph = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: number))).graph
            #expect(graph.objectCount == Int(number) - 1)
        }
        #expect(try Verification(volume).isSound)
    }

    @Test func `the checkpoint that replaces the retired log is never dropped`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        try store.checkpoint()
        for number in 10..<20 { try add(store, number) }
        try store.compact(.since(.transaction(TransactionNumber(rawValue: 15))))
        for round in 0..<5 {
            for number in 0..<5 { try add(store, 100 + round * 10 + number) }
            try store.checkpoint()
        }
        #expect(try CheckpointRecord.list(volume).contains(TransactionNumber(rawValue: 11)))
        let graph = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 16))).graph
        #expect(graph.objectCount == 15)
        try store.close()
        #expect(try reopen(volume).graph.export == store.graph.export)
    }

    @Test func `an older checkpoint that a reader uses shows no moment and is dropped when the reader ends`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        try store.checkpoint()
        do {
            let reader = try ReadOnlyStore(volume)
            for number in 10..<20 { try add(store, number) }
            #expect(try store.compact(.since(.latest)).firstMoment.rawValue == 21)
            #expect(try CheckpointRecord.list(volume).map(\.rawValue) == [21, 11] && reader.graph.objectCount == 10)
            for retention in [Retention.all, .checkpoints(9), .since(.time(Timestamp(microsecondsSince1970: 0)))] {
                let compaction = try store.compact(retention)
                #expect(compaction.retiredEnd.rawValue == 21 && compaction.firstMoment.rawValue == 21, "\(retention)")
            }
        }
        try add(store, 20)
        try store.checkpoint()
        #expect(try CheckpointRecord.list(volume).map(\.rawValue) == [22, 21])
    }

    @Test func `a dry run changes nothing and reports what a run would do`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        try store.checkpoint()
        let before = volume.contents
        let planned = try store.compact(.checkpoints(1), effect: .preview)
        #expect(volume.contents == before)
        let done = try store.compact(.checkpoints(1))
        #expect(planned.retiredEnd == done.retiredEnd && planned.segmentCount == done.segmentCount && done.segmentCount > 0)
        #expect(try store.compact(.checkpoints(1)).segmentCount == 0)
        #expect(try store.compact(.all).segmentCount == 0)
        // Segments that were retired before are not reported again.
        for number in 50..<60 { try add(store, number) }
        try store.checkpoint()
        let newest = Retention.since(.transaction(store.graph.transaction))
        let dryAgain = try store.compact(newest, effect: .preview)
        let doneAgain = try store.compact(newest)
        #expect(
            dryAgain.segmentCount == doneAgain.segmentCount && doneAgain.segmentCount > 0 && doneAgain.segmentCount < done.segmentCount)
        #expect(dryAgain.retiredEnd == doneAgain.retiredEnd)
    }

    @Test(arguments: [false, true])
    func `a compaction to a moment that does not exist writes nothing`(isDryRun: Bool) throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        let newest = try #require(try times(volume).last)
        let before = volume.contents
        let later = [Timestamp.max, newest + .microseconds(1), Timestamp(microsecondsSince1970: newest.microsecondsSince1970 * 1000)]
        let points = later.map { Point.time($0) } + [.transaction(store.graph.transaction.next), .label("none")]
        for point in points {
            #expect(code { try store.compact(.since(point), effect: isDryRun ? .preview : .retire) } == .notFound, "\(point)")
        }
        #expect(code { try store.compact(.checkpoints(0), effect: isDryRun ? .preview : .retire) } == .invalidInput)
        #expect(volume.contents == before)
        #expect(try store.compact(.since(.time(newest)), effect: isDryRun ? .preview : .retire).firstMoment.rawValue == (isDryRun ? 1 : 11))
    }

    @Test func `a compaction that keeps more checkpoints than there are retires nothing`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 20)
        for _ in 0..<2 {
            #expect(try store.compact(.checkpoints(3)).retiredEnd == .none)
            try add(store, Int(store.graph.transaction.rawValue))
        }
        // The compaction itself makes the third checkpoint.
        #expect(try store.compact(.checkpoints(3)).retiredEnd.rawValue == 21)
    }

    private func times(_ volume: any Volume) throws -> [Timestamp] {
        var times: [Timestamp] = []
        try TransactionLog(volume).forEach { times.append($0.metadata.time) }
        return times
    }

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
        #expect(code { _ = try again.compact(.checkpoints(1)) } == .damaged)
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
        let damaged = MemoryVolume(contents: contents)
        #expect(code { _ = try reopen(damaged) } == .damaged)
        #expect(code { _ = try ReadOnlyStore(damaged) } == .damaged)
        #expect(try !Verification(damaged).isSound)
        #expect(damaged.contents.filter { $0.key != "LOCK" } == contents.filter { $0.key != "LOCK" })
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

    @Test func `a store with a retired log opens with an older checkpoint and keeps it until a new one exists`() throws {
        let volume = MemoryVolume()
        let store = try made(volume, count: 10)
        try store.compact(.since(.latest))
        for number in 20..<25 { try add(store, number) }
        try store.checkpoint()
        try store.close()
        var contents = volume.contents
        let newest = CheckpointRecord.path(TransactionNumber(rawValue: 16))
        contents[newest]?[30] ^= 1
        let damaged = MemoryVolume(contents: contents)
        for _ in 0..<3 {
            let again = try reopen(damaged)
            #expect(again.recovery.checkpoint.rawValue == 11 && again.graph.export == store.graph.export)
            again.abandon()
        }
        let again = try reopen(damaged)
        try again.checkpoint()
        try again.close()
        let last = try reopen(damaged)
        #expect(last.recovery.checkpoint.rawValue == 16 && last.recovery.notes == [] && last.graph.export == store.graph.export)
        #expect(try Verification(damaged).isSound)
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
