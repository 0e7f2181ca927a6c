import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// The choice of the tables and chunks that a plan packs.
@Suite struct PackingPlanTests {
    @Test func `a table is gathered after a migration although another table had its number and could not be gathered`() throws {
        let timeline = Timeline()
        func definition(_ names: String...) -> SchemaDefinition {
            SchemaDefinition(entities: names.map { EntityDefinition($0) { AttributeDefinition("number", .int32, .optional) } })
        }
        func fill(_ name: String, _ groups: Int, keeping: (_ group: Int) -> [Int]) throws {
            let entity = try #require(timeline.head.schema.entity(name))
            let kept = Set((0..<groups).flatMap { group in keeping(group).map { group * PageLayout.fanOut + $0 } })
            let ids = (1..<groups * PageLayout.fanOut).map { ObjectID(root: entity.number, serial: UInt64($0)) }
            try ProgramRun.commit(ids.map { Op.insert($0, entity: entity.number, []) }, to: timeline)
            try ProgramRun.commit([.delete(ids.filter { !kept.contains(Int($0.serial)) })], to: timeline)
        }
        var limits = PackingLimits()
        (limits.groupCountMin, limits.wasteByteCountMin) = (2, .max)
        try ProgramRun.commit([.schema(Schema(definition("A")).catalog)], to: timeline)
        try fill("A", 8) { _ in [5] }
        #expect(try !timeline.pack(limits))
        let migration = try SchemaMigration(from: timeline.head.schema, to: definition("B", "A"))
        try ProgramRun.commit([.schema(migration.after.catalog)], to: timeline)
        try fill("B", 4) { [2 * $0 + 1, 2 * $0 + 2] }
        #expect(try timeline.pack(limits))
        #expect(timeline.head.invariantFindings() == [])
    }
}
