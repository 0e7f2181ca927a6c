import Cambium
import TestFixtures
import Testing

@Suite struct ExportIdentityTests {
    @Test func `a reference to an object whose identity contains null is null, and an import reads the row`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Card", identity: ["suit", "value"]) {
                AttributeDefinition("suit", .string, .optional)
                AttributeDefinition("value", .int16, .optional)
            }
            EntityDefinition("Pet", identity: ["name"]) { AttributeDefinition("name", .string, .optional) }
            EntityDefinition("Dog", parent: "Pet")
            EntityDefinition("Player", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("first", to: "Card")
                RelationshipDefinition("cards", to: "Card", .toMany)
                RelationshipDefinition("pets", to: "Pet", .toMany)
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        try store.write { transaction in
            let player = try transaction.insert("Player", ["id": 1])
            let card = try transaction.insert("Card", ["suit": "hearts"])
            try transaction.link(player, "first", card)
            try transaction.link(player, "cards", card)
            try transaction.link(player, "cards", transaction.insert("Card", ["suit": "clubs", "value": 7]))
            try transaction.link(player, "pets", transaction.insert("Dog"))
        }
        let json = try store.graph.exported("Player") { $0.references = .identity }
        #expect(json == #"{"id":1,"first":null,"cards":[{"suit":"clubs","value":7},null],"pets":[null]}"# + "\n")
        let short = try store.graph.exported("Player") { ($0.references, $0.nulls) = (.identity, .omit) }
        #expect(short == #"{"id":1,"cards":[{"suit":"clubs","value":7},null],"pets":[null]}"# + "\n")
        let csv = try store.graph.exported("Player") { ($0.format, $0.references) = (.csv, .identity) }
        #expect(csv == "id,first,cards,pets\r\n" + #"1,,"[{""suit"":""clubs"",""value"":7},null]","# + "\r\n")
        for isCSV in [false, true] {
            let copy = try Store.inMemory(schema: try Schema(definition))
            _ = isCSV ? try copy.importing("Player", csv: csv) : try copy.importing("Player", json)
            #expect(try copy.graph.count(of: "Card") == 1)
        }
    }

    @Test func `an object whose identity contains null is written, but only an import that skips errors accepts the rows`() throws {
        let schema = try Schema {
            EntityDefinition("Pet", identity: ["name"]) { AttributeDefinition("name", .string, .optional) }
        }
        let (store, copy) = (try Store.inMemory(schema: schema), try Store.inMemory(schema: schema))
        try store.write { transaction in for name in ["Rex", .null] as [Value] { try transaction.insert("Pet", ["name": name]) } }
        let json = try store.graph.exported("Pet") { $0.references = .identity }
        #expect(json == #"{"name":"Rex"}"# + "\n" + #"{"name":null}"# + "\n")
        #expect(copy.refusal("Pet", json)?.code == .missingIdentity)
        #expect(try copy.importing("Pet", json) { $0.onError = .skip }.counts.inserted == 1)
    }

    @Test(arguments: [ExportOptions.Format.lines, .csv])
    func `references to objects whose identity is JSON are read back as the same values`(format: ExportOptions.Format) throws {
        let schema = try Schema {
            EntityDefinition("Key", identity: ["value"]) { AttributeDefinition("value", .json) }
            EntityDefinition("Door", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("main", to: "Key")
                RelationshipDefinition("others", to: "Key", .toMany)
            }
        }
        let store = try Store.inMemory(schema: schema)
        try store.importing("Key", #"{"value":5}{"value":"5"}{"value":true}{"value":[1,";"]}{"value":{"value":5}}"#)
        try store.importing("Door", #"{"id":1,"main":{"value":{"value":5}},"others":["5",{"value":[1,";"]},true]}{"id":2,"main":5}"#)
        func doors(_ graph: Graph, _ format: ExportOptions.Format) throws -> String {
            try graph.exported("Door") { ($0.format, $0.references) = (format, .identity) }
        }
        let copy = try Store.inMemory(schema: schema)
        let text = try doors(store.graph, format)
        _ = format == .csv ? try copy.importing("Door", csv: text) : try copy.importing("Door", text)
        #expect(try doors(copy.graph, .lines) == doors(store.graph, .lines) && copy.graph.count(of: "Key") == 5)
    }

    @Test func `objects are sorted by identity if only a sub-entity has one`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Animal") { AttributeDefinition("name", .string) }
                EntityDefinition("Cat", parent: "Animal", identity: ["tag"]) { AttributeDefinition("tag", .int64) }
            })
        try store.importing("Animal", #"{"name":"x"}{"_entity":"Cat","name":"a","tag":9}{"name":"w"}"#)
        try store.importing("Cat", #"{"name":"b","tag":3}{"name":"c","tag":5}"#)
        let names = try store.graph.exported("Animal") { ($0.references, $0.content) = (.identity, .names) }
        let cats = [3, 5, 9].map { #"{"_entity":"Cat","tag":\#($0)}"# }
        let animals = [String](repeating: #"{"_entity":"Animal"}"#, count: 2)
        #expect(names == (animals + cats).joined(separator: "\n") + "\n")
    }

    @Test func `CSV is refused if it includes a stub that lacks a mandatory value`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Country", identity: ["code"]) {
                    AttributeDefinition("code", .string)
                    AttributeDefinition("title", .string)
                }
                EntityDefinition("City", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("country", to: "Country")
                }
            })
        func csv(_ references: ExportOptions.Reference) throws -> String {
            try store.graph.exported("City", including: ["country"]) { ($0.format, $0.references) = (.csv, references) }
        }
        try store.importing("City", #"{"id":1,"country":"es"}"#)
        #expect(code { _ = try csv(.identity) } == .invalidInput)
        #expect(try csv(.id).hasPrefix("_id,id,country._id,"))
        try store.importing("Country", #"{"code":"es","title":""}"#)
        #expect(try csv(.identity) == "id,country.code,country.title\r\n1,es,\"\"\r\n")
    }
}
