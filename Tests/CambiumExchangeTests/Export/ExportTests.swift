import Cambium
import CambiumJSON
import CambiumLog
import TestFixtures
import Testing

@Suite struct ExportTests {
    private static func store() throws -> Store {
        let store = try Store.notes()
        try store.importing("Note", #"{"id":2,"title":"b","items":[{"key":"y","tags":["red"]},{"key":"x;,","count":1}],"related":[1]}"#)
        try store.importing("Note", #"{"id":1,"title":"\"a\"","memos":[{"text":"m"},{}]}"#)
        return store
    }

    @Test func `ids are the default, and an array and lines have the same objects`() throws {
        let graph = try Self.store().graph
        let lines = try graph.exported("Item")
        #expect(
            lines == """
                {"_id":"Item/1","key":"y","count":null,"note":"Note/1","tags":["Tag/1"]}
                {"_id":"Item/2","key":"x;,","count":1,"note":"Note/1","tags":[]}

                """)
        let array = try graph.exported("Item") { $0.format = .array }
        #expect(array == "[" + lines.dropLast().split(separator: "\n").joined(separator: ",\n") + "]\n")
        #expect(try graph.exported(nil) == graph.export)
        #expect(try Store.notes().graph.exported(nil) { $0.format = .array } == "[]\n")
    }

    @Test func `identities replace ids if ids are not wanted, and order the objects`() throws {
        let graph = try Self.store().graph
        #expect(
            try graph.exported("Item") { $0.references = .identity }
                == """
                {"key":"x;,","count":1,"note":2,"tags":[]}
                {"key":"y","count":null,"note":2,"tags":["red"]}

                """)
        // Memos have no identity. A tag of which only the name is known is not exported as a row.
        let notes = try graph.exported("Note") { ($0.references, $0.nulls) = (.identity, .omit) }
        #expect(
            notes == "{\"id\":1,\"title\":\"\\\"a\\\"\",\"items\":[],\"related\":[2]}\n"
                + "{\"id\":2,\"title\":\"b\",\"items\":[\"x;,\",\"y\"],\"related\":[1]}\n")
        #expect(try graph.exported("Tag") { $0.references = .identity } == "")
    }

    @Test func `objects are sorted by the bytes of their identities`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Place", identity: ["city", "street"]) {
                    AttributeDefinition("city", .string)
                    AttributeDefinition("street", .string)
                }
            })
        let places = ["a", "a\u{0}", "a\u{1}", "a b", "a!", "a\"", "a/", "aa", "\u{E9}"].flatMap { city in ["x", "x y"].map { (city, $0) } }
        try store.write { transaction in
            for (city, street) in places.reversed() { try transaction.insert("Place", ["city": .string(city), "street": .string(street)]) }
        }
        let rows = try store.graph.exported("Place") { $0.references = .identity }.split(separator: "\n").map {
            try JSONValue(parsing: $0.utf8)
        }
        #expect(rows.map { $0["city"]?.string ?? "" } == places.map { $0.0 })
        #expect(rows.map { $0["street"]?.string ?? "" } == places.map { $0.1 })
    }

    @Test func `included objects are nested, and objects on the path are named`() throws {
        let graph = try Self.store().graph
        #expect(
            try graph.json("Item/2", including: ["note"]).hasSuffix(
                #""note":{"_id":"Note/1","id":2,"title":"b","rating":null,"created":null,"items":["Item/1","Item/2"],"memos":[],"#
                    + #""related":["Note/2"]},"tags":[]}"#))
        #expect(
            try graph.json("Note/1", including: ["related.related"]).contains(
                #""items":[],"memos":["Memo/1","Memo/2"],"related":["Note/1"]"#))
        let deep = try graph.exported("Item") { $0.include = IncludeTree(depth: 2) }
        #expect(deep.contains(#""items":["Item/1",{"_id":"Item/2","key":"x;,","count":1,"note":"Note/1","tags":[]}]"#))
    }

    @Test func `an export by identity omits the way back in nested objects unless it is included`() throws {
        let graph = try Self.store().graph
        let whole = try graph.exported("Note") { ($0.include, $0.references) = (IncludeTree(depth: 3), .identity) }
        #expect(whole.contains(#""memos":[{"text":"m"},{"text":null}]"#))
        #expect(whole.contains(#""items":[{"key":"x;,","count":1,"tags":[]},{"key":"y","count":null,"tags":["red"]}]"#))
        let asked = try graph.exported("Note", including: ["memos.note"]) { $0.references = .identity }
        #expect(asked.contains(#"{"text":"m","note":1}"#))
    }

    @Test func `objects are exported as ids alone, without nulls, and with flat keys`() throws {
        let graph = try Self.store().graph
        #expect(try graph.exported("Memo") { $0.content = .names } == "{\"_id\":\"Memo/1\"}\n{\"_id\":\"Memo/2\"}\n")
        #expect(try graph.exported("Item") { ($0.content, $0.references) = (.names, .identity) } == "{\"key\":\"x;,\"}\n{\"key\":\"y\"}\n")
        #expect(try graph.exported("Memo") { $0.nulls = .omit }.hasSuffix("{\"_id\":\"Memo/2\",\"note\":\"Note/2\"}\n"))
        let flat = try graph.exported("Memo", including: ["note"]) { ($0.keyPaths, $0.nulls) = (.flat, .omit) }
        #expect(
            flat.hasPrefix(
                #"{"_id":"Memo/1","text":"m","note._id":"Note/2","note.id":1,"note.title":"\"a\"","note.items":[],"#
                    + #""note.memos":["Memo/1","Memo/2"],"note.related":["Note/1"]}"#
            ))
    }

    @Test func `CSV with more columns than an import reads is refused`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Node") {
                    RelationshipDefinition("left", to: "Node")
                    RelationshipDefinition("right", to: "Node")
                }
            })
        func exported(depth: Int) throws -> String {
            try store.graph.exported("Node") { ($0.format, $0.include) = (.csv, IncludeTree(depth: depth)) }
        }
        #expect(try exported(depth: 3).split(separator: ",").count == 31)
        #expect(code { _ = try exported(depth: IncludeTree.depthMax) } == .limitExceeded)
    }

    @Test func `CSV has the columns of the schema and quotes the fields that need it`() throws {
        let graph = try Self.store().graph
        #expect(
            try graph.exported("Item") { $0.format = .csv }
                == "_id,key,count,note,tags\r\nItem/1,y,,Note/1,Tag/1\r\nItem/2,\"x;,\",1,Note/1,\r\n")
        #expect(
            try graph.exported("Note") { ($0.format, $0.references) = (.csv, .identity) }
                == "id,title,rating,created,items,related\r\n1,\"\"\"a\"\"\",,,,2\r\n2,b,,,\"x\\;,;y\",1\r\n")
        #expect(
            try graph.exported("Memo", including: ["note"]) { ($0.format, $0.references) = (.csv, .identity) }
                == "text,note.id,note.title,note.rating,note.created,note.items,note.related\r\n"
                + "m,1,\"\"\"a\"\"\",,,,2\r\n,1,\"\"\"a\"\"\",,,,2\r\n")
        #expect(
            try graph.exported("Note", including: ["memos"]) { ($0.format, $0.references) = (.csv, .identity) }
                .contains("1,\"\"\"a\"\"\",,,,\"[{\"\"text\"\":\"\"m\"\"},{\"\"text\"\":null}]\",2\r\n"))
        #expect(try graph.exported("Note") { ($0.format, $0.content) = (.csv, .names) } == "_id\r\nNote/1\r\nNote/2\r\n")
        #expect(code { _ = try graph.exported(nil) { $0.format = .csv } } == .invalidInput)
    }

    @Test func `a record of CSV is not an empty line, even if its object has no value`() throws {
        func emptyStore() throws -> Store {
            try Store.inMemory(
                schema: Schema {
                    EntityDefinition("Name") { AttributeDefinition("text", .string, .optional) }
                    EntityDefinition("Mark")
                    EntityDefinition("Code", identity: ["code"]) { AttributeDefinition("code", .string) }
                })
        }
        let (store, copy) = (try emptyStore(), try emptyStore())
        try store.importing("Name", #"{"text":null}{"text":""}{"text":"a"}{}"#)
        try store.importing("Mark", "{}{}")
        try store.importing("Code", #"{"code":""}"#)
        let csv = [
            "Name": "_entity,text\r\nName,\r\nName,\"\"\r\nName,a\r\nName,\r\n", "Mark": "_entity\r\nMark\r\nMark\r\n",
            "Code": "code\r\n\"\"\r\n",
        ]
        for (entity, text) in csv {
            #expect(try store.graph.exported(entity) { ($0.format, $0.references) = (.csv, .identity) } == text)
            try copy.importing(entity, csv: text)
            #expect(try copy.graph.exported(entity) == store.graph.exported(entity))
        }
    }

    @Test func `a reference to an object whose identity is null is empty in CSV`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("City", identity: ["name"]) {
                    AttributeDefinition("name", .string, .optional)
                    RelationshipDefinition("people", to: "Person", .toMany, inverse: "home")
                    RelationshipDefinition("visitors", to: "Person", .toMany, inverse: "visited")
                }
                EntityDefinition("Person", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("home", to: "City", inverse: "people")
                    RelationshipDefinition("visited", to: "City", .toMany, inverse: "visitors")
                }
            })
        try store.write { transaction in
            let city = try transaction.insert("City")
            for (id, name) in [(1, "Rome"), (2, "")] {
                let person = try transaction.insert("Person", ["id": .int(Int64(id))])
                try transaction.link(person, "home", city)
                try transaction.link(person, "visited", city)
                if !name.isEmpty { try transaction.link(person, "visited", transaction.insert("City", ["name": .string(name)])) }
            }
        }
        let csv = try store.graph.exported("Person") { ($0.format, $0.references) = (.csv, .identity) }
        #expect(csv == "id,home,visited\r\n1,,Rome\r\n2,,\r\n")
    }

    @Test func `an object of one of several entities states its entity`() throws {
        var definition = SchemaDefinition {
            EntityDefinition("Animal", identity: ["name"]) { AttributeDefinition("name", .string) }
            EntityDefinition("Dog", parent: "Animal") { AttributeDefinition("breed", .string, .optional) }
            EntityDefinition("Cat", parent: "Animal") { AttributeDefinition("lives", .int16, default: 9) }
            EntityDefinition("Owner", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("pet", to: "Animal")
            }
        }
        definition.entities[0].isAbstract = true
        let store = try Store.inMemory(schema: try Schema(definition))
        let csv = "_entity,name,breed,lives\r\nDog,Rex,,\r\nCat,Tom,,7\r\n"
        try store.importing("Animal", csv: csv)
        #expect(try store.graph.exported("Animal") { ($0.format, $0.references) = (.csv, .identity) } == csv)
        try store.importing("Owner", #"{"id":1,"pet":"Tom"}"#)
        let owner = try store.graph.exported("Owner", including: ["pet"]) { $0.references = .identity }
        #expect(owner == #"{"id":1,"pet":{"_entity":"Cat","name":"Tom","lives":7}}"# + "\n")
        #expect(try store.graph.exported("Dog") { $0.references = .identity } == "{\"name\":\"Rex\",\"breed\":null}\n")
        let all = try store.graph.exported(nil) { $0.references = .identity }
        let copy = try Store.inMemory(schema: try Schema(definition))
        try copy.importing("Owner", all) { $0.unknown = .error }
        #expect(try copy.graph.exported(nil) { $0.references = .identity } == all)
    }

    @Test func `a hierarchy whose objects name each other is exported and imported without a mapping`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Person", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("boss", to: "Person", inverse: "staff")
                RelationshipDefinition("staff", to: "Person", .toMany, inverse: "boss")
            }
            EntityDefinition("Manager", parent: "Person") { AttributeDefinition("car", .string, .optional) }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        try store.importing(
            "Person", #"[{"_entity":"Manager","id":3,"car":"van"},{"_entity":"Manager","id":2,"boss":3},{"id":1,"boss":2}]"#)
        let all = try store.graph.exported("Person") { $0.references = .identity }
        #expect(all.hasPrefix(#"{"_entity":"Person","id":1,"boss":{"_entity":"Manager","id":2},"staff":[]}"# + "\n"))
        let copy = try Store.inMemory(schema: try Schema(definition))
        try copy.importing("Person", all) { $0.unknown = .error }
        #expect(try copy.graph.exported("Person") { $0.references = .identity } == all)
        #expect(try copy.importing("Person", all).transaction == nil)
        let mapping = ImportMapping(attributes: ["id": "no"], relationships: ["boss": "above.boss"])
        let mapped = try store.graph.exported("Person") { $0.mapping = mapping }
        let other = try Store.inMemory(schema: try Schema(definition))
        try other.importing("Person", mapped) { ($0.mapping, $0.unknown) = (mapping, .error) }
        #expect(try other.graph.exported("Person") { $0.references = .identity } == all)
    }

    @Test(arguments: [ExportOptions.Format.lines, .csv]) func `an import reads the deepest export`(format: ExportOptions.Format) throws {
        let definition = SchemaDefinition {
            EntityDefinition("Person", identity: ["id"]) {
                AttributeDefinition("id", .int64)
                RelationshipDefinition("boss", to: "Person")
            }
        }
        func exported(_ store: Store) throws -> String {
            try store.graph.exported("Person") {
                ($0.format, $0.references, $0.include) = (format, .identity, IncludeTree(depth: IncludeTree.depthMax))
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition))
        let copy = try Store.inMemory(schema: try Schema(definition))
        for id in 1...IncludeTree.depthMax { try store.importing("Person", "{\"id\":\(id),\"boss\":{\"id\":\(id + 1)}}") }
        let text = try exported(store)
        let report = format == .csv ? try copy.importing("Person", csv: text) : try copy.importing("Person", text)
        #expect(report.unknownKeys.isEmpty)
        #expect(copy.graph.objectCount == IncludeTree.depthMax + 1)
        #expect(try exported(copy) == text)
    }

    @Test func `an export refuses more levels than an import accepts`() throws {
        let path = Array(repeating: "related", count: IncludeTree.depthMax + 1).joined(separator: ".")
        #expect(code { _ = try Store.notes().graph.exported("Note", including: [path]) } == .limitExceeded)
    }
}
