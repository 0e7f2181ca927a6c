import CambiumGraph
import CambiumLog
import CambiumModel

/// The fuzz target for migrations: an input is the new schema of the sample store. A refused migration changes nothing. A migration that
/// succeeds gives the same result each time, and leaves a sound graph. Then the target requests a migration back to the old schema.
///
/// The first byte of an input chooses the kind of schema. An even number means a schema with numbers of elements, as in a log, and an odd
/// number means a schema that a user writes.
enum MigrationTarget {
    @Sendable static func seeds() throws -> [[UInt8]] {
        try ([""] + changes.map(\.old)).enumerated().flatMap { number, old in
            let new = number == 0 ? "" : changes[number - 1].new
            let definition = try SchemaDefinition(json: Array(SampleStore.schemaText.replacing(old, with: new).utf8))
            let after = try SchemaMigration(from: SampleStore.schema(), to: definition).after
            return [[0] + after.catalog.json, [1] + Array(definition.json.text.utf8)]
        }
    }

    /// Changes that people make to a schema.
    private static let changes: [(old: String, new: String)] = [
        ("\"small\":{\"type\":\"int16\"", "\"small\":{\"type\":\"int64\""),
        ("\"tree\":{\"type\":\"json\"", "\"tree\":{\"type\":\"string\""),
        ("\"tags\":{\"to\":\"Tag\",\"many\":true", "\"tags\":{\"to\":\"Tag\",\"many\":true,\"ordered\":true"),
        ("\"partner\":{\"to\":\"Thing\",\"inverse\":\"partner\"},", ""), ("\"title\":{", "\"name\":{\"renamedFrom\":\"title\","),
        ("\"Special\":{\"parent\":\"Thing\",", "\"Special\":{"),
        ("\"Step\":{\"attributes\":{", "\"Step\":{\"attributes\":{\"n\":{\"type\":\"int32\",\"default\":7},"),
        ("\"identity\":[\"first\",\"last\"]", "\"identity\":[\"last\"]"),
        ("\"hidden\":{\"to\":\"Step\",\"many\":true}", "\"hidden\":{\"to\":\"Step\"}"),
    ]

    @Sendable static func run(_ input: [UInt8]) throws {
        guard let kind = input.first, let catalog = try catalog(Array(input.dropFirst()), hasNumbers: kind % 2 == 0) else { return }
        let timeline = try timeline()
        let before = timeline.head
        guard try migrate(timeline, to: catalog) else {
            guard timeline.head.digest() == before.digest() else { throw Finding("a refused migration changed the graph") }
            return try Finding.check(PageChecker.findings(in: timeline), "the pages after a refused migration")
        }
        let after = timeline.head
        _ = SchemaMigration(logged: before.schema, after.schema).changes
        let again = try self.timeline()
        guard try migrate(again, to: catalog), again.head.digest() == after.digest() else {
            throw Finding("a repeated migration gives another graph")
        }
        guard let back = try refusable({ () throws(CambiumError) in try SchemaMigration(from: after.schema, to: before.schema.definition) })
        else { return }
        _ = try migrate(timeline, to: back.after.catalog)
    }

    private static func catalog(_ bytes: [UInt8], hasNumbers: Bool) throws -> SchemaCatalog? {
        if hasNumbers { return SchemaCatalog(json: bytes) }
        let before = try SampleStore.schema()
        return try refusable { () throws(CambiumError) in
            try SchemaMigration(from: before, to: SchemaDefinition(json: bytes)).after.catalog
        }
    }

    /// Returns `nil` if the body throws a `CambiumError`.
    private static func refusable<Result>(_ body: () throws(CambiumError) -> Result) throws -> Result? {
        do throws(CambiumError) { return try body() } catch { return nil }  // Refused.
    }

    /// Returns `false` if the migration is refused.
    private static func migrate(_ timeline: Timeline, to catalog: SchemaCatalog) throws -> Bool {
        var draft = timeline.draft()
        do throws(CambiumError) {
            try draft.apply(.schema(catalog))
            try draft.check()
        } catch {
            guard [.corrupted, .invalidInput, .ruleViolated, .limitExceeded].contains(error.code) else { throw error }
            return false
        }
        try timeline.publish(draft)
        try Finding.check(timeline.head)
        try Finding.check(PageChecker.findings(in: timeline), "the migrated pages")
        return true
    }

    private static let ops = Result { try SampleStore().payloads.flatMap { try OpCodec.decode($0[...]) } }

    private static func timeline() throws -> Timeline {
        let timeline = Timeline(key: HashKey(secret: []))
        var draft = timeline.draft()
        for op in try ops.get() {
            // The digest of the sample belongs to several transactions. Here all ops form a single transaction.
            if case .digest = op { continue }
            try draft.apply(op)
        }
        try timeline.publish(draft)
        return timeline
    }
}
