import CambiumModel
import CambiumTesting
import Testing

@Suite struct `Mistakes in schemas` {
    /// Entities, the pointer of their only mistake, and a part of its message.
    static let structure: [(String, String, String)] = [
        (#""E":[]"#, "/entities/E", "found an array"), (#""E":{"attribute":{}}"#, "/entities/E/attribute", "key is unknown"),
        (#""E":{"attributes":[]}"#, "/entities/E/attributes", "expected an object"),
        (#""E":{"relationships":1}"#, "/entities/E/relationships", "found a number"),
        (#""E":{"number":1}"#, "/entities/E/number", "key is unknown"),
        (#""E":{"abstract":1}"#, "/entities/E/abstract", "expected true or false"),
        (#""E":{"identity":"a"}"#, "/entities/E/identity", "expected an array"),
        (#""E":{"identity":[1]}"#, "/entities/E/identity/0", "expected a string"),
        (#""E":{"unique":["a"]}"#, "/entities/E/unique/0", "expected an array"),
        (#""E":{"userInfo":{"a":1}}"#, "/entities/E/userInfo/a", "expected a string"),
        (#""E":{"userInfo":{"exclude":null}}"#, "/entities/E/userInfo/exclude", "found null"),
        (#""E":{"attributes":{"a":{"type":"bool"}},"unique":[["a",null]]}"#, "/entities/E/unique/0/1", "found null"),
        (#""E":{"identity":[null]}"#, "/entities/E/identity/0", "found null"),
        (#""E":{"relationships":{"r":{"to":null}}}"#, "/entities/E/relationships/r/to", "found null"),
        (#""E":{"parent":5}"#, "/entities/E/parent", "expected a string"),
        (#""E":{"attributes":{"a":"int32"}}"#, "/entities/E/attributes/a", "found a string"),
        (#""E":{"a/b~c":1}"#, "/entities/E/a~1b~0c", "key is unknown"), (#""9":{}"#, "/entities/9", "begin with a letter"),
        (#""_E":{}"#, "/entities/_E", "begin with a letter"), (#""":{}"#, "/entities/", "begin with a letter"),
        (#""a/b":{}"#, "/entities/a~1b", "begin with a letter"), (#""a b":{}"#, "/entities/a b", "begin with a letter"),
        ("\"\(String(repeating: "n", count: 201))\":{}", "/entities/\(String(repeating: "n", count: 201))", "at most 200"),
        (#""E":{"parent":"F"}"#, "/entities/E/parent", "no entity 'F'"), (#""E":{"parent":"E"}"#, "/entities/E/parent", "form a cycle"),
        (#""E":{"renamedFrom":"X"},"F":{"renamedFrom":"X"}"#, "/entities/F/renamedFrom", "two entities"),
        (#""E":{"identity":["a"]}"#, "/entities/E/identity/0", "no attribute 'a'"),
        (#""E":{"unique":[[]]}"#, "/entities/E/unique/0", "empty"),
        (#""E":{"indexes":[["a"]]}"#, "/entities/E/indexes/0/0", "no attribute 'a'"),
        (#""E":{"attributes":{"a":{"type":"bool"}},"indexes":[["a"],["-a[c]"]]}"#, "/entities/E/indexes/1/0", "not a string"),
        (#""E":{"attributes":{"a":{"type":"string"}},"indexes":[["a[cd]"]]}"#, "/entities/E/indexes/0/0", "only option"),
        (#""E":{"attributes":{"a":{"type":"bool"}},"indexes":[["a","-a"]]}"#, "/entities/E/indexes/0/1", "already"),
        (#""E":{"attributes":{"a":{"type":"bool"}},"unique":[["-a"]]}"#, "/entities/E/unique/0/0", "no attribute '-a'"),
        (#""E":{"attributes":{"a":{"type":"bool"}},"unique":[["a"],["a","a"]]}"#, "/entities/E/unique/1/1", "already"),
        (#""E":{"attributes":{"_id":{"type":"bool"}}}"#, "/entities/E/attributes/_id", "begin with a letter"),
        (#""E":{"attributes":{"a":{"type":"bool"}},"relationships":{"a":{"to":"E"}}}"#, "/entities/E/relationships/a", "two properties"),
        (
            #""E":{"attributes":{"a":{"type":"bool"}}},"F":{"parent":"E","attributes":{"a":{"type":"bool"}}}"#, "/entities/F/attributes/a",
            "inherits"
        ),
        (
            #""E":{"attributes":{"a":{"type":"bool"},"b":{"type":"bool"}},"identity":["a"]},"F":{"parent":"E","identity":["b"]}"#,
            "/entities/F/identity", "inherits its identity from 'E'"
        ),
    ]

    /// The words of an attribute `a`, the part of the pointer after `/entities/E/attributes/a`, and a part of the message.
    static let attributes: [(String, String, String)] = [
        ("", "", "'type' is missing"), (#""type":"text""#, "/type", "'text' is not a type"),
        (#""type":"Bool""#, "/type", "'Bool' is not a type"),
        (#""type":7"#, "/type", "found a number"), (#""type":null"#, "/type", "found null"),
        (#""type":"int64","derived":{"count":null}"#, "/derived/count", "found null"),
        (#""type":"bool","optional":"yes""#, "/optional", "expected true or false"),
        (#""type":"bool","mandatory":true"#, "/mandatory", "key is unknown"),
        (#""type":"int16","default":32768"#, "/default", "from -32768"),
        (#""type":"int16","default":"1""#, "/default", "found the string \"1\""),
        (#""type":"date","default":"2026-02-30T00:00:00Z""#, "/default", "a date with a day from 01 to 28"),
        (#""type":"string","enum":[null]"#, "/enum", "only null"),
        (#""type":"string","min":"a""#, "/min", "only numbers and dates"), (#""type":"bool","max":true"#, "/max", "only numbers and dates"),
        (#""type":"int32","min":1.5"#, "/min", "whole number"), (#""type":"int32","min":2,"max":1"#, "/min", "greater than the maximum"),
        (#""type":"int32","minLength":1"#, "/minLength", "only text and data"),
        (#""type":"string","maxLength":-1"#, "/maxLength", "0 or more"), (#""type":"string","maxLength":1.5"#, "/maxLength", "0 or more"),
        (#""type":"string","minLength":3,"maxLength":2"#, "/minLength", "greater than the maximum"),
        (#""type":"string","regex":"ab[c""#, "/regex", "at byte 2"), (#""type":"string","regex":"(a)\\1""#, "/regex", "at byte 3"),
        (#""type":"int32","regex":"a""#, "/regex", "only text"), (#""type":"string","regex":["a"]"#, "/regex", "found an array"),
        (#""type":"int32","enum":[]"#, "/enum", "allows no value"),
        (#""type":"int32","enum":[1,"2"]"#, "/enum/1", "found the string \"2\""),
        (#""type":"int32","enum":[1,2,1]"#, "/enum/2", "already"), (#""type":"int32","enum":1"#, "/enum", "expected an array"),
        (#""type":"int32","default":1,"min":2"#, "/default", "but the minimum is 2"),
        (#""type":"int32","default":1,"enum":[2,3]"#, "/default", "is not one of 2, 3"),
        (#""type":"string","default":"abc","maxLength":2"#, "/default", "length of 3"),
        (#""type":"string","default":"b","regex":"a*""#, "/default", "does not match"),
        (#""type":"double","default":1e999"#, "/default", "finite"),
        (#""type":"bool","transient":0"#, "/transient", "expected true or false"),
        (#""type":"bool","renamedFrom":[]"#, "/renamedFrom", "expected a string"),
        (#""type":"decimal","default":123456789012345678901234567890123456789"#, "/default", "38 digits"),
    ]

    /// The words of a relationship `r` of `E`, the part of the pointer after `/entities/E/relationships/r`, and a part of the message.
    static let relationships: [(String, String, String)] = [
        ("", "", "'to' is missing"), (#""to":"G""#, "/to", "no entity 'G'"), (#""to":7"#, "/to", "expected a string"),
        (#""to":"F","many":1"#, "/many", "expected true or false"), (#""to":"F","ordered":true"#, "/ordered", "can be ordered"),
        (#""to":"F","onDelete":"Cascade""#, "/onDelete", "'Cascade' is not a rule"), (#""to":"F","type":"one""#, "/type", "key is unknown"),
        (#""to":"F","min":2"#, "/min", "at most one"), (#""to":"F","max":2"#, "/max", "at most one"),
        (#""to":"F","many":true,"max":0"#, "/max", "allows no members"),
        (#""to":"F","many":true,"min":3,"max":2"#, "/min", "greater than the maximum"),
        (#""to":"F","min":-1"#, "/min", "0 or more"), (#""to":"F","inverse":"x""#, "/inverse", "no relationship 'x'"),
        (#""to":"E","many":true,"ordered":true,"inverse":"r""#, "/inverse", "its own inverse"),
        (#""to":"F","userInfo":{"clone":"move"}"#, "/userInfo/clone", "is not one of"),
        (#""to":"F","many":true,"inverse":"e","userInfo":{"clone":"share"}"#, "/userInfo/clone", "only one 'e'"),
    ]

    @Test(arguments: structure)
    func `a mistake in an entity is reported with its place`(_ entities: String, _ pointer: String, _ word: String) throws {
        try expect(SchemaFixture.error(entities), pointer, word)
    }

    @Test(arguments: attributes)
    func `a mistake in an attribute is reported with its place`(_ words: String, _ rest: String, _ word: String) throws {
        try expect(SchemaFixture.error(SchemaFixture.attribute(words)), "/entities/E/attributes/a" + rest, word)
    }

    @Test(arguments: relationships)
    func `a mistake in a relationship is reported with its place`(_ words: String, _ rest: String, _ word: String) throws {
        try expect(SchemaFixture.error(SchemaFixture.relationship(words)), "/entities/E/relationships/r" + rest, word)
    }

    private func expect(_ error: CambiumError?, _ pointer: String, _ word: String) throws {
        let error = try #require(error, "the schema was accepted")
        #expect(error.code == .invalidInput)
        #expect(error.place == CambiumError.Place(file: error.place?.file, pointer: pointer))
        #expect(error.message.hasPrefix("The schema has a mistake."))
        #expect(SchemaFixture.pointers(error) == [pointer])
        #expect(error.description.contains(word), "\(error)")
    }

    @Test func `a negative length or number of members in Swift is refused with its place`() {
        let error = #expect(throws: CambiumError.self) {
            try Schema {
                EntityDefinition("E") {
                    AttributeDefinition("a", .string, minLength: -2, maxLength: -1)
                    RelationshipDefinition("r", to: "E", .toMany, min: -2, max: -1)
                    RelationshipDefinition("s", to: "E", min: -1)
                }
            }
        }
        #expect(error?.code == .invalidInput)
        let (attribute, relationships) = ("/entities/E/attributes/a", "/entities/E/relationships")
        #expect(
            Set(SchemaFixture.pointers(error)) == [
                "\(attribute)/minLength", "\(attribute)/maxLength", "\(relationships)/r/min", "\(relationships)/r/max",
                "\(relationships)/s/min",
            ])
    }

    // MARK: Many at once

    @Test func `all mistakes of the structure are reported at once`() throws {
        let error = SchemaFixture.error(
            """
            "E":{"abstract":0,"attributes":{"a":{"type":"x"},"b":{},"c":{"type":"bool","optional":1}},
            "relationships":{"r":{}},"zzz":1},"F":7
            """
        )
        #expect(try #require(error).message.hasPrefix("The schema has 7 mistakes."))
        #expect(
            Set(SchemaFixture.pointers(error)) == [
                "/entities/E/abstract", "/entities/E/attributes/a/type", "/entities/E/attributes/b", "/entities/E/attributes/c/optional",
                "/entities/E/relationships/r", "/entities/E/zzz", "/entities/F",
            ])
    }

    @Test func `wrong names and inverses are reported together with wrong attributes`() throws {
        let pointers = SchemaFixture.pointers(
            SchemaFixture.error(
                """
                "E":{"identity":["a"],"attributes":{"a":{"type":"int46","mim":0}},"relationships":{"f":{"to":"F","inverse":"es"}}},
                "F":{"relationships":{"es":{"to":"E","many":true,"inverse":"g"},"h":{"to":"H"}}}
                """))
        let attribute = "/entities/E/attributes/a"
        let (first, second) = ("/entities/E/relationships", "/entities/F/relationships")
        #expect(
            pointers == [
                "\(attribute)/mim", "\(attribute)/type", "\(first)/f/inverse", "\(second)/es/inverse", "\(second)/h/to",
            ])
        let parents = SchemaFixture.error(#""E":{"parent":"F","zzz":1},"F":{"parent":"E","relationships":{"r":{"to":"E","inverse":"x"}}}"#)
        #expect(SchemaFixture.pointers(parents) == ["/entities/E/zzz", "/entities/E/parent", "/entities/F/parent"])
    }

    @Test func `a schema with a mistake also has limited inheritance`() {
        let entities = (1...3000).map { #""E\#($0)":{"parent":"E\#($0 - 1)"}"# }
        let error = SchemaFixture.error((["\"E0\":{\"zzz\":1}"] + entities).joined(separator: ","))
        #expect(error?.code == .limitExceeded && error?.place?.file == "schema.json")
    }

    @Test func `a relationship with a mistake is not missing as an inverse`() {
        let error = SchemaFixture.error(
            #""E":{"relationships":{"f":{"too":"F","inverse":"e"}}},"F":{"relationships":{"e":{"to":"E","inverse":"f"}}}"#)
        #expect(SchemaFixture.pointers(error) == ["/entities/E/relationships/f/too", "/entities/E/relationships/f"])
    }

    @Test func `all violations of the rules are reported at once`() throws {
        let error = SchemaFixture.error(
            """
            "E":{"identity":["q"],"attributes":{"a":{"type":"int16","default":"x","regex":"a"},
            "b":{"type":"string","regex":"[","enum":[]}},
            "relationships":{"r":{"to":"G"},"s":{"to":"E","inverse":"t"}},"unique":[[]]}
            """
        )
        #expect(try #require(error).code == .invalidInput)
        #expect(
            Set(SchemaFixture.pointers(error)) == [
                "/entities/E/relationships/r/to", "/entities/E/relationships/s/inverse", "/entities/E/attributes/a/default",
                "/entities/E/attributes/a/regex", "/entities/E/attributes/b/regex", "/entities/E/attributes/b/enum",
                "/entities/E/identity/0", "/entities/E/unique/0",
            ])
        #expect(error?.place?.pointer == SchemaFixture.pointers(error).first)
    }

    @Test func `only the first fifty mistakes are listed, and the others are counted`() throws {
        let attributes = (0..<80).map { "\"a\($0)\":{\"type\":\"x\"}" }.joined(separator: ",")
        let error = try #require(SchemaFixture.error("\"E\":{\"attributes\":{\(attributes)}}"))
        #expect(error.message.hasPrefix("The schema has 80 mistakes."))
        #expect(error.details.last == "and 30 more")
    }

    @Test(arguments: ["[]", "1", "null", "{}", #"{"entities":[]}"#, #"{"entities":{},"version":1}"#])
    func `JSON that is not a schema is refused`(_ json: String) throws {
        let error = try #require(SchemaFixture.error(json: json))
        #expect(error.code == .invalidInput)
        #expect(error.place?.file == "schema.json")
    }

    @Test func `a mistake of the whole schema is not reported with the pointer of an empty key`() throws {
        for json in ["{}", "[]"] {
            let error = try #require(SchemaFixture.error(json: json))
            #expect(error.place?.pointer == "" && error.details.first?.hasPrefix("the whole schema: ") == true, "\(error)")
        }
    }

    @Test(arguments: [
        ("", 1, 1), ("{\"entities\":{\n  \"E\":{},\n  \"E\":{}}}", 3, 3), ("{\"entities\":{}} x", 1, 17), ("{\n\"entities\" {}}", 2, 12),
    ])
    func `text that is not JSON is refused with line and column`(_ json: String, _ line: Int, _ column: Int) throws {
        let error = try #require(SchemaFixture.error(json: json))
        #expect(error.place == CambiumError.Place(file: "schema.json", line: line, column: column))
        #expect(error.description.hasPrefix("schema.json:\(line):\(column): "))
    }

    @Test func `mutated schemas are refused with a code or loaded, and nothing crashes`() {
        var random = SplitMix64(for: "mutated schemas")
        let text = Array("{\"entities\":{\(SchemaFixture.everything)}}".utf8)
        for _ in 0..<3000 {
            var mutated = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<mutated.count, using: &random)
                if Bool.random(using: &random) {
                    mutated.remove(at: place)
                } else {
                    mutated[place] = text.randomElement(using: &random) ?? 0
                }
            }
            if let error = SchemaFixture.error(json: mutated) { #expect(error.code == .invalidInput) }
        }
    }
}
