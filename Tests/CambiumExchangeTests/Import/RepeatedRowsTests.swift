import Cambium
import CambiumLog
import CambiumTesting
import TestFixtures
import Testing

/// Rows that contradict each other, imported several times.
@Suite struct RepeatedRowsTests {
    @Test(arguments: UInt64(1)...UInt64(LongTests.caseCount(3000, usual: 30)))
    func `repeating an import of contradictory rows changes nothing`(seed: UInt64) throws {
        let sample = try ContradictoryRows(seed: seed)
        _ = try sample.importRows()
        let (first, digest) = (sample.store.graph.export, sample.store.graph.digest())
        for run in 2...3 {
            let isChanged = try sample.importRows()
            #expect(!isChanged, "run \(run), seed \(seed): \(sample.rows.joined(separator: "\n"))")
            #expect(sample.store.graph.export == first)
        }
        #expect(sample.store.graph.invariantFindings().isEmpty)
        #expect(try sample.replayedDigest() == digest)
    }

    @Test func `an object that an import changes and changes back keeps its last change`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        try store.importing("Note", #"{"id":1,"title":"a","items":[{"key":"x"},{"key":"y"}]}"# + "\n" + #"{"id":2}"#)
        let rows = [
            #"{"id":1,"title":"b","items":[]}"#, #"{"id":2,"title":"c","related":[1]}"#, #"{"id":1,"title":" a ","items":["x","y"]}"#,
            #"{"id":2,"related":[]}"#,
        ]
        let hooks = ImportHooks(finish: { transaction, id, _ in
            if try transaction[id, "title"] == .string(" a ") { try transaction.set(id, "title", to: .string("a")) }
        })
        let note = try store.schema.required("Note")
        let sources = [ImportSource.bytes(Array(rows.joined(separator: "\n").utf8))]
        #expect(try store.importRows(note, from: sources, hooks: hooks).transaction != nil)
        let (graph, replayed) = (store.graph, try Store.reopened(volume).graph)
        var changes: [UInt64] = []
        for entity in graph.schema.entities {
            for id in graph.objects(of: entity) {
                let (place, other) = (try #require(graph.place(of: id)), try #require(replayed.place(of: id)))
                #expect(graph.provenance(of: place) == replayed.provenance(of: other))
                changes.append(graph.provenance(of: place).changed.rawValue)
            }
        }
        #expect(changes == [2, 3, 2, 2])
    }

    @Test func `a member returns to its position in a hub`() throws {
        let run = try HubRun(seed: 1)
        let before = run.store.graph.export
        let hub = #"{"id":5,"step":0,"listed":[0],"ranked":[0]}"#
        let report = try run.store.importing("Member", #"{"id":5,"step":1,"listed":[],"ranked":[1]}"# + "\n" + hub)
        #expect(report.transaction == nil && report.logByteCount == 0)
        #expect(run.store.graph.export == before && run.store.graph.invariantFindings().isEmpty)
    }

    @Test func `a hook that links at an index states the order`() throws {
        let fixtures = #"{"Note": [{"id": 1, "memos": [{"text": "a"}, {"text": "b"}]}, {"id": 2}]}"#
        let store = try Store.testing(Notes.schema, fixtures: fixtures)
        let one = try #require(store.schema.id("Note/1")?.0)
        let two = try #require(store.schema.id("Note/2")?.0)
        let memo = try #require(store.schema.id("Memo/1")?.0)
        let hooks = ImportHooks(finish: { transaction, _, _ in
            try transaction.link(two, "memos", memo)
            try transaction.link(one, "memos", memo, at: 1)
        })
        let rows = [ImportSource.bytes(Array(#"{"id":1}"#.utf8))]
        let note = try store.schema.required("Note")
        #expect(try store.importRows(note, from: rows, hooks: hooks).transaction != nil)
        let memos = try note.requiredRelationship("memos")
        #expect(store.graph.members(memos, of: one)?.map(\.serial) == [2, 1])
        #expect(try store.importRows(note, from: rows, hooks: hooks).transaction == nil)
    }
}
