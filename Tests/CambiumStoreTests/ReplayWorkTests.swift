import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumModel
@testable import CambiumStore

/// Changes of every kind to one store, in any order.
struct ReplayedChanges {
    enum Kind: CaseIterable {
        case insert, set, link, move, unlink, delete, cascade, clone, importRows, digest, label, request, migrate
    }

    let store: Store
    let number: Int

    private func ids(_ entity: String) throws -> [ObjectID] { Array(store.graph.objects(of: try store.schema.required(entity))) }

    private func owner() throws -> ObjectID {
        if let id = try ids("Note").last(where: { try memos(of: $0).count > 2 }) { return id }
        return try store.write { transaction in
            let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("of \(number)")])
            for text in 0..<6 { try transaction.insert("Memo", ["text": .string("memo \(text)")], links: ["note": [note]]) }
            for key in 0..<3 { try transaction.insert("Item", ["key": .string("\(number)-\(key)")], links: ["note": [note]]) }
            return note
        }.result
    }

    private func memos(of id: ObjectID) throws -> [ObjectID] {
        store.graph.members(try store.schema.required("Note").requiredRelationship("memos"), of: id) ?? []
    }

    func make(_ kind: Kind) throws {
        let owner = try owner()
        let memos = try memos(of: owner)
        switch kind {
        case .insert: try store.write { try $0.insert("Tag", ["name": .string("tag \(number)")]) }
        case .set: try store.write { try $0.set(owner, "title", to: .string("title \(number)")) }
        case .link: try store.write { _ = try $0.insert("Memo", links: ["note": [owner]]) }
        case .move: try store.write { try $0.move(owner, "memos", memos[0], to: memos.count - 1) }
        case .unlink: try store.write { try $0.unlink(owner, "memos", memos[1]) }
        case .delete: try store.write { try $0.delete(memos[2]) }
        case .cascade: try store.write { try $0.delete(owner) }
        case .clone: try store.write { transaction in for memo in memos { _ = try transaction.clone(memo) } }
        case .importRows:
            let row = #"{"id":\#(number + 500),"title":"imported","memos":[{"text":"a"},{"text":"b"}],"items":[{"key":"i\#(number)"}]}"#
            try store.importing("Note", row)
        case .digest: _ = try store.recordDigest()
        case .label: _ = try store.label("label \(number)")
        case .request: try store.write(Author(requestID: "q\(number)")) { try $0.set(owner, "rating", to: .double(Double(number))) }
        case .migrate:
            var definition = store.schema.definition
            definition.entities[0].attributes.append(AttributeDefinition("added\(number)", .int64, .optional))
            _ = try store.migrate(to: definition)
        }
    }
}

/// The work of replay, which decides when a checkpoint is due.
@Suite struct ReplayWorkTests {
    private func tuning(_ workMax: Int) -> LogTuning {
        var tuning = LogTuning()
        (tuning.sealsInBackground, tuning.checkpointsInBackground) = (false, false)
        (tuning.replayWorkMax, tuning.closingCheckpointByteCount) = (workMax, .max)
        return tuning
    }

    private func created(_ volume: any Volume, workMax: Int) throws -> Store {
        try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning(workMax))
    }

    private func opened(_ volume: any Volume, workMax: Int) throws -> Store {
        try Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 9), tuning: tuning(workMax))
    }

    private func work(_ store: Store) throws -> Int { try #require(store.checkpoints).tailWork }

    @Test(arguments: ReplayedChanges.Kind.allCases)
    func `a replay counts the work that the writer has counted`(kind: ReplayedChanges.Kind) throws {
        let volume = MemoryVolume()
        let store = try created(volume, workMax: .max)
        for number in 0..<4 { try ReplayedChanges(store: store, number: number).make(kind) }
        let written = try work(store)
        try store.close()
        // The index of a unique set changes with each transaction, but a replay changes it once.
        let replayed = try work(try opened(volume, workMax: .max))
        #expect(replayed > 0 && replayed <= written && written <= 2 * replayed, "\(replayed) of \(written)")
    }

    @Test(arguments: 1...UInt64(LongTests.caseCount(60, usual: 4)))
    func `after any changes, a closed store needs at most the allowed work`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let (volume, workMax) = (MemoryVolume(), 60_000)
        try created(volume, workMax: workMax).close()
        var checkpointCount = 0
        for number in 0..<24 {
            let store = try opened(volume, workMax: workMax)
            #expect(try work(store) < workMax, "step \(number) of seed \(seed)")
            let kind = ReplayedChanges.Kind.allCases.randomElement(using: &random) ?? .insert
            for part in 0..<Int.random(in: 1...4, using: &random) {
                try ReplayedChanges(store: store, number: 10 * number + part).make(kind)
            }
            try store.close()
            checkpointCount += store.metrics.checkpointCount
        }
        #expect((1..<24).contains(checkpointCount))
    }

    @Test func `the work of a cascade grows with its objects, and its bytes do not`() throws {
        func deleted(_ count: Int) throws -> (work: Int, byteCount: Int) {
            let store = try created(MemoryVolume(), workMax: .max)
            let note = try store.write { transaction in
                let note = try transaction.insert("Note", ["id": .int(1)])
                for _ in 0..<count { try transaction.insert("Memo", links: ["note": [note]]) }
                return note
            }.result
            let (before, byteCount) = (try work(store), store.metrics.loggedByteCount)
            try store.write { try $0.delete(note) }
            return (try work(store) - before, store.metrics.loggedByteCount - byteCount)
        }
        let (small, large) = (try deleted(500), try deleted(2000))
        #expect(large.work > 7 * small.work / 2 && large.work < 9 * small.work / 2)
        #expect(large.byteCount < small.byteCount + 16)
    }

    @Test func `small transactions of many processes do not make a checkpoint each`() throws {
        let volume = MemoryVolume()
        try created(volume, workMax: LogTuning.standard.replayWorkMax).close()
        for number in 0..<20 {
            let store = try opened(volume, workMax: LogTuning.standard.replayWorkMax)
            try store.addNote(number)
            try store.close()
        }
        #expect(try CheckpointRecord.list(volume).isEmpty)
    }

    @Test func `a checkpoint that fails while the store is closed loses nothing and is reported`() throws {
        let volume = WatchedVolume()
        let store = try created(volume, workMax: 1000)
        try store.addNote(1)
        volume.beforeListing.withLock { $0 = [{ throw CambiumError(.ioFailure, "The disk is full.") }] }
        try store.close()
        #expect(store.checkpointFailure?.code == .ioFailure && store.metrics.failedCheckpointCount == 1)
        let again = try opened(volume, workMax: 1000)
        #expect(try again.graph.objectCount == 1 && work(again) > 1000)
        try again.close()
        #expect(try CheckpointRecord.list(volume).first?.rawValue == 2)
    }

    @Test func `the metrics report the work of the next opening and the age of the checkpoint`() throws {
        let store = try created(MemoryVolume(), workMax: .max)
        try store.addNote(1)
        #expect(store.metrics.checkpointAge == nil && store.metrics.replayDuration > .zero)
        try store.checkpoint()
        let age = try #require(store.metrics.checkpointAge)
        #expect(store.metrics.replayDuration == .zero && age > .zero && age < .seconds(1))
        let usage = try store.diskUsage()
        #expect(usage.logByteCount >= store.metrics.loggedByteCount && usage.pageByteCount > 0)
        #expect(code { _ = try Store.inMemory(schema: Notes.schema).diskUsage() } == .invalidInput)
    }
}
