import CambiumModel
import Testing

@testable import CambiumGraph

@Suite struct BlockBuilderTests {
    @Test(arguments: [1, 100, 1000, 1100, 9000, 60_000])
    func `a block of a table with many columns has no more values than a reader of the log accepts`(attributeCount: Int) throws {
        var entity = EntityDefinition("Wide")
        for number in 0..<attributeCount { entity.attributes.append(AttributeDefinition("a\(number)", .bool, .optional)) }
        let layout = GraphLayout(try Schema(SchemaDefinition(entities: [entity])))
        let count = BlockBuilder.objectCountMax(try #require(layout.tables.first))
        #expect(count > 0 && count <= 8192 && count * attributeCount <= 1 << 23)
        if attributeCount <= 1000 { #expect(count == 8192) }
    }

    @Test func `objects with long texts are divided into several blocks`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Note") {
                    AttributeDefinition("text", .string, .optional)
                    AttributeDefinition("size", .int64, .optional)
                }
            })
        let note = try schema.required("Note")
        let (text, size) = (try note.requiredAttribute("text").number, try note.requiredAttribute("size").number)
        let timeline = Timeline()
        var ops: [Op] = [.schema(schema.catalog)]
        for (place, length) in [10, 1000, 200, 0, 90, 100, 10].enumerated() {
            let value = Value.string(String(repeating: "a", count: length))
            ops.append(.insert(ObjectID(root: note.root, serial: UInt64(place + 1)), entity: note.number, [Assignment(text, value)]))
        }
        try ProgramRun.commit(ops, to: timeline)
        let graph = timeline.head
        let table = try #require(graph.layout.tables.first)
        let rows = (1...7).compactMap { graph.place(of: ObjectID(root: note.root, serial: $0))?.row }
        let builder = BlockBuilder(rows: graph.reader.rows(table.index), table: table, byteCountMax: 300)
        let parts = builder.parts(rows, [text, size])
        #expect(parts.map(\.count) == [1, 1, 3, 2])
        #expect(parts.flatMap { $0 } == rows)
        #expect(builder.parts(rows, [size]) == [rows])
    }
}
