import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Forged pages of hash indexes.
@Suite struct ForgedBucketTests {
    /// Changes trust the counts of a proven page. They end the process if the number of overflow pages becomes negative.
    @Test func `the proof finds a bucket that states wrong counts of its overflow pages`() throws {
        let schema = try Schema(SchemaDefinition { EntityDefinition("Thing", identity: ["n"]) { AttributeDefinition("n", .int64) } })
        let thing = try #require(schema.entity("Thing"))
        let timeline = Timeline()
        // Nothing checks that the identities are unique, so all entries are in one bucket.
        let ops = (1...400).map { serial in
            Op.insert(
                ObjectID(root: thing.number, serial: UInt64(serial)), entity: thing.number,
                [Assignment(thing.identity[0].number, .int(serial < 4 ? Int64(serial) : 5))])
        }
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        try ProgramRun.commit(ops, to: timeline)
        let reader = timeline.head.reader
        let bucket = reader.bucket(0, 0, Cell.fixed(5).keyHash(reader.hasher, .int64))
        let first = Bucket(reader.chunks[bucket])
        #expect(first.overflow != 0)
        let (pageCount, otherCount) = (UInt32(first.overflowPageCount), UInt16(first.otherCount))
        let stored = try StoredGraph(timeline)
        #expect(try stored.flaws() == [])
        for wrong in [0, pageCount - 1, pageCount + 1, UInt32.max] { #expect(try !stored.flaws(bucket, 24, wrong).isEmpty) }
        #expect(try !stored.flaws(bucket, 30, otherCount + 1).isEmpty)
    }
}
