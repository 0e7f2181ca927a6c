import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Graphs of earlier builds, whose indexes hash all texts by SipHash.
@Suite struct EarlierHashTests {
    /// A timeline of objects with a text as identity.
    private struct Things {
        private(set) var timeline: Timeline
        private let storage = ChunkStorage()
        private(set) var names: [String] = []

        init(_ texts: TextHash) throws {
            timeline = Timeline(texts: texts)
            try ProgramRun.commit([.schema(Schema(Self.definition(unique: [])).catalog)], to: timeline)
        }

        private static func definition(unique: [[String]]) -> SchemaDefinition {
            var definition = SchemaDefinition {
                EntityDefinition("Thing", identity: ["name"]) {
                    AttributeDefinition("name", .string)
                    AttributeDefinition("data", .data, .optional)
                    AttributeDefinition("count", .int64, .optional)
                }
            }
            definition.entities[0].unique = unique
            return definition
        }

        private func entity() throws -> Entity { try #require(timeline.head.schema.entity("Thing")) }

        /// Inserts objects whose identities consist of this letter: of each length up to 80 bytes, and of lengths around 255 bytes, above
        /// which a text has pages of its own. The first call also inserts an empty identity.
        mutating func insert(_ letter: String) throws {
            let thing = try entity()
            let numbers = try ["name", "data", "count"].map { try #require(thing.attribute($0)).number }
            var ops: [Op] = []
            for byteCount in Array((names.isEmpty ? 0 : 1)...80) + [255, 256, 300, 5000] {
                let name = String(repeating: letter, count: byteCount)
                names.append(name)
                let values: [Value] = [.string(name), .data(Array(name.utf8)), .int(Int64(byteCount))]
                let id = ObjectID(root: thing.number, serial: UInt64(names.count))
                ops.append(.insert(id, entity: thing.number, zip(numbers, values).map { Assignment($0, $1) }))
            }
            try ProgramRun.commit(ops, to: timeline)
        }

        /// Adds a unique set, whose index is filled from the existing objects.
        func migrate() throws {
            let migration = try SchemaMigration(from: timeline.head.schema, to: Self.definition(unique: [["data", "count"]]))
            try ProgramRun.commit([.schema(migration.after.catalog)], to: timeline)
        }

        /// Records requests with short and long names, and sets a label.
        func register(_ requests: [String]) throws {
            var draft = timeline.draft()
            for request in requests { try draft.note(request, nil) }
            try draft.apply(.label("label of \(requests.count) requests", timeline.head.transaction))
            try timeline.publish(draft)
        }

        /// Stores the pages, opens them and proves them. The next changes are based on the stored pages.
        mutating func reopen() throws {
            let frozen = try timeline.freeze()
            storage.store(frozen.fresh, of: timeline)
            let head = timeline.head
            timeline = try Timeline(frozen.image, layout: head.fingerprint, schema: head.schema.catalog, source: storage.copy())
            #expect(timeline.storedFlaws() == [])
        }

        /// Returns the findings of the proof if the checkpoint stated this hash of texts.
        func flaws(_ texts: TextHash) throws -> [String] {
            let frozen = try timeline.freeze()
            storage.store(frozen.fresh, of: timeline)
            let head = timeline.head
            let opened = try Timeline(
                frozen.image, layout: head.layout.fingerprint(texts), schema: head.schema.catalog, source: storage.copy())
            return opened.storedFlaws()
        }

        /// Expects that each object is found by its identity, and that the pages are consistent.
        func check() throws {
            let graph = timeline.head
            let thing = try entity()
            let finder = try #require(graph.finder(thing))
            let places = names.map { graph.place(thing, identity: $0) }
            #expect(places.allSatisfy { $0 != nil } && Set(places).count == names.count)
            #expect(finder.find(names) == places && names.map { finder.find($0) } == places)
            #expect(finder.find("missing") == nil)
            #expect(graph.invariantFindings() == [] && PageChecker.findings(in: timeline) == [])
        }
    }

    @Test(arguments: TextHash.allCases)
    func `a graph keeps the hash of its texts when it is stored, changed and stored again`(texts: TextHash) throws {
        var things = try Things(texts)
        let requests = [1, 12, 36, 64, 65, 300].map { String(repeating: "r", count: $0) }
        try things.insert("x")
        try things.register(Array(requests.prefix(3)))
        try things.reopen()
        try things.check()
        try things.migrate()
        try things.insert("y")
        try things.register(requests)
        try things.check()
        for _ in 0..<2 {
            try things.reopen()
            try things.check()
            #expect(things.timeline.head.hashNumbers.texts == texts)
            #expect(things.timeline.head.requests.map(\.name) == requests)
            #expect(requests.allSatisfy { things.timeline.head.request($0) != nil })
            #expect(things.timeline.head.labels.count == 2)
            try things.insert(things.names.count < 200 ? "z" : "w")
        }
        try things.check()
    }

    @Test(arguments: [(TextHash.products, TextHash.sipHash), (.sipHash, .products)])
    func `the proof refuses pages if the checkpoint states the other hash of texts`(texts: TextHash, other: TextHash) throws {
        var things = try Things(texts)
        try things.insert("x")
        #expect(try things.flaws(texts) == [])
        #expect(try things.flaws(other) != [])
    }
}
