import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Ordered indexes of a graph that has few pages left.
@Suite struct IndexCapacityTests {
    private static let count = 2000

    /// A timeline of objects that have a number and a text, with an index over each of them.
    private struct Things {
        let timeline = Timeline()
        let thing: Entity

        init() throws {
            var definition = SchemaDefinition {
                EntityDefinition("Thing") {
                    AttributeDefinition("number", .int64)
                    AttributeDefinition("text", .string)
                }
            }
            definition.entities[0].indexes = [["number"], ["text"]]
            let schema = try Schema(definition)
            thing = try #require(schema.entity("Thing"))
            try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        }

        func id(_ serial: Int) -> ObjectID { ObjectID(root: thing.number, serial: UInt64(serial)) }

        func assignments(_ values: [String: Value]) throws -> [Assignment] {
            try values.map { Assignment(try #require(thing.attribute($0.key)).number, $0.value) }
        }
    }

    @Test func `an index with few changes is kept if only another index of the table lacks pages`() throws {
        let things = try Things()
        let timeline = things.timeline
        let text = String(repeating: "x", count: 190)
        let ops = try (1...Self.count).map { serial in
            Op.insert(
                things.id(serial), entity: things.thing.number,
                try things.assignments(["number": .int(Int64(serial)), "text": .string("\(serial) \(text)")]))
        }
        try ProgramRun.commit(ops, to: timeline)
        #expect(timeline.head.orderedIndexes(of: things.thing).count == 2)
        var draft = timeline.draft()
        for serial in 1...Self.count {
            try draft.apply(.set(things.id(serial), try things.assignments(["text": .string("\(text) \(serial)")])))
        }
        try draft.apply(.set(things.id(7), try things.assignments(["number": .int(-7)])))
        // The changes of the texts may need about 70 chunks (23 with small pages), and the change of the number at most four.
        timeline.limit(to: PageCapacity(chunkCountMax: timeline.space.chunkCount + 12))
        try timeline.publish(draft, indexing: 0)
        let kept = timeline.head.orderedIndexes(of: things.thing)
        #expect(kept.count == 1 && kept.first?.count == Self.count)
        let first = kept.first?.all.first
        #expect(first.map { timeline.head.id(of: $0) } == things.id(7))
        #expect(timeline.head.hasIncompleteIndexes && timeline.head.invariantFindings() == [])
        #expect(PageChecker.findings(in: timeline) == [])
    }
}
