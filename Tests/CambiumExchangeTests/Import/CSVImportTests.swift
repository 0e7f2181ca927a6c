import Cambium
import CambiumLog
import TestFixtures
import Testing

extension Store {
    @discardableResult
    func importing(_ entity: String, csv text: String, _ change: (inout ImportOptions) -> Void = { _ in }) throws -> ImportReport {
        var options = ImportOptions()
        change(&options)
        return try importRows(try schema.required(entity), from: [.bytes(Array(text.utf8), format: .csv)], options)
    }

    /// Returns the error with which the import is refused.
    func refusal(_ entity: String, csv text: [UInt8]) throws -> ImportReport.RowError? {
        var reached: ImportReport?
        do {
            _ = try importRows(try schema.required(entity), from: [.bytes(text, format: .csv)]) { reached = $0 }
        } catch is CambiumError {}  // `reached` has the error.
        return reached?.errors.last
    }
}

@Suite struct CSVImportTests {
    /// Makes a store with an entity that has an attribute of each type, a text as its identity and relationships of every kind.
    private static func store() throws -> Store {
        var definition = SchemaDefinition {
            EntityDefinition("Thing", identity: ["key"]) {
                AttributeDefinition("key", .string)
                RelationshipDefinition("next", to: "Thing", inverse: "previous")
                RelationshipDefinition("previous", to: "Thing", .toMany, inverse: "next")
                RelationshipDefinition("parts", to: "Part", .orderedToMany, inverse: "things")
                RelationshipDefinition("card", to: "Card", inverse: "things")
            }
            EntityDefinition("Part", identity: ["number"]) {
                AttributeDefinition("number", .int32)
                RelationshipDefinition("things", to: "Thing", .toMany, inverse: "parts")
            }
            EntityDefinition("Card", identity: ["suit", "value"]) {
                AttributeDefinition("suit", .string)
                AttributeDefinition("value", .int16)
                RelationshipDefinition("things", to: "Thing", .toMany, inverse: "card")
            }
        }
        definition.entities[0].attributes += AttributeType.allCases.map { AttributeDefinition($0.rawValue + "Value", $0, .optional) }
        return try Store.inMemory(schema: try Schema(definition))
    }

    private func imported(_ csv: String) throws -> String {
        let store = try Self.store()
        try store.importing("Thing", csv: csv)
        return try store.graph.json("Thing/1")
    }

    @Test(arguments: [
        ("boolValue", "true", "true"), ("boolValue", "FALSE", "false"), ("int16Value", "-7", "-7"), ("int32Value", "007", "7"),
        ("int64Value", "9223372036854775807", "9223372036854775807"), ("floatValue", "0.1", "0.1"), ("doubleValue", "1e3", "1000"),
        ("doubleValue", "-00.5", "-0.5"), ("decimalValue", "12345678901234567890.10", "12345678901234567890.1"),
        ("stringValue", "text", "\"text\""), ("stringValue", " 5 ", "\" 5 \""), ("stringValue", "null", "\"null\""),
        ("dataValue", "AQI=", "\"AQI=\""), ("dateValue", "2026-01-31T13:00:00.5+01:00", "\"2026-01-31T12:00:00.5Z\""),
        ("uuidValue", "00112233-4455-6677-8899-aabbccddeeff", "\"00112233-4455-6677-8899-AABBCCDDEEFF\""),
        ("uriValue", "http://example.org/a", "\"http://example.org/a\""), ("jsonValue", "\"{\"\"a\"\":[1,null]}\"", "{\"a\":[1,null]}"),
    ])
    func `a field is read according to the type of its attribute`(name: String, text: String, json: String) throws {
        #expect(try imported("key,\(name)\nk,\(text)\n").contains("\"\(name)\":\(json)"))
        let quoted = text.hasPrefix("\"") ? text : "\"\(text)\""
        #expect(try imported("\(name),key\r\n\(quoted),\"k\"").contains("\"\(name)\":\(json)"))
    }

    @Test(arguments: AttributeType.allCases)
    func `an empty field is null, and only a text in quotes can be empty`(type: AttributeType) throws {
        let (name, isText) = (type.rawValue + "Value", type == .string || type == .data)
        #expect(try imported("key,\(name)\nk,\n").contains("\"\(name)\":null"))
        #expect(try imported("key,\(name)\nk,\"\"\n").contains("\"\(name)\":\(isText ? "\"\"" : "null")"))
    }

    @Test func `quotes, separators and line ends inside quotes are text, with LF and with CRLF`() throws {
        for end in ["\n", "\r\n"] {
            let store = try Self.store()
            let rows = "\u{FEFF}key,stringValue\(end)\"a\"\"b\",\"1,2\(end)3\"\(end)\(end)\"\",\"\"\"\"\(end)c\u{1}\\,\u{E9}\u{1F332}"
            let report = try store.importing("Thing", csv: rows)
            #expect(report.rowCount == 3 && report.unknownKeys.isEmpty)
            let text = end == "\n" ? "\\n" : "\\r\\n"
            #expect(try store.graph.json("Thing/1").hasPrefix("{\"_id\":\"Thing/1\",\"key\":\"a\\\"b\","))
            #expect(try store.graph.json("Thing/1").contains("\"stringValue\":\"1,2\(text)3\""))
            let (second, third) = (try store.graph.json("Thing/2"), try store.graph.json("Thing/3"))
            #expect(second.contains("\"key\":\"\"") && second.contains("\"stringValue\":\"\\\"\""))
            #expect(third.contains("\"key\":\"c\\u0001\\\\\"") && third.contains("\u{E9}\u{1F332}"))
        }
    }

    @Test(arguments: ["\n", "\r\n", "\n\r\n\n", " \t\n", "  \r\n"])
    func `blank lines before the column names are skipped`(blank: String) throws {
        let store = try Self.store()
        let report = try store.importing("Thing", csv: "\u{FEFF}\(blank)key,stringValue\nk,a\n")
        #expect(report.counts.inserted == 1 && report.unknownKeys.isEmpty)
        let error = try #require(try store.refusal("Thing", csv: Array("\(blank)key\nk,a\n".utf8)))
        #expect(error.line == blank.count { $0.isNewline } + 2)
    }

    @Test func `relationships are identities, lists of identities, or columns of the related object`() throws {
        let store = try Self.store()
        try store.importing("Thing", csv: "key,next,previous,parts\nk,b,\"c\\;d;;e\\\\\",3;1;2;1\n")
        let things = try (1...5).map { try store.graph.json("Thing/\($0)") }
        #expect(things[0].contains(#""next":"Thing/2","previous":["Thing/3","Thing/4","Thing/5"],"parts":["Part/1","Part/2","Part/3"]"#))
        #expect(things[2].contains(#""key":"c;d""#) && things[3].contains(#""key":"""#) && things[4].contains(#""key":"e\\""#))
        #expect(try store.graph.json("Part/1").contains("\"number\":3"))
        let json = #""[2,{""number"":9}]","{""suit"":""h"",""value"":1}""#
        try store.importing("Thing", csv: "key,next,previous,parts,card\nk,,,\(json)\n")
        let changed = try store.graph.json("Thing/1")
        #expect(changed.contains(#""next":null,"previous":[],"parts":["Part/3","Part/4"],"card":"Card/1""#))
        let report = try store.importing("Thing", csv: "next.key,card.value,card.suit,next.next.key,key\nx,1,h,y,k\n,,,,x\n")
        #expect(report.unknownKeys.isEmpty && report.counts.inserted == 2 && report.counts.stubs == 0)
        #expect(try store.graph.json("Thing/1").contains(#""card":"Card/1""#) && store.graph.json("Thing/1").contains(#""next":"Thing/6""#))
    }

    @Test func `an empty field is a list without members, and an empty text in a list is a member`() throws {
        for (field, count) in [("", 0), ("\"\"", 1), (";", 1), ("a;", 2)] {
            let store = try Self.store()
            try store.importing("Thing", csv: "key,previous\nk,\(field)\n")
            #expect(store.graph.objectCount == count + 1, "\(field)")
        }
    }

    @Test(arguments: [
        ("key,stringValue\nk\n", 2, 1, "the number of fields is 1, but the number of columns in the first record is 2, at column 2"),
        ("key\nk\n\nk,,\n", 4, 2, "the number of fields is 3, but the number of columns in the first record is 1, at column 3"),
        (
            "key,stringValue\n\"a\nb\",c\n\"k\nl\",\"x\ny", 4, 2,
            "a quoted field does not end; its second quotation mark is missing, at line 5, column 4"
        ),
        ("key\nk\"x\n", 2, 1, "a quotation mark is inside a field without quotation marks; put them around the field, at column 2"),
        (
            "key\n\"k\"x\n", 2, 1,
            "text follows the quotation mark that ends a field; write each quotation mark in a text twice, at column 4"
        ),
        ("key\n\"k\"\rx\n", 2, 1, "no LF follows a CR; a line ends with LF or CRLF, and any other CR must be in quotes, at column 4"),
        ("key\na\rb\r", 2, 1, "no LF follows a CR; a line ends with LF or CRLF, and any other CR must be in quotes, at column 2"),
        ("key\na\n\"b\"\r", 3, 2, "no LF follows a CR; a line ends with LF or CRLF, and any other CR must be in quotes, at column 4"),
        (
            "key,stringValue\n\"a\nb\" ,\n", 2, 1,
            "text follows the quotation mark that ends a field; write each quotation mark in a text twice, at line 3, column 3"
        ),
    ])
    func `a malformed record is reported with its line and column`(csv: String, line: Int, row: Int, message: String) throws {
        let store = try Self.store()
        let error = try #require(try store.refusal("Thing", csv: Array(csv.utf8)))
        #expect(error.code == .malformed && error.line == line && error.message == "malformed CSV: \(message)")
        #expect(error.row == row && store.graph.objectCount == 0)
    }

    @Test(arguments: [
        ("key,int16Value\nk,x\n", "/int16Value"), ("key,int16Value\nk,40000\n", "/int16Value"), ("key,dateValue\nk,today\n", "/dateValue"),
        ("key,boolValue\nk,yes\n", "/boolValue"), ("key,jsonValue\nk,{\n", "/jsonValue"),
        ("key,jsonValue\nk,\"1,\"\"key\"\":2\"\n", "/jsonValue"),
        ("key,parts\nk,1;x\n", "/parts/1"), ("key,card\nk,h\n", "/card"), ("key,card.suit,card.value\nk,h,x\n", "/card/value"),
        ("key,doubleValue\nk,0x10\n", "/doubleValue"), ("key,doubleValue\nk,NaN\n", "/doubleValue"),
        ("key,int64Value\nk, 1\n", "/int64Value"),
    ])
    func `a field of the wrong type is refused as in JSON`(csv: String, pointer: String) throws {
        let error = try #require(try Self.store().refusal("Thing", csv: Array(csv.utf8)))
        #expect(error.code == .typeMismatch && error.pointer == pointer && error.row == 1 && error.line == 2)
    }

    @Test(arguments: [
        "key,\n", "key,key\n", "key\rk\r", "\"key\"\r1\r", "key\r", "\"key\n", "a\"b\n", "next,next.key\n", "card.suit,card\n",
    ])
    func `malformed, empty and duplicate column names are refused`(csv: String) throws {
        let store = try Self.store()
        #expect(code { try store.importing("Thing", csv: csv + "1,2\n") } == .invalidInput)
    }

    @Test(arguments: [";", "\t", "|"])
    func `a file with other separators than commas is refused before its first row`(separator: String) throws {
        let store = try Self.store()
        let csv = ["key\(separator)next", "k\(separator)b", ""].joined(separator: "\n")
        #expect(try store.refusal("Thing", csv: Array(csv.utf8)) == nil)
        #expect(code { try store.importing("Thing", csv: csv) { $0.onError = .skip } } == .invalidInput)
    }

    @Test func `malformed records and unknown columns do not affect other records`() throws {
        let store = try Self.store()
        let rows = "key,other,next.other\na,1,\n\"b\"x,,\nc\nd,,\n\"e,1,2\nf,2,\ng,h,\"i"
        let report = try store.importing("Thing", csv: rows) { $0.onError = .skip }
        #expect(report.errors.map(\.line) == [3, 4, 6, 8] && report.counts.inserted == 3)
        #expect(report.unknownKeys["other"] == 3)
    }

    @Test func `a doubled quote in a column name is one quote, even if a combining mark follows`() throws {
        let report = try Self.store().importing("Thing", csv: "key,\"a\"\"b\",\"\"\"\"\"\u{301}\"\nk,1,2\n")
        #expect(report.unknownKeys == ["a\"b": 1, "\"\"\u{301}": 1])
    }

    @Test func `a record with bytes that are not UTF-8 is malformed`() throws {
        let error = try #require(try Self.store().refusal("Thing", csv: Array("key,stringValue\n\u{E9},".utf8) + [0xFF, 0x0A]))
        #expect(error.message == "malformed CSV: the text has bytes that are not UTF-8, at column 4" && error.line == 2)
    }

    @Test func `a column states the entity of a record, and empty fields of other entities are ignored`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Animal", identity: ["name"]) { AttributeDefinition("name", .string) }
            EntityDefinition("Dog", parent: "Animal") { AttributeDefinition("breed", .string, default: "mutt") }
            EntityDefinition("Cat", parent: "Animal") { AttributeDefinition("lives", .int16, .optional, default: 9) }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        let report = try store.importing("Animal", csv: "kind,name,breed,lives\nDog,Rex,collie,\nc,Tom,,\n") {
            $0.mapping = ImportMapping(entityFrom: "kind", entityNames: ["c": "Cat"])
        }
        #expect(report.unknownKeys.isEmpty)
        #expect(try store.graph.json("Dog/1").contains("collie") && store.graph.json("Cat/2").contains("\"lives\":null"))
    }

    @Test func `an empty field of another sub-entity is no unknown key, even if no column states the entities`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Media", identity: ["id"]) { AttributeDefinition("id", .int64) }
                EntityDefinition("Book", parent: "Media") { AttributeDefinition("pages", .int32, .optional) }
                EntityDefinition("Song", parent: "Media") { AttributeDefinition("seconds", .int32, .optional) }
            })
        let store = try Store.inMemory(schema: schema)
        try store.importing("Media", "{\"_entity\":\"Book\",\"id\":1}\n{\"_entity\":\"Song\",\"id\":2}\n{\"id\":3}")
        let csv = "pages,id,seconds,other\n7,1,,\n,2,8,\n,3,,\n"
        let report = try store.importing("Media", csv: csv)
        #expect(report.unknownKeys == ["other": 3] && report.counts.updated == 2 && report.counts.unchanged == 1)
        try store.importing("Media", csv: "pages,id,seconds\n8,1,\n,3,\n") { $0.unknown = .error }
        #expect(throws: CambiumError.self) { try store.importing("Media", csv: "id,seconds\n1,5\n") { $0.unknown = .error } }
    }

    @Test func `an empty field of the column _entity means the entity of the import`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Item", identity: ["id"]) { AttributeDefinition("id", .int64) }
            EntityDefinition("Book", parent: "Item")
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        let report = try store.importing("Item", csv: "_entity,id\n,1\n\"\",2\nBook,3\n") { $0.unknown = .error }
        #expect(report.counts.inserted == 3 && report.errors.isEmpty)
        #expect(try ["Item/1", "Item/2", "Book/3"].allSatisfy { try store.graph.json($0).contains("\"id\"") })
        // JSON can omit the key, so null is an error there.
        #expect(code { _ = try store.importing("Item", "{\"_entity\":null,\"id\":4}") } != nil)
        try store.importing("Item", csv: "_entity,id\n,3\n")
        #expect(try store.graph.json("Book/3").contains("\"id\":3"))
    }

    @Test func `an empty field appends no members and removes none`() throws {
        let store = try Self.store()
        try store.importing("Thing", csv: "key,parts,next\na,1;2,b\n")
        try store.importing("Thing", csv: "key,parts,next\na,,\n") { $0.toMany = .append }
        let kept = try store.graph.json("Thing/1")
        #expect(kept.contains("\"parts\":[\"Part/1\",\"Part/2\"]") && kept.contains("\"next\":null"))
        try store.importing("Thing", csv: "key,parts\na,\n")
        #expect(try store.graph.json("Thing/1").contains("\"parts\":[]"))
    }

    @Test func `properties of sub-entities may have one name and different types`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Item", identity: ["id"]) { AttributeDefinition("id", .int64) }
            EntityDefinition("Book", parent: "Item") { AttributeDefinition("code", .int64) }
            EntityDefinition("Disc", parent: "Item") { AttributeDefinition("code", .string) }
            EntityDefinition("Case", parent: "Item") { RelationshipDefinition("code", to: "Item", .toMany) }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        let csv = "_entity,id,code\r\nBook,1,7\r\nDisc,2,007\r\nCase,3,1;2\r\n"
        try store.importing("Item", csv: csv)
        #expect(try store.graph.json("Disc/2").contains("\"code\":\"007\""))
        #expect(try store.graph.json("Case/3").contains("\"code\":[\"Book/1\",\"Disc/2\"]"))
    }

    @Test func `a file in pieces of any size is imported alike, and a second import changes nothing`() throws {
        let rows = "key,stringValue\r\n" + (1...50).map { "k\($0),\"a\"\"\r\n\($0)\"\r\n" }.joined()
        let bytes = Array(rows.utf8)
        var exports: Set<String> = []
        for piece in [1, 2, 3, 7, 100_000] {
            let store = try Self.store()
            let source = ImportSource(name: "pieces", isRepeatable: true, format: .csv) {
                var offset = 0
                return { buffer in
                    let count = min(piece, buffer.count, bytes.count - offset)
                    buffer.copyBytes(from: bytes[offset..<offset + count])
                    offset += count
                    return count
                }
            }
            let thing = try store.schema.required("Thing")
            #expect(try store.importRows(thing, from: [source]).counts.inserted == 50)
            #expect(try store.importRows(thing, from: [source]).transaction == nil)
            exports.insert(store.graph.export)
        }
        #expect(exports.count == 1)
    }

    @Test(arguments: [("key,next,next.key", "exclude each other"), ("key,next.key,next", "exclude each other"), ("key,key", "two columns")])
    func `the error for columns that contradict each other states the reason`(names: String, reason: String) throws {
        let store = try Self.store()
        let error = #expect(throws: CambiumError.self) { try store.importing("Thing", csv: names + "\n") }
        #expect(error?.code == .invalidInput && error?.message.contains(reason) == true)
    }

    @Test func `an empty file and a file of only column names have no rows`() throws {
        for text in ["", "\n\r\n", "\u{FEFF}", "key", "key,next\r\n\r\n"] {
            #expect(try Self.store().importing("Thing", csv: text).rowCount == 0)
        }
    }
}
