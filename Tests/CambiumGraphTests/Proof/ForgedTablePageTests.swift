import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Forged pages of tables.
@Suite struct ForgedTablePageTests {
    @Test func `the proof finds a shared group of rows that would get further objects`() throws {
        let schema = try Schema(SchemaDefinition { EntityDefinition("Thing") { AttributeDefinition("n", .int64, .optional) } })
        let thing = try #require(schema.entity("Thing"))
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        let groupCount = 8
        let ids = (1..<UInt64(groupCount * PageLayout.fanOut)).map { ObjectID(root: thing.number, serial: $0) }
        try ProgramRun.commit(ids.map { .insert($0, entity: thing.number, []) }, to: timeline)
        // One object of each group stays, each at another position in its group.
        let staying = (1..<groupCount).map { $0 * PageLayout.fanOut + $0 }
        try ProgramRun.commit([.delete(ids.filter { !staying.contains(Int($0.serial)) })], to: timeline)
        var limits = PackingLimits()
        (limits.groupCountMin, limits.wasteByteCountMin) = (2, .max)
        #expect(try timeline.pack(limits))
        let reader = timeline.head.reader
        let last = UInt64(try #require(staying.last))
        let row = try #require(reader.row(0, serial: last))
        #expect(reader.rows(0).isShared(row >> PageLayout.rowShift))
        let stored = try StoredGraph(timeline)
        #expect(try stored.flaws() == [])
        // With this next serial, later objects would get rows of the shared group.
        #expect(try !stored.flaws(reader.tableReference(0), TablePage.nextSerialOffset, last + 1).isEmpty)
    }
}
