import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// The choice of the tables and groups whose rows a plan gathers.
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

    @Test func `a group that waits for another group stays where it is if one of its objects gets many members`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Thing") {
                    RelationshipDefinition("parent", to: "Thing", inverse: "children")
                    RelationshipDefinition("children", to: "Thing", .toMany, inverse: "parent")
                }
            })
        let thing = try #require(schema.entity("Thing"))
        let children = try #require(thing.relationship("children")).number
        func id(_ group: Int, _ place: Int) -> ObjectID {
            ObjectID(root: thing.number, serial: UInt64(group * PageLayout.fanOut + place))
        }
        let timeline = Timeline()
        let all = (1..<6 * PageLayout.fanOut).map { id(0, $0) }
        try ProgramRun.commit([.schema(schema.catalog)] + all.map { Op.insert($0, entity: thing.number, []) }, to: timeline)
        let kept = [id(0, 1), id(1, 2), id(2, 1), id(3, 3), id(4, 2)]
        try ProgramRun.commit([.delete(all.filter { $0.serial < id(5, 0).serial && !kept.contains($0) })], to: timeline)
        var limits = PackingLimits()
        (limits.groupCountMin, limits.rowCountMax, limits.wasteByteCountMin) = (2, 1, .max)
        let survey = try #require(timeline.survey(limits))
        var plan = try #require(PackingPlan(timeline.head, survey))
        // After two steps, the third group waits, because its object has the place of an object in the shared group.
        for _ in 0..<2 { try timeline.pack(&plan) }
        let row = timeline.head.place(of: kept[2])?.row
        try ProgramRun.commit((1...6).map { Op.link(kept[2], children, target: id(5, $0), index: nil) }, to: timeline)
        while !plan.isDone { try timeline.pack(&plan) }
        #expect(plan.rowCount == 3 && timeline.head.place(of: kept[2])?.row == row)
        #expect(timeline.head.invariantFindings() == [])
    }
}
