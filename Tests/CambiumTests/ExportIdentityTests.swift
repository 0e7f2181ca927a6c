import Testing

@testable import Cambium

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
        let csv = try store.graph.exported("Player") { ($0.format, $0.references) = (.csv, .identity) }
        #expect(csv == "id,first,cards,pets\r\n" + #"1,,"[{""suit"":""clubs"",""value"":7},null]","# + "\r\n")
        for isCSV in [false, true] {
            let copy = try Store.inMemory(schema: try Schema(definition))
            _ = isCSV ? try copy.importing("Player", csv: csv) : try copy.importing("Player", json)
            #expect(try copy.graph.count(of: "Card") == 1)
        }
    }
}
