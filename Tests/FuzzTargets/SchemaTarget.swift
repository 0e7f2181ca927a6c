import CambiumGraph
import CambiumModel

/// The fuzz target for the JSON of a schema. An accepted schema can be written and read back unchanged, and a graph can use it.
enum SchemaTarget {
    @Sendable static func seeds() throws -> [[UInt8]] {
        [Array(SampleStore.schemaText.utf8), try SampleStore.schema().catalog.json, Array("{\"entities\":{\"A\":{}}}".utf8)]
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        if let definition = try refusable({ () throws(CambiumError) in try SchemaDefinition(json: input) }) {
            guard try SchemaDefinition(json: Array(definition.json.text.utf8)) == definition else {
                throw Finding("a definition is not read back unchanged")
            }
            if let schema = try refusable({ () throws(CambiumError) in try Schema(definition) }) { try use(schema) }
        }
        // The input may also be a schema in the form of the log, which contains the numbers that a store assigns to elements.
        if let schema = try refusable({ () throws(CambiumError) in try Schema(catalog: SchemaCatalog(json: input)) }) { try use(schema) }
    }

    /// Returns `nil` if the body throws a `CambiumError`.
    private static func refusable<Result>(_ body: () throws(CambiumError) -> Result) throws -> Result? {
        do throws(CambiumError) { return try body() } catch { return nil }  // Refused.
    }

    private static func use(_ schema: Schema) throws {
        let catalog = schema.catalog
        guard try Schema(catalog: catalog).catalog == catalog else { throw Finding("a catalog is not read back unchanged") }
        let timeline = Timeline(key: HashKey(secret: []))
        var draft = timeline.draft()
        do throws(CambiumError) {
            try draft.apply(.schema(catalog))
        } catch {
            guard error.code == .limitExceeded else { throw error }
            return
        }
        for entity in schema.entities.prefix(40) where !entity.isAbstract {
            let id = ObjectID(root: entity.root, serial: draft.nextSerial(of: entity.root))
            try draft.apply(.insert(id, entity: entity.number, []))
            for relationship in entity.relationships where relationship.destination == entity.number {
                try draft.apply(.link(id, relationship.number, target: id, index: nil))
            }
        }
        try timeline.publish(draft)
        // Objects without values may be duplicates of each other.
        try Finding.check(timeline.head.invariantFindings(), "the graph", except: { $0.hasSuffix("is a duplicate.") })
        try Finding.check(PageChecker.findings(in: timeline), "the pages")
        // A log could contain a migration to another schema and back. Each of them must succeed or be refused.
        for other in [try SampleStore.schema().catalog, catalog] { try migrate(timeline, to: other) }
    }

    private static func migrate(_ timeline: Timeline, to catalog: SchemaCatalog) throws {
        var draft = timeline.draft()
        do throws(CambiumError) {
            try draft.apply(.schema(catalog))
        } catch {
            guard [.invalidInput, .ruleViolated, .limitExceeded].contains(error.code) else { throw error }
            return
        }
        try timeline.publish(draft)
        try Finding.check(timeline.head.invariantFindings(), "the migrated graph", except: { $0.hasSuffix("is a duplicate.") })
        try Finding.check(PageChecker.findings(in: timeline), "the migrated pages")
    }
}
