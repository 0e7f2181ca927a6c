import CambiumGraph
import CambiumModel

/// A schema's JSON: what is accepted is written and read back as it was, and a graph can be made of it.
enum SchemaTarget {
    @Sendable static func seeds() throws -> [[UInt8]] {
        [Array(SampleStore.schemaText.utf8), try SampleStore.schema().catalog.json, Array("{\"entities\":{\"A\":{}}}".utf8)]
    }

    @Sendable static func run(_ input: [UInt8]) throws {
        if let definition = try refusable({ () throws(CambiumError) in try SchemaDefinition(json: input) }) {
            guard try SchemaDefinition(json: Array(definition.json.text.utf8)) == definition else {
                throw Finding("a definition is read back as another one")
            }
            if let schema = try refusable({ () throws(CambiumError) in try Schema(definition) }) { try use(schema) }
        }
        // With the numbers that a store gives out, as it stands in a log.
        if let schema = try refusable({ () throws(CambiumError) in try Schema(catalog: SchemaCatalog(json: input)) }) { try use(schema) }
    }

    /// Nil where it is refused with an error of ours.
    private static func refusable<Result>(_ body: () throws(CambiumError) -> Result) throws -> Result? {
        do throws(CambiumError) { return try body() } catch { return nil }  // Refused.
    }

    private static func use(_ schema: Schema) throws {
        let catalog = schema.catalog
        guard try Schema(catalog: catalog).catalog == catalog else { throw Finding("a catalog is read back as another one") }
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
        // Objects without values may well have the same ones.
        try Finding.check(timeline.head.invariantFindings(), "the graph", except: { $0.hasSuffix("is a duplicate.") })
        try Finding.check(PageChecker.findings(in: timeline), "the pages")
        // To another schema and back, as a log could ask for it: refused, or carried out.
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
