import Cambium
import TestFixtures
import Testing

/// The values that a query selects instead of objects.
@Suite struct QuerySelectionTests {
    /// Notes 1 and 2 have the same tags, but their links were made in opposite orders.
    private let graph: Graph

    init() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note") {
                    RelationshipDefinition("tags", to: "Tag", .toMany, inverse: "notes")
                    RelationshipDefinition("ranked", to: "Tag", .orderedToMany, inverse: "rankedBy")
                }
                EntityDefinition("Tag") {
                    AttributeDefinition("name", .string)
                    RelationshipDefinition("notes", to: "Note", .toMany, inverse: "tags")
                    RelationshipDefinition("rankedBy", to: "Note", .toMany, inverse: "ranked")
                }
            })
        try store.write { transaction in
            let notes = try (0..<2).map { _ in try transaction.insert("Note") }
            let tags = try ["c", "a", "b"].map { try transaction.insert("Tag", ["name": .string($0)]) }
            for (note, tags) in zip(notes, [tags, tags.reversed()]) {
                for tag in tags {
                    try transaction.link(note, "tags", tag)
                    try transaction.link(note, "ranked", tag)
                }
            }
        }
        graph = store.graph
    }

    private func values(_ path: String, _ repeated: RepeatedRows = .keep) throws -> [[String]] {
        try graph.values(of: [try Operand(parsing: path)], Query("Note"), repeated: repeated).map { row in
            guard case .list(let values) = row[0] else { return [] }
            return values.map { if case .value(.string(let text)) = $0 { text } else { "?" } }
        }
    }

    @Test func `the members of an unordered relationship come by ascending id`() throws {
        #expect(try values("tags.name") == [["c", "a", "b"], ["c", "a", "b"]])
        #expect(try values("tags.name", .remove) == [["c", "a", "b"]])
    }

    @Test func `the members of an ordered relationship come in its order`() throws {
        #expect(try values("ranked.name") == [["c", "a", "b"], ["b", "a", "c"]])
        #expect(try values("ranked.name", .remove).count == 2)
    }

    @Test func `each step of a path has its own order`() throws {
        let all = ["c", "a", "b", "b", "a", "c"]
        #expect(try values("tags.notes.ranked.name") == [all + all + all, all + all + all])
    }
}
