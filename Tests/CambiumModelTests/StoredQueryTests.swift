import CambiumModel
import Testing

/// Stored queries in schemas.
@Suite struct StoredQueryTests {
    private static func json(_ queries: String, title: String = "title", extra: String = "") -> [UInt8] {
        Array(
            """
            {"entities": {
              "Note": {"identity": ["id"], "attributes": {
                "id": {"type": "int64"}, "\(title)": {"type": "string"\(extra)}, "done": {"type": "bool"},
                "born": {"type": "date", "optional": true}, "key": {"type": "uuid", "optional": true}},
                "relationships": {"items": {"to": "Item", "many": true, "inverse": "note"}, "best": {"to": "Item"}},
                "queries": {\(queries)}},
              "Memo": {"parent": "Note", "attributes": {"text": {"type": "string", "optional": true}}},
              "Item": {"attributes": {"price": {"type": "decimal"}, "name": {"type": "string", "optional": true}},
                "relationships": {"note": {"to": "Note", "inverse": "items"}, "tags": {"to": "Item", "many": true}}}}}
            """.utf8)
    }

    private static func schema(_ queries: String) throws -> Schema { try Schema(SchemaDefinition(json: json(queries))) }

    private static func error(_ query: String) -> CambiumError? {
        do {
            _ = try schema("\"q\": {\(query)}")
            return nil
        } catch {
            return error as? CambiumError
        }
    }

    @Test(arguments: [
        #"{}"#, #"{"where": "id > $min and title contains[c] $text", "sort": "-id,title[c] nulls last", "limit": 10}"#,
        #"{"where": "any items.price > $min or items.@sum.price > 3"}"#, #"{"where": "any items where (price > $min and name == $name)"}"#,
        #"{"of": "Item", "where": "note == $source"}"#, #"{"of": "Item", "where": "$source == note and name == $source.title"}"#,
        #"{"of": "Item", "where": "self in $source.items and price in {$source.best.price, 3}"}"#,
        #"{"of": "Item", "where": "name in $source.items.name and price between {$source.best.price, $max}"}"#,
        #"{"of": "Item", "where": "price between $bounds and name like $pattern and name matches \"a+\""}"#,
        #"{"where": "_entity == \"Memo\" and self != $source and done == $done and born < \"2026-01-01T00:00:00Z\""}"#,
        #"{"where": "best == Item/3 or best == null or id in {1, $b} or items contains $item", "sort": "items.@count"}"#,
        #"{"of": "Memo", "where": "text == $source.title", "sort": "best.name"}"#,
        #"{"where": "id == items.@count and title != best.name"}"#,
    ])
    func `a schema accepts a query and writes it again`(query: String) throws {
        let schema = try Self.schema("\"q\": \(query)")
        let stored = try #require(schema.entity("Memo")?.query("q"))
        #expect(stored.entity == schema.entity("Note")?.number)
        #expect(try SchemaDefinition(json: Array(schema.definition.json.text.utf8)) == SchemaDefinition(json: Self.json("\"q\": \(query)")))
        let again = try Schema(catalog: schema.catalog)
        #expect(again.entity("Note")?.query("q")?.definition == stored.definition)
    }

    @Test(arguments: [
        (#""where": "titel == 1""#, "/where", "1:1: 'Note' has no attribute or relationship 'titel'"),
        (#""where": "id = = 1""#, "/where", "1:6: Expected"), (#""where": """#, "/where", "The text is empty"),
        (#""where": "id == \"a\"""#, "/where", "1:7: Expected a number"),
        (#""where": "done > true""#, "/where", "true or false, which '>' cannot compare"),
        (#""where": "title == done""#, "/where", "'title' is a text, but 'done' is true or false"),
        (#""where": "items.price > 3""#, "/where", "leads to several values"),
        (#""where": "any best.price > 3""#, "/where", "leads to one value only"),
        (#""where": "any id where (id > 3)""#, "/where", "1:5: 'id' leads to one value only"),
        (#""where": "id > 3 and all itmes where (price > 3)""#, "/where", "1:16: 'Note' has no attribute or relationship 'itmes'"),
        (#""where": "items.@sum.name > 3""#, "/where", "@sum needs numbers"),
        (#""where": "id.@count > 3""#, "/where", "does not lead to objects"),
        (#""where": "title == Anna""#, "/where", "If 'Anna' is a text, write it in quotation marks."),
        (#""where": "title in {\"a\", Anna}""#, "/where", "If 'Anna' is a text, write it in quotation marks."),
        (#""where": "id.x > 3""#, "/where", "continues after a value"),
        (#""where": "title matches \"a(\"""#, "/where", "regular expression"),
        (#""where": "title like best.name""#, "/where", "constant pattern"), (#""where": "1 == $a""#, "/where", "Both sides"),
        (#""where": "$a contains title""#, "/where", "left side of 'contains' is a constant"),
        (#""where": "_entity == \"Tag\"""#, "/where", "no entity 'Tag'"), (#""where": "best == Tag/1""#, "/where", "Expected an object"),
        (#""where": "items.@min._entity == \"Tag\"""#, "/where", "no entity 'Tag'"),
        (#""where": "best == $source""#, "/where", "'best' is an object of 'Item', but '$source' is an object of 'Note'"),
        (#""where": "title == $source.id""#, "/where", "'$source.id' is a number"),
        (#""where": "items.count > 3""#, "/where", "'Item' has no attribute or relationship 'count'. Write @count for the function."),
        (#""where": "any items.note.text == \"a\"""#, "/where", "Only sub-entities have it: Memo. Use one of them instead."),
        (#""where": "title == $source.titel""#, "/where", "1:10: 'Note' has no attribute or relationship 'titel'"),
        (#""where": "title == $source.items.name""#, "/where", "Write it after 'in'"),
        (#""where": "id between $source.id""#, "/where", "needs two bounds"),
        (#""where": "title == $other.title""#, "/where", "only $source"),
        (#""of": "Item", "where": "title == 1""#, "/where", "'Item' has no attribute or relationship 'title'"),
        (#""of": "Tag""#, "/of", "no entity 'Tag'"), (#""of": 3"#, "/of", "expected a string"),
        (#""sort": "titel""#, "/sort", "no attribute or relationship 'titel'"),
        (#""sort": "items.price""#, "/sort", "leads to several values"),
        (#""sort": "id[c]""#, "/sort", "only for texts"), (#""sort": "id desc""#, "/sort", "1:4: Expected"),
        (#""limit": -1"#, "/limit", "whole number"), (#""offset": 1"#, "/offset", "key is unknown"),
    ])
    func `a mistake in a query has its place`(query: String, pointer: String, message: String) throws {
        let error = try #require(Self.error(query))
        #expect(error.code == .invalidInput)
        #expect(error.place?.pointer == "/entities/Note/queries/q\(pointer)")
        #expect(error.details.first?.contains(message) == true, "\(error.details)")
    }

    private static func mistake(_ attributes: String, where condition: String) -> String {
        let json = #"{"entities": {"A": {"attributes": {\#(attributes)}, "queries": {"q": {"where": "\#(condition)"}}}}}"#
        let error = #expect(throws: CambiumError.self) { try Schema(SchemaDefinition(json: Array(json.utf8))) }
        return error?.details.first ?? ""
    }

    @Test func `an error lists 12 names, and states the number of the others`() {
        let attributes = (10..<23).map { "\"a\($0)\": {\"type\": \"bool\"}" }.joined(separator: ",")
        let mistake = Self.mistake(attributes, where: "x == true")
        #expect(mistake.contains("a20, a21 and 1 more.") && !mistake.contains("a22"), "\(mistake)")
    }

    @Test(arguments: ["Anna == true", "a == best.Anna", "a == Anna.b"])
    func `only a single name on the right side may be a text without quotation marks`(condition: String) {
        let mistake = Self.mistake(#""a": {"type": "bool"}"#, where: condition)
        #expect(mistake.contains("has no attribute or relationship") && !mistake.contains("quotation marks"), "\(mistake)")
    }

    @Test func `a path into JSON is refused with the remedy`() {
        let mistake = Self.mistake(#""data": {"type": "json"}"#, where: "data.checked == true")
        #expect(mistake.contains("A path does not lead into JSON. Compare 'data' as a whole"), "\(mistake)")
    }

    @Test func `one error has the mistakes of all queries`() {
        let error = #expect(throws: CambiumError.self) {
            try Self.schema(#""a": {"where": "x == 1", "sort": "y"}, "b": {"of": "Item", "where": "z == 1"}, "c": {"where": "id == 1"}"#)
        }
        #expect(
            SchemaFixture.pointers(error) == [
                "/entities/Note/queries/a/where", "/entities/Note/queries/a/sort", "/entities/Note/queries/b/where",
            ])
    }

    @Test func `the check ends after 100 mistakes`() {
        let queries = (0..<300).map { "\"q\($0)\": {\"where\": \"x == 1\"}" }.joined(separator: ",")
        let error = #expect(throws: CambiumError.self) { try Self.schema(queries) }
        #expect(error?.message == "The schema has 100 mistakes. Correct the schema at each place.")
    }

    @Test(arguments: [
        ("title", "this name already"), ("items", "this name already"), ("a b", "begin with a letter"), ("_q", "begin with a letter"),
    ])
    func `a query needs a name of its own`(name: String, message: String) {
        let error = #expect(throws: CambiumError.self) { try Self.schema("\"\(name)\": {}") }
        #expect(error?.details.first?.contains(message) == true)
    }

    @Test func `a sub-entity cannot have a property with the name of an inherited query`() {
        let error = #expect(throws: CambiumError.self) { try Self.schema(#""text": {}"#) }
        #expect(error?.place?.pointer == "/entities/Memo/attributes/text")
    }

    @Test func `a path from a parameter has a limit`() {
        let long = "$source" + String(repeating: ".best", count: 65)
        #expect(Self.error(#""where": "best == \#(long)""#)?.details.first?.contains("more than 64 names") == true)
    }

    @Test func `the builder makes the same definition as JSON`() throws {
        let built = SchemaDefinition {
            EntityDefinition("Item") {
                AttributeDefinition("price", .double)
                QueryDefinition("cheap", where: "price < $max", sort: "price", limit: 3)
                QueryDefinition("same", of: "Item", where: "price == $source.price")
            }
        }
        let json = #"""
            {"entities":{"Item":{"attributes":{"price":{"type":"double"}},
            "queries":{"cheap":{"where":"price < $max","sort":"price","limit":3},"same":{"of":"Item","where":"price == $source.price"}}}}}
            """#
        #expect(try SchemaDefinition(json: Array(json.utf8)) == built)
        #expect(throws: CambiumError.self) {
            try Schema { EntityDefinition("Item") { QueryDefinition("negative", limit: -1) } }
        }
    }

    // MARK: Migrations

    private func migration(_ before: String, _ after: [UInt8]) throws -> SchemaMigration {
        try SchemaMigration(from: Self.schema(before), to: SchemaDefinition(json: after))
    }

    @Test func `each query that was added, changed or removed is one automatic change`() throws {
        let changes = try migration(
            #""a": {"where": "id == 1"}, "b": {}, "c": {"limit": 1}"#, Self.json(#""c": {"limit": 2}, "b": {}, "d": {"sort": "id"}"#)
        ).changes
        #expect(changes.allSatisfy { $0.isAutomatic && $0.kind == .changed && $0.entity == "Note" })
        #expect(changes.map(\.aspect) == ["queries/c", "queries/d", "queries/a"])
        #expect(changes.map(\.before) == [#"{"limit":1}"#, nil, #"{"where":"id == 1"}"#])
        #expect(changes.map(\.after) == [#"{"limit":2}"#, #"{"sort":"id"}"#, nil])
    }

    @Test func `the order of queries has no meaning`() throws {
        #expect(try migration(#""a": {}, "b": {}"#, Self.json(#""b": {}, "a": {}"#)).isEmpty)
    }

    @Test func `an attribute that a query names cannot be renamed or removed alone`() throws {
        let query = #""q": {"where": "title == $title"}"#
        let renamed = Self.json(query, title: "heading", extra: #", "renamedFrom": "title""#)
        let error = #expect(throws: CambiumError.self) { try migration(query, renamed) }
        #expect(error?.place?.pointer == "/entities/Note/queries/q/where")
        #expect(error?.details.first?.contains("'Note' has no attribute or relationship 'title'. Its name is 'heading' now.") == true)
        let removed = #expect(throws: CambiumError.self) { try migration(query, Self.json(query, title: "other")) }
        #expect(removed?.place?.pointer == "/entities/Note/queries/q/where")
        let both = Self.json(#""q": {"where": "heading == $title"}"#, title: "heading", extra: #", "renamedFrom": "title""#)
        #expect(try migration(query, both).changes.map(\.kind) == [.changed, .renamed])
    }

    @Test func `a query follows the new name of the entity that it finds`() throws {
        let before = #"{"entities":{"A":{"queries":{"q":{"of":"B"}}},"B":{}}}"#
        let after = #"{"entities":{"A":{"queries":{"q":{"of":"C"}}},"C":{"renamedFrom":"B"}}}"#
        let schema = try Schema(SchemaDefinition(json: Array(before.utf8)))
        #expect(try SchemaMigration(from: schema, to: SchemaDefinition(json: Array(after.utf8))).changes.map(\.kind) == [.renamed])
    }
}
