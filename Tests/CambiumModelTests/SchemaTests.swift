import CambiumJSON
import CambiumModel
import CambiumTesting
import Testing

@Suite struct `Schemas` {
    @Test func `the example is the same schema in JSON and in Swift`() throws {
        let definition = try SchemaDefinition(json: Array(SchemaFixture.example.utf8))
        #expect(definition == SchemaFixture.builtExample)
        #expect(try Schema(definition).catalog == Schema(SchemaFixture.builtExample).catalog)
    }

    @Test(arguments: ["min", "max", "minLength", "maxLength", "regex", "enum", "derived", "renamedFrom"])
    func `a key of an attribute that is null counts as missing`(key: String) throws {
        let given = try SchemaFixture.definition(SchemaFixture.attribute("\"type\":\"int64\",\"\(key)\":null"))
        #expect(try given == SchemaFixture.definition(SchemaFixture.attribute("\"type\":\"int64\"")))
    }

    @Test func `the example is resolved`() throws {
        let schema = try Schema(SchemaFixture.builtExample)
        let note = try #require(schema.entity("Note"))
        #expect(note.attributes.map(\.name) == ["id", "createDate", "title", "index"])
        #expect(note.relationships.map(\.name) == ["items", "memos"])
        #expect(note.identity.map(\.name) == ["id"])
        #expect(note.uniqueSets == [UniqueSet(entity: note.number, properties: [note.attributes[0].number], isIdentity: true)])
        #expect(note.attribute("title")?.defaultValue == .string(""))
        #expect(note.attribute("index")?.defaultValue == .int(0))
        #expect(note.attribute("createDate")?.isOptional == true)
        #expect(note.relationship("items")?.deleteRule == .cascade)
        #expect(note.relationship("memos")?.isOrdered == true)
        #expect(schema.links.count == 2)
        #expect(schema.roots.map(\.name) == ["Note", "Item", "Memo"])
    }

    @Test(arguments: [SchemaFixture.everything, ""])
    func `a definition is the same after writing and reading`(_ entities: String) throws {
        let definition = try SchemaFixture.definition(entities)
        let text = definition.json.text
        let again = try SchemaDefinition(json: Array(text.utf8))
        #expect(again == definition)
        #expect(again.json.text == text)
        #expect(throws: Never.self) { try Schema(definition) }
    }

    @Test func `a written schema keeps every part`() throws {
        let text = try SchemaFixture.definition(SchemaFixture.everything).json.text
        let written = try SchemaFixture.sorted(JSONValue(parsing: text.utf8))
        let read = try SchemaFixture.sorted(JSONValue(parsing: "{\"entities\":{\(SchemaFixture.everything)}}".utf8))
        #expect(written == read)
    }

    // MARK: Numbers

    @Test func `numbers count entities, and the properties of a hierarchy`() throws {
        let schema = try SchemaFixture.schema(SchemaFixture.everything + ",\"Other\":{\"attributes\":{\"z\":{\"type\":\"bool\"}}}")
        #expect(schema.entities.map(\.number.rawValue) == [1, 2, 3])
        #expect(schema.entity("Leaf")?.attributes.map(\.number.rawValue) == [1, 2, 3, 4])
        #expect(schema.entity("Leaf")?.relationships.map(\.number.rawValue) == [5, 6, 7, 8])
        #expect(schema.entity("Other")?.attributes.map(\.number.rawValue) == [1])
    }

    @Test(arguments: [SchemaFixture.everything, ""])
    func `a catalog is read as the same schema with the same numbers`(_ entities: String) throws {
        let schema = try SchemaFixture.schema(entities)
        let again = try Schema(catalog: schema.catalog)
        #expect(again.catalog == schema.catalog)
        #expect(again.definition == schema.definition)
        #expect(again.links == schema.links)
        #expect(again.entities.map(\.number) == schema.entities.map(\.number))
        #expect(again.entities.map { $0.attributes.map(\.number) } == schema.entities.map { $0.attributes.map(\.number) })
    }

    @Test func `names that differ only in the form of Unicode are the same name`() {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let name = SchemaName(composed, formerName: nil)
        #expect(composed == decomposed && name.isSame(as: SchemaName(decomposed, formerName: nil)))
        #expect(!name.isSame(as: SchemaName("cafe", formerName: nil)))
    }

    @Test func `numbers in a catalog are kept unchanged`() throws {
        let json = #"{"entities":{"A":{"number":9,"attributes":{"x":{"number":7,"type":"bool"},"y":{"number":3,"type":"bool"}}}}}"#
        let schema = try Schema(catalog: SchemaCatalog(json: Array(json.utf8)))
        #expect(schema.entity(EntityNumber(rawValue: 9))?.name == "A")
        #expect(schema.entity("A")?.attribute(PropertyNumber(rawValue: 3))?.name == "y")
        #expect(String(decoding: schema.catalog.json, as: UTF8.self) == json)
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"entities":{"A":{}}}"#, #"{"entities":{"A":{"number":70000}}}"#, #"{"entities":{"A":{"number":-1}}}"#,
        #"{"entities":{"A":{"number":1},"B":{"number":1}}}"#,
        #"{"entities":{"A":{"number":1,"attributes":{"x":{"type":"bool"}}}}}"#,
        #"{"entities":{"A":{"number":1,"attributes":{"x":{"number":1,"type":"bool"},"y":{"number":1,"type":"bool"}}}}}"#,
        #"{"entities":{"A":{"number":1,"attributes":{"x":{"number":1,"type":"bool"}}},"#
            + #""B":{"number":2,"parent":"A","attributes":{"y":{"number":1,"type":"bool"}}}}}"#,
        #"{"entities":{"A":{"number":1,"attributes":{"x":{"number":1,"type":"bool"}},"relationships":{"r":{"number":1,"to":"A"}}}}}"#,
    ])
    func `a catalog that is not a schema is corrupt`(_ json: String) {
        let error = #expect(throws: CambiumError.self) { try Schema(catalog: SchemaCatalog(json: Array(json.utf8))) }
        #expect(error?.code == .corrupted)
    }

    @Test func `a corrupt catalog is refused or read, and nothing crashes`() throws {
        var random = SplitMix64(for: "corrupt catalogs")
        let json = try SchemaFixture.schema(SchemaFixture.everything).catalog.json
        for _ in 0..<2000 {
            var corrupt = json
            for _ in 0..<2 {
                corrupt[Int.random(in: 0..<json.count, using: &random)] =
                    Array("0123456789\"{}[],:abLUn".utf8).randomElement(using: &random) ?? 0
            }
            guard let schema = try? Schema(catalog: SchemaCatalog(json: corrupt)) else { continue }  // A refusal is correct here.
            #expect(try Schema(catalog: schema.catalog).catalog == schema.catalog)
        }
    }

    @Test func `a default and an allowed value of the deepest JSON are read back, and a deeper one is refused`() throws {
        func attribute(_ depth: Int) throws -> Attribute? {
            let value = Value.json(String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
            let schema = try Schema { EntityDefinition("E") { AttributeDefinition("a", .json, default: value, allowed: [value]) } }
            let again = try Schema(catalog: schema.catalog)
            #expect(again.catalog == schema.catalog)
            return again.entity("E")?.attribute("a")
        }
        let deepest = try #require(try attribute(512))
        #expect(deepest.defaultValue.text.count == 1024 && deepest.constraints.check(deepest.defaultValue) == nil)
        let error = #expect(throws: CambiumError.self) { _ = try attribute(513) }
        #expect(error?.code == .invalidInput)
    }

    @Test func `a schema has fewer than 65,000 entities`() {
        let definition = SchemaDefinition(entities: (0..<65_000).map { EntityDefinition("E\($0)") })
        let error = #expect(throws: CambiumError.self) { try Schema(definition) }
        #expect(error?.code == .limitExceeded)
    }

    // MARK: Ids

    @Test(arguments: [("Note/42", UInt64(42)), ("Note/1", 1), ("Item/7", 7), ("Note/274877906943", 274_877_906_943)])
    func `an id is read and written`(_ text: String, _ serial: UInt64) throws {
        let schema = try Schema(SchemaFixture.builtExample)
        let (id, entity) = try #require(schema.id(text))
        #expect(id == ObjectID(root: entity.number, serial: serial))
        #expect(schema.text(of: id, entity: entity) == text)
    }

    @Test func `an id of a sub-entity has the root's number`() throws {
        let schema = try SchemaFixture.schema(SchemaFixture.everything)
        let (id, entity) = try #require(schema.id("Leaf/5"))
        #expect(entity.name == "Leaf")
        #expect(id == schema.id("Base/5")?.id)
        #expect(id.root == schema.entity("Base")?.number)
    }

    @Test(arguments: [
        "", "/", "Note", "Note/", "Note/ ", "/1", "Note/0", "Note/-1", "Note/-0", "Note/+1", "Note/1/2", "Note//1", "Note/1/", "/Note/1",
        "Note/ 1", "Note/1 ", " Note/1", "Note/1.0", "Note/1e2", "Note/0x1",
        "Note/\u{661}", "Nope/1", "note/1", "Note\\1", "Note/274877906944", "Note/18446744073709551616", "Note/99999999999999999999999999",
        "Note/a", "Note/1\0", "\u{FF11}/1",
    ])
    func `text that is not an id is refused`(_ text: String) throws {
        #expect(try Schema(SchemaFixture.builtExample).id(text) == nil)
    }
}

extension SchemaFixture {
    /// Returns a value in which the members of every object are sorted by name.
    static func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let elements): .array(elements.map(sorted))
        case .object(let members): .object(members.map { .init($0.key, sorted($0.value)) }.sorted { $0.key < $1.key })
        default: value
        }
    }
}
