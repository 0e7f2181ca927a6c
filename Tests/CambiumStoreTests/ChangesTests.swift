import Cambium
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// Changes between moments of a store, across checkpoints, openings, compaction and copies.
@Suite struct ChangesTests {
    /// Makes a store of several chunks. Transaction n + 1 gives note n a title, and some transactions have a checkpoint.
    private func made(_ volume: any Volume = MemoryVolume(), checkpointEvery interval: Int = 4) throws -> Store {
        var tuning = LogTuning.standard
        (tuning.sealsInBackground, tuning.checkpointsInBackground, tuning.checkedByteCountMax) = (false, false, 0)
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        try store.write { transaction in
            for number in 1...3000 { try transaction.insert("Note", ["id": .int(Int64(number))]) }
        }
        try store.checkpoint()
        for number in 2...12 {
            try entitle(store, number)
            if number % interval == 0 { try store.checkpoint() }
        }
        return store
    }

    private func entitle(_ store: Store, _ number: Int, _ title: String = "title") throws {
        let note = try store.schema.required("Note")
        let id = ObjectID(root: note.number, serial: UInt64(number * 200))
        try store.write { try $0.set(id, "title", to: .string(title)) }
    }

    private func moment(_ number: Int) -> Point { .transaction(TransactionNumber(rawValue: UInt64(number))) }

    /// Returns the numbers of the changed notes.
    private func numbers(_ changes: Changes) -> [Int] { changes.map { Int($0.id.serial) / 200 } }

    @Test func `changes lead from any moment to any other, however each graph was opened`() throws {
        let volume = MemoryVolume()
        let store = try made(volume)
        for (first, last) in [(2, 13), (3, 4), (5, 5), (6, 12), (9, 13)] {
            let (past, own) = (try EarlierGraphs(volume).graph(at: moment(first)), try store.graph(at: moment(first)))
            let later = [try EarlierGraphs(volume).graph(at: moment(last)), try store.graph(at: moment(last))]
            for (before, after) in later.flatMap({ [(past, $0), (own, $0)] }) {
                #expect(numbers(after.changes(since: before)) == Array(first..<last), "\(first) to \(last)")
                #expect(numbers(before.changes(since: after)) == Array(first..<last), "\(last) to \(first)")
            }
        }
    }

    @Test func `checkpoints of one file share their pages, and checkpoints of a copy do not`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }  // The operating system removes leftovers.
        let (path, copy) = (directory.appending(path: "a").path, directory.appending(path: "b").path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try made(SystemVolume(root: path)).close()
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        func graph(_ path: String, _ number: Int) throws -> Graph { try EarlierGraphs(SystemVolume(root: path)).graph(at: moment(number)) }
        func source(_ graph: Graph) throws -> any ChunkSource { try #require(graph.version.space.source) }
        let (first, last, other) = (try graph(path, 5), try graph(path, 13), try graph(copy, 13))
        #expect(try source(first).suppliesSameChunks(as: source(last)))
        #expect(try source(other).suppliesSameChunks(as: source(last)) == false)
        #expect(numbers(last.changes(since: first)) == Array(5...12) && numbers(other.changes(since: first)) == Array(5...12))
        #expect(other.changes(since: last).isEmpty)
    }

    @Test func `changes between diverged copies of a store are found`() throws {
        let volume = MemoryVolume()
        try made(volume).close()
        let graphs = try ["one", "two"].map { title in
            let copy = MemoryVolume(contents: volume.contents)
            let store = try Store.open(copy, durability: nil)
            for number in 3...6 { try entitle(store, number, number == 5 ? "the same" : title) }
            try store.checkpoint()
            try store.close()
            return try ReadOnlyStore(copy).graph
        }
        #expect(numbers(graphs[1].changes(since: graphs[0])) == [3, 4, 6])
    }

    @Test func `compaction, packing and reopening make no changes`() throws {
        let volume = MemoryVolume()
        var store = try made(volume)
        let graph = store.graph
        let note = try store.schema.required("Note")
        try store.write { try $0.delete(graph.objects(of: note).filter { $0.serial % 200 != 0 }) }
        let thinned = store.graph
        try store.compact(.all)
        try store.compact(.checkpoints(1))
        #expect(store.graph.changes(since: thinned).isEmpty)
        try store.close()
        store = try Store.open(volume, durability: nil)
        #expect(store.graph.changes(since: thinned).isEmpty && thinned.changes(since: store.graph).isEmpty)
        #expect(store.graph.changes(since: graph).count { $0.kind == .deleted } == 3000 - 15)
        try entitle(store, 2, "another")
        #expect(numbers(store.graph.changes(since: thinned)) == [2])
    }

    @Test func `a migration that widens or renames changes no objects`() throws {
        let store = try made()
        let before = store.graph
        var definition = Notes.definition
        let item = try #require(definition.entities.firstIndex { $0.name == "Item" })
        definition.entities[item].attributes[1] = AttributeDefinition("count", .int64, .optional)
        definition.entities[0].attributes[2].name = "mark"
        definition.entities[0].attributes[2].formerName = "rating"
        try store.migrate(to: definition)
        #expect(store.graph.changes(since: before).isEmpty && store.graph.changes(since: before).changesSchema)
        try entitle(store, 4, "after")
        let change = try #require(store.graph.changes(since: before).first)
        #expect(change.attributes.map(\.before) == [.string("title")] && change.attributes.map(\.after) == [.string("after")])
    }
}
