import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

@Suite struct LargeLayoutTests {
    private static func schema(_ attribute: String) throws -> Schema {
        var entities = (0..<1500).map { number in
            EntityDefinition("R\(number)", identity: ["n"]) {
                AttributeDefinition("n", .int64)
                AttributeDefinition(attribute, .string, .optional)
            }
        }
        for number in 0..<500 {
            var entity = EntityDefinition("S\(number)", parent: "R0") { AttributeDefinition("s\(number)", .int64, .optional) }
            entity.unique = [["s\(number)"]]
            entities.append(entity)
        }
        return try Schema(SchemaDefinition(entities: entities))
    }

    @Test func `a schema of 2,000 entities is laid out and migrated`() throws {
        let (before, timeline) = (try Self.schema("a"), Timeline())
        try ProgramRun.commit([.schema(before.catalog)], to: timeline)
        let after = try SchemaMigration(from: before, to: Self.schema("b").definition).after
        try ProgramRun.commit([.schema(after.catalog)], to: timeline)
        let layout = timeline.head.layout
        #expect(layout.tables.count == 1500 && layout.tables[0].indexes.count == 501)
        #expect(PageChecker.findings(in: timeline) == [])
    }

    @Test func `each table knows the ends of links at its objects, so that a deletion looks at no other links`() throws {
        let entities = (0..<300).map { number in
            EntityDefinition("R\(number)") {
                RelationshipDefinition("next", to: "R\((number + 1) % 300)", inverse: "previous")
                RelationshipDefinition("previous", to: "R\((number + 299) % 300)", .toMany, inverse: "next")
                RelationshipDefinition("friends", to: "R\(number)", .toMany, inverse: "friends")
            }
        }
        let layout = GraphLayout(try Schema(SchemaDefinition(entities: entities)))
        for (table, ends) in layout.endsByTable.enumerated() {
            #expect(ends.count == (table < 300 ? 4 : 0))
            #expect(ends.allSatisfy { layout.startTable($0) == table })
        }
        #expect(layout.endsByTable.joined().count == layout.ends.count)
    }
}
