import Foundation

/// The input files of commands.
enum SampleInput {
    static let schema = """
        { "entities": {
            "Note": { "identity": ["id"],
              "attributes": { "id": {"type": "int64"}, "title": {"type": "string", "default": ""},
                              "price": {"type": "decimal", "optional": true}, "when": {"type": "date", "optional": true},
                              "tree": {"type": "json", "optional": true}, "blob": {"type": "data", "optional": true} },
              "relationships": { "items": {"to": "Item", "many": true, "inverse": "note", "onDelete": "cascade"},
                                 "memos": {"to": "Memo", "many": true, "ordered": true, "inverse": "note", "onDelete": "cascade"},
                                 "tags": {"to": "Tag", "many": true, "inverse": "notes"} } },
            "Item": { "attributes": { "name": {"type": "string", "optional": true} },
                      "relationships": { "note": {"to": "Note", "inverse": "items"} } },
            "Memo": { "attributes": { "text": {"type": "string", "optional": true} },
                      "relationships": { "note": {"to": "Note", "inverse": "memos"} } },
            "Tag": { "identity": ["name"], "attributes": { "name": {"type": "string"} },
                     "relationships": { "notes": {"to": "Note", "many": true, "inverse": "tags"} } } } }
        """

    /// Returns the rows of an import that is so large that the store writes the ops of its transaction to a separate file.
    static func manyRows(_ word: String) -> String {
        (100..<140).map { number in
            """
            {"id":\(number),"title":"\(word) \(number) \(String(repeating: "wide ", count: number % 9))","price":\(number).25,\
            "when":"2024-02-03T04:05:06.\(number)Z","tree":{"a":[\(number),null]},"blob":"AAECAw==","tags":["red","green"],\
            "items":[{"name":"row \(number)"}]}

            """
        }.joined()
    }

    static func write(to directory: String) throws {
        let (oldName, newName) = (
            "\"name\": {\"type\": \"string\", \"optional\": true}", "\"name\": {\"type\": \"string\", \"default\": \"-\"}"
        )
        let size = ", \"size\": {\"type\": \"int64\", \"default\": 3}"
        let rows = "{\"id\":1,\"title\":\"imported\",\"tags\":[\"blue\"]},{\"id\":900,\"title\":\"new\",\"items\":[{\"name\":\"x\"}]}"
        let files = [
            "schema.json": schema, "next.json": schema.replacing(oldName, with: newName + size), "rows.json": "[\(rows)]",
        ]
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: directory + "/" + name)) }
    }
}
