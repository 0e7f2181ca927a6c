import Cambium
import CambiumLog
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

/// A clone and its original share large values, which outlive either object.
@Suite struct `Large values of clones` {
    private struct Large {
        let volume = MemoryVolume()
        let store: Store
        let note: ObjectID
        let values: [String: Value]

        /// Makes a note whose name and data have this many bytes each.
        init(_ byteCount: Int) throws {
            let schema = try Schema(SchemaDefinition(json: Array(CloneModels.notes.utf8)))
            store = try Store.create(volume, schema: schema, durability: .synced, environment: fixedEnvironment())
            let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 8) }
            let values: [String: Value] = ["data": .data(bytes), "name": .string(String(repeating: "n", count: byteCount))]
            self.values = values
            note = try store.write { transaction in
                let note = try transaction.insert("Note")
                for (name, value) in values { try transaction.set(note, name, to: value) }
                return note
            }.result
        }

        func expect(
            _ id: ObjectID, in graph: Graph, _ name: String, _ expected: Value? = nil, at location: SourceLocation = #_sourceLocation
        ) throws {
            let attribute = try graph.schema.required("Note").requiredAttribute(name)
            let place = try #require(graph.place(of: id), sourceLocation: location)
            #expect(graph.value(of: graph.field(attribute), at: place) == (expected ?? values[name]), sourceLocation: location)
        }

        /// Expects that objects have the values here and in a store that is opened from the log, and that the pages of both stores are
        /// sound.
        func expect(_ ids: [ObjectID], at location: SourceLocation = #_sourceLocation) throws {
            let replayed = try Store.reopened(volume)
            for store in [store, replayed] {
                for id in ids { for name in values.keys { try expect(id, in: store.graph, name, at: location) } }
                #expect(store.pageFindings == [], sourceLocation: location)
                #expect(store.graph.invariantFindings() == [], sourceLocation: location)
            }
            #expect(replayed.graph.digest() == store.graph.digest(), sourceLocation: location)
        }
    }

    private static let byteCounts = [0, 1, 255, 256, 257, 70_000, 1_000_000]

    @Test(.enabled(if: LongTests.areWanted), arguments: byteCounts)
    func `shared values live until both the original and the clone are deleted`(byteCount: Int) throws {
        for isOriginalFirst in [true, false] {
            let large = try Large(byteCount)
            let before = large.store.memory.pageByteCount
            let copy = try large.store.write { try $0.clone(large.note) }.result.root
            try large.expect([large.note, copy])
            let order = isOriginalFirst ? [large.note, copy] : [copy, large.note]
            try large.store.write { try $0.delete(order[0]) }
            try large.expect([order[1]])
            try large.store.write { try $0.delete(order[1]) }
            try large.expect([])
            #expect(large.store.graph.objectCount == 0)
            if byteCount > 100_000 { #expect(large.store.memory.pageByteCount < before - 2 * byteCount + 100_000) }
        }
    }

    @Test(arguments: byteCounts)
    func `a value that changes on one side stays unchanged on the other`(byteCount: Int) throws {
        let large = try Large(byteCount)
        let copy = try large.store.write { try $0.clone(large.note) }.result.root
        let copyOfCopy = try large.store.write { try $0.clone(copy) }.result.root
        try large.store.write { try $0.set(large.note, "name", to: .string("short")) }
        try large.store.write { try $0.set(copy, "data", to: .data([UInt8](repeating: 7, count: 300))) }
        try large.expect([copyOfCopy])
        try large.expect(large.note, in: large.store.graph, "name", .string("short"))
        try large.expect(large.note, in: large.store.graph, "data")
        try large.expect(copy, in: large.store.graph, "name")
        try large.expect(copy, in: large.store.graph, "data", .data([UInt8](repeating: 7, count: 300)))
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a hundred copies share ten megabytes, and neither memory nor the log grows by them`() throws {
        let large = try Large(10_000_000)
        let (pages, log) = (large.store.memory.pageByteCount, large.volume.contents.values.reduce(0) { $0 + $1.count })
        var copies = [large.note]
        for number in 0..<100 { copies.append(try large.store.write { try $0.clone(copies[number / 2]) }.result.root) }
        #expect(large.store.memory.pageByteCount - pages < 200_000)
        #expect(large.volume.contents.values.reduce(0) { $0 + $1.count } - log < 100 * 256)
        var random = copies
        while random.count > 1 { try large.store.write { try $0.delete(random.remove(at: random.count / 3)) } }
        try large.expect(random)
    }

    @Test func `a clone that is rolled back releases its share`() throws {
        struct Withdrawn: Error {}
        let large = try Large(70_000)
        for _ in 0..<3 {
            #expect(throws: Withdrawn.self) {
                try large.store.write { transaction in
                    let copy = try transaction.clone(large.note).root
                    try transaction.delete(large.note)
                    _ = try transaction.clone(copy)
                    throw Withdrawn()
                }
            }
            try large.expect([large.note])
        }
    }

    @Test func `graphs from before and after a clone keep their values`() throws {
        let large = try Large(70_000)
        let before = large.store.graph
        let (clone, receipt) = try large.store.write { try $0.clone(large.note) }
        try large.store.write { try $0.delete(large.note, clone.root) }
        try large.expect(large.note, in: before, "data")
        try large.expect(clone.root, in: receipt.graph, "data")
        #expect(PageChecker.findings(in: large.store.writer.timeline) == [])
    }
}
