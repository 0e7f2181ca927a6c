import CambiumModel
import Testing

/// Expressions of derived attributes in schemas.
@Suite struct DerivationTests {
    private static func json(_ attribute: String) -> [UInt8] {
        Array(
            """
            {"entities": {
              "Order": {"identity": ["number"], "attributes": {
                "number": {"type": "int64"}, "name": {"type": "string", "optional": true}, "title": {"type": "string"},
                "derivedName": {"type": "string", "derived": {"folded": "title"}}, "x": \(attribute)},
                "relationships": {"items": {"to": "Item", "many": true}, "one": {"to": "Item"}}},
              "Item": {"attributes": {
                "small": {"type": "int16", "optional": true}, "price": {"type": "decimal"}, "weight": {"type": "float"},
                "flag": {"type": "bool"}, "made": {"type": "date"}, "key": {"type": "string"}}}}}
            """.utf8)
    }

    private static func schema(_ attribute: String) throws -> Schema { try Schema(SchemaDefinition(json: json(attribute))) }

    @Test(arguments: [
        #"{"type":"int32","derived":{"count":"items"}}"#, #"{"type":"int64","optional":true,"derived":{"count":"items"}}"#,
        #"{"type":"int64","derived":{"sum":"items.small"}}"#, #"{"type":"decimal","derived":{"sum":"items.price"}}"#,
        #"{"type":"double","derived":{"sum":"items.weight"}}"#, #"{"type":"date","optional":true,"derived":{"min":"items.made"}}"#,
        #"{"type":"string","optional":true,"derived":{"max":"items.key"}}"#, #"{"type":"string","derived":{"folded":"title"}}"#,
        #"{"type":"string","optional":true,"derived":{"folded":"name"}}"#,
    ])
    func `a schema accepts an expression and writes it again`(attribute: String) throws {
        let schema = try Self.schema(attribute)
        #expect(schema.entity("Order")?.attribute("x")?.isDerived == true)
        let again = try Schema(SchemaDefinition(json: Array(schema.definition.json.text.utf8)))
        #expect(again.definition == schema.definition)
        #expect(try Schema(catalog: schema.catalog).entity("Order")?.attribute("x")?.isDerived == true)
    }

    @Test(arguments: [
        (#"{"type":"int64","derived":{"count":"things"}}"#, "/derived/count", "'Order' has no relationship 'things'"),
        (#"{"type":"int64","derived":{"count":"one"}}"#, "/derived/count", "'one' is a to-one relationship"),
        (#"{"type":"float","derived":{"count":"items"}}"#, "/derived/count", "must be of type int64 or int32 or int16"),
        (#"{"type":"int64","derived":{"sum":"items"}}"#, "/derived/sum", "such as 'items.price'"),
        (#"{"type":"int64","derived":{"sum":"items.cost"}}"#, "/derived/sum", "'Item' has no attribute 'cost'"),
        (#"{"type":"double","derived":{"sum":"items.small"}}"#, "/derived/sum", "must be of type int64 or int32 or int16"),
        (#"{"type":"int64","derived":{"sum":"items.key"}}"#, "/derived/sum", "'sum' cannot read 'key'"),
        (#"{"type":"bool","optional":true,"derived":{"min":"items.flag"}}"#, "/derived/min", "'min' cannot read 'flag'"),
        (#"{"type":"string","derived":{"folded":"number"}}"#, "/derived/folded", "'folded' cannot read 'number'"),
        (#"{"type":"string","derived":{"folded":"derivedName"}}"#, "/derived/folded", "is derived itself"),
        (#"{"type":"string","derived":{"folded":"x"}}"#, "/derived/folded", "is derived itself"),
        (#"{"type":"int64","default":1,"derived":{"count":"items"}}"#, "/default", "cannot have 'default'"),
        (#"{"type":"int64","min":1,"derived":{"count":"items"}}"#, "/min", "cannot have 'min'"),
        (#"{"type":"int64","max":1,"derived":{"count":"items"}}"#, "/max", "cannot have 'max'"),
        (#"{"type":"int64","enum":[1],"derived":{"count":"items"}}"#, "/enum", "cannot have 'enum'"),
        (#"{"type":"int64","transient":true,"derived":{"count":"items"}}"#, "/transient", "cannot have 'transient'"),
        (#"{"type":"string","minLength":1,"derived":{"folded":"name"}}"#, "/minLength", "cannot have 'minLength'"),
        (#"{"type":"string","maxLength":1,"derived":{"folded":"name"}}"#, "/maxLength", "cannot have 'maxLength'"),
        (#"{"type":"string","regex":"a","derived":{"folded":"name"}}"#, "/regex", "cannot have 'regex'"),
        (#"{"type":"int64","derived":{"average":"items"}}"#, "/derived/average", "the key is unknown"),
        (#"{"type":"int64","derived":{}}"#, "/derived", "exactly one of the keys"),
        (#"{"type":"int64","derived":{"count":"items","sum":"items.small"}}"#, "/derived", "exactly one of the keys"),
        (#"{"type":"int64","derived":"items"}"#, "/derived", "expected an object"),
    ])
    func `a schema refuses an expression that it cannot compute`(attribute: String, pointer: String, message: String) throws {
        do {
            _ = try Self.schema(attribute)
            Issue.record("the schema was accepted")
        } catch let error as CambiumError {
            #expect(error.code == .invalidInput)
            let line = error.details.first { $0.hasPrefix("/entities/Order/attributes/x\(pointer): ") }
            #expect(line?.contains(message) == true, "\(error.details)")
        }
    }

    @Test(arguments: [
        (#"{"type":"date","derived":{"min":"items.made"}}"#, true), (#"{"type":"string","derived":{"folded":"name"}}"#, true),
        (#"{"type":"string","derived":{"folded":"title"}}"#, false), (#"{"type":"int16","derived":{"count":"items"}}"#, false),
        (#"{"type":"int32","optional":true,"derived":{"sum":"items.small"}}"#, true),
    ])
    func `an attribute whose value may be null is optional`(attribute: String, isOptional: Bool) throws {
        let schema = try Self.schema(attribute)
        #expect(schema.entity("Order")?.attribute("x")?.isOptional == isOptional)
        #expect(try Schema(catalog: schema.catalog).entity("Order")?.attribute("x")?.isOptional == isOptional)
    }

    @Test func `an identity cannot have a derived attribute, but a unique set and an index can`() throws {
        func schema(_ change: (inout EntityDefinition) -> Void) throws {
            var entity = EntityDefinition("Note") {
                AttributeDefinition("name", .string)
                AttributeDefinition("key", .string, derived: .folded("name"))
            }
            change(&entity)
            _ = try Schema(SchemaDefinition(entities: [entity]))
        }
        #expect(throws: CambiumError.self) { try schema { $0.identity = ["key"] } }
        try schema { $0.unique = [["key"]] }
        try schema { $0.indexes = [["-key"]] }
    }

    @Test func `a sub-entity derives from what it inherits`() throws {
        let schema = try Schema {
            EntityDefinition("Base") {
                AttributeDefinition("name", .string)
                RelationshipDefinition("parts", to: "Base", .toMany)
            }
            EntityDefinition("Special", parent: "Base") {
                AttributeDefinition("key", .string, derived: .folded("name"))
                AttributeDefinition("partCount", .int64, derived: .count("parts"))
            }
        }
        #expect(schema.entity("Special")?.attributes.count(where: \.isDerived) == 2)
        #expect(schema.entity("Base")?.attributes.contains(where: \.isDerived) == false)
    }

    @Test func `a comparison reports another expression and knows renamed properties`() throws {
        let old = try Schema {
            EntityDefinition("Note") {
                AttributeDefinition("name", .string)
                AttributeDefinition("title", .string)
                AttributeDefinition("key", .string, derived: .folded("name"))
            }
        }
        var renamed = old.definition
        renamed.entities[0].attributes[0] = AttributeDefinition("label", .string, renamedFrom: "name")
        renamed.entities[0].attributes[2].derivation = .folded("label")
        #expect(try SchemaMigration(from: old, to: renamed).changes.map(\.kind) == [.renamed])
        var other = old.definition
        other.entities[0].attributes[2].derivation = .folded("title")
        let change = try #require(try SchemaMigration(from: old, to: other).changes.first)
        #expect(change.aspect == "derived" && change.isAutomatic && change.after == #"{"folded":"title"}"#)
    }
}
