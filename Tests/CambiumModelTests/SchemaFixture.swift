import CambiumJSON
import CambiumModel

/// Short schemas, and the mistakes in them.
enum SchemaFixture {
    static func definition(_ entities: String) throws -> SchemaDefinition {
        try SchemaDefinition(json: Array("{\"entities\":{\(entities)}}".utf8), file: "schema.json")
    }

    static func schema(_ entities: String) throws -> Schema { try Schema(definition(entities)) }

    /// Returns an entity `E` with one attribute `a`.
    static func attribute(_ words: String) -> String { "\"E\":{\"attributes\":{\"a\":{\(words)}}}" }

    /// Returns an entity `E` with one relationship `r`, and an entity `F` with a to-one relationship `e` to `E`.
    static func relationship(_ words: String, back: String = "\"to\":\"E\"") -> String {
        "\"E\":{\"relationships\":{\"r\":{\(words)}}},\"F\":{\"relationships\":{\"e\":{\(back)}}}"
    }

    /// Returns the error of loading a schema, or `nil` if the schema is valid.
    static func error(_ entities: String) -> CambiumError? { error(json: "{\"entities\":{\(entities)}}") }

    static func error(json: String) -> CambiumError? { error(json: Array(json.utf8)) }

    static func error(json: [UInt8]) -> CambiumError? {
        do {
            _ = try Schema(SchemaDefinition(json: json, file: "schema.json"))
            return nil
        } catch {
            return error
        }
    }

    /// Returns the pointers of an error's mistakes, in order.
    static func pointers(_ error: CambiumError?) -> [String] {
        let lines = error?.details ?? []
        return lines.compactMap { $0.split(separator: ":").first?.trimmingPrefix { $0 == " " } }.map(String.init)
    }

    /// The example of the guide to schemas.
    static let example = """
        { "entities": {
            "Note": {
              "identity": ["id"],
              "attributes": {
                "id":         { "type": "uuid", "userInfo": { "rebuild": "uuid" } },
                "createDate": { "type": "date", "optional": true, "userInfo": { "rebuild": "now" } },
                "title":      { "type": "string", "default": "", "maxLength": 200 },
                "index":      { "type": "int32", "optional": true, "default": 0 } },
              "relationships": {
                "items": { "to": "Item", "many": true, "inverse": "note", "onDelete": "cascade" },
                "memos": { "to": "Memo", "many": true, "ordered": true, "inverse": "note" } } },
            "Item": { "attributes": { "name": { "type": "string", "optional": true } },
                      "relationships": { "note": { "to": "Note", "inverse": "items" } } },
            "Memo": { "attributes": { "text": { "type": "string", "optional": true } },
                      "relationships": { "note": { "to": "Note", "inverse": "memos" } } } } }
        """

    /// The same schema in Swift.
    static let builtExample: SchemaDefinition = {
        var id = AttributeDefinition("id", .uuid)
        id.userInfo = ["rebuild": "uuid"]
        var createDate = AttributeDefinition("createDate", .date, .optional)
        createDate.userInfo = ["rebuild": "now"]
        var title = AttributeDefinition("title", .string, default: "")
        title.maxLength = 200
        return SchemaDefinition {
            EntityDefinition("Note", identity: ["id"]) {
                id
                createDate
                title
                AttributeDefinition("index", .int32, .optional, default: 0)
                RelationshipDefinition("items", to: "Item", .toMany, inverse: "note", onDelete: .cascade)
                RelationshipDefinition("memos", to: "Memo", .orderedToMany, inverse: "note")
            }
            EntityDefinition("Item") {
                AttributeDefinition("name", .string, .optional)
                RelationshipDefinition("note", to: "Note", inverse: "items")
            }
            EntityDefinition("Memo") {
                AttributeDefinition("text", .string, .optional)
                RelationshipDefinition("note", to: "Note", inverse: "memos")
            }
        }
    }()

    /// A schema with everything that a schema can contain.
    static let everything = """
        "Base":{"abstract":true,"attributes":{"key":{"type":"string","regex":"[a-z]+","minLength":1,"maxLength":9}},
        "userInfo":{"a":"1","b":"2"},"renamedFrom":"Root"},
        "Leaf":{"parent":"Base","identity":["key"],"attributes":{"n":{"type":"int16","optional":true,"default":3,"min":-5,"max":5,
        "enum":[3,4,5],"transient":true,
        "renamedFrom":"m","userInfo":{"x":"y"}},"when":{"type":"date","min":"2001-01-01T00:00:00Z"},
        "blob":{"type":"data","optional":true,"default":"AP8="}},
        "relationships":{"up":{"to":"Leaf","inverse":"down","onDelete":"deny","min":1,"max":1,
        "userInfo":{"clone":"skip"},"renamedFrom":"above"},
        "down":{"to":"Leaf","many":true,"ordered":true,"onDelete":"cascade","min":2,"max":7,"inverse":"up"},
        "friends":{"to":"Leaf","many":true,"inverse":"friends","onDelete":"noAction"},
        "hidden":{"to":"Base","many":true}},"unique":[["n","when"],["when"]],"indexes":[["n"],["key","n"]],
        "queries":{"small":{"where":"n < $max","sort":"-n","limit":3},"near":{"of":"Base","where":"key == $source.key"},"all":{}}}
        """
}
