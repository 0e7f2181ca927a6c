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
}
