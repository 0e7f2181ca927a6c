import Cambium
import TestFixtures
import Testing

@Suite struct ImportMappingTests {
    private func mapping(_ text: String) throws -> ImportMapping { try ImportMapping(json: Array(text.utf8), file: "m.json") }

    @Test(arguments: [
        (#"{"entity":"Nope"}"#, "/entity"), (#"{"entity":"Tag"}"#, "/entity"), (#"{"attributes":{"nope":"x"}}"#, "/attributes/nope"),
        (#"{"relationships":{"title":"x"}}"#, "/relationships/title"), (#"{"nested":{"Nope":{}}}"#, "/nested/Nope"),
        (#"{"nested":{"Note":{}}}"#, "/nested/Note"), (#"{"nested":{"Tag":{"attributes":{"x":"y"}}}}"#, "/nested/Tag/attributes/x"),
        (#"{"attributes":{"title":{"dates":["iso8601"]}}}"#, "/attributes/title/dates"),
        (#"{"attributes":{"title":{"numbers":{}}}}"#, "/attributes/title/numbers"),
        (#"{"attributes":{"created":{"dates":["iso8601","dd.MM"]}}}"#, "/attributes/created/dates/1"),
        (#"{"attributes":{"created":{"dates":["yyyy-MM-dd HH:mm:ss x"]}}}"#, "/attributes/created/dates/0"),
        (#"{"attributes":{"created":{"dates":["iso8601"],"zone":"Mars"}}}"#, "/attributes/created/zone"),
        (#"{"attributes":{"created":{"zone":"+01:00"}}}"#, "/attributes/created/zone"),
        (#"{"attributes":{"title":{"functions":["trim"],"pivot":1900}}}"#, "/attributes/title/pivot"),
        (#"{"attributes":{"title":"a..b"}}"#, "/attributes/title"),
        (#"{"identity":["nope"]}"#, "/identity"), (#"{"entityFrom":{"key":"t","map":{"A":"Nope"}}}"#, "/entityFrom/map/A"),
        (#"{"nested":{"Tag":{"entityFrom":{"key":""}}}}"#, "/nested/Tag/entityFrom/key"),
    ])
    func `a mapping that does not fit the schema is refused before the first row`(text: String, pointer: String) throws {
        let store = try Store.notes()
        let error = #expect(throws: CambiumError.self) {
            try store.importing("Note", #"{"id":1}"#) { $0.mapping = try? mapping(text) }  // The error proves that it was read.
        }
        #expect(error?.place == .init(file: "m.json", pointer: pointer))
        #expect(store.graph.objectCount == 0)
    }

    @Test(arguments: [
        ("created", PropertyMapping(dates: [.pattern("dd.MM.yy")], pivot: .max), "/attributes/created/pivot"),
        ("rating", PropertyMapping(numbers: NumberFormat(decimal: ",", grouping: ",")), "/attributes/rating/numbers/grouping"),
        ("rating", PropertyMapping(numbers: NumberFormat(decimal: "0")), "/attributes/rating/numbers/decimal"),
        ("title", PropertyMapping(.join([], separator: " ")), "/attributes/title"),
        ("title", PropertyMapping(.coalesce([])), "/attributes/title"),
    ])
    func `a rule that a program makes is checked like a rule of a file`(name: String, rule: PropertyMapping, pointer: String) throws {
        let store = try Store.notes()
        let mapping = ImportMapping(attributes: [name: rule])
        let error = #expect(throws: CambiumError.self) { try store.importing("Note", #"{"id":1}"#) { $0.mapping = mapping } }
        #expect(error?.code == .invalidInput && error?.place?.pointer == pointer)
        #expect(code { _ = try store.graph.exported("Note") { $0.mapping = mapping } } == .invalidInput)
    }

    @Test(arguments: [
        (PropertyMapping(dates: [.iso8601]), "/relationships/items/dates"),
        (PropertyMapping(numbers: NumberFormat(decimal: ",")), "/relationships/items/numbers"),
        (PropertyMapping(zone: "+01:00"), "/relationships/items/zone"),
    ])
    func `a rule for a relationship with a format for attributes is refused`(rule: PropertyMapping, pointer: String) throws {
        let store = try Store.notes()
        let mapping = ImportMapping(relationships: ["items": rule])
        let error = #expect(throws: CambiumError.self) { try store.importing("Note", #"{"id":1}"#) { $0.mapping = mapping } }
        #expect(error?.code == .invalidInput && error?.place?.pointer == pointer)
    }

    @Test(arguments: [
        (#"{"from":"no"}"#, #"{"id":1}"#, "'id', which the mapping reads from 'no', is missing, but it is part of the identity"),
        (
            #"{"coalesce":["a.no","nr"]}"#, #"{"title":"x"}"#,
            "'id', which the mapping reads from 'a.no', 'nr', is missing, but it is part of the identity"
        ),
        (#"{"from":"id"}"#, #"{"title":"x"}"#, "'id' is missing, but it is part of the identity"),
    ])
    func `an error about a missing identity names the keys that the mapping reads`(rule: String, row: String, message: String) throws {
        let mapping = try mapping("{\"attributes\":{\"id\":\(rule)}}")
        let error = try #require(try Store.notes().refusal("Note", row) { $0.mapping = mapping })
        #expect(error.code == .missingIdentity && error.message == message, "\(error)")
    }

    @Test(arguments: [(512, true), (513, false)])
    func `a path has at most 512 keys`(count: Int, isValid: Bool) throws {
        let path = String(repeating: "a.", count: count - 1) + "a"
        for text in ["{\"attributes\":{\"title\":\"\(path)\"}}", "{\"entityFrom\":{\"key\":\"\(path)\"}}"] {
            let store = try Store.notes()
            let mapping = try mapping(text)
            let refused = code { _ = try store.importing("Note", #"{"id":1}"#) { $0.mapping = mapping } }
            #expect(refused == (isValid ? nil : .invalidInput))
        }
    }

    @Test(
        arguments: [
            (#"{"caf\u00e9":"cafe\u0301"}"#, #"{"id":1,"cafe\u0301":"x"}"#, ["x", nil]),
            (#"{"caf\u00e9":"e\u0301","name":"\u00e9"}"#, #"{"id":1,"\u00e9":"x","e\u0301":"y"}"#, ["y", "x"]),
            (#"{"caf\u00e9":"a.e\u0301","name":"a.\u00e9"}"#, #"{"id":1,"a":{"\u00e9":"x","e\u0301":"y"}}"#, ["y", "x"]),
            (#"{"name":"cafe\u0301"}"#, #"{"id":1,"cafe\u0301":"x","caf\u00e9":"y"}"#, ["y", "x"]),
        ] as [(String, String, [Value?])])
    func `a path leads to the key with the same bytes`(attributes: String, row: String, expected: [Value?]) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Thing", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("caf\u{E9}", .string, .optional)
                    AttributeDefinition("name", .string, .optional)
                }
            })
        let mapping = try mapping("{\"attributes\":\(attributes)}")
        try store.importing("Thing", row) { $0.mapping = mapping }
        let thing = try #require(try store.graph.find("Thing", identity: [1]))
        #expect(try ["caf\u{E9}", "name"].map { try store.graph[thing, $0] } == expected.map { $0 ?? .null })
    }

    @Test func `a property is read from the key with which the path to the discriminator begins, in any order of keys`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Thing", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("meta", .json, .optional)
                    AttributeDefinition("name", .string, .optional)
                }
                EntityDefinition("Special", parent: "Thing")
            })
        let mapping = try mapping(#"{"entityFrom":{"key":"meta.type","map":{"s":"Special"}}}"#)
        let rows = [
            #"{"id":1,"meta":{"type":"s"},"name":"a"}"#, #"{"id":2,"name":"b","meta":{"type":"s"}}"#,
            #"{"name":"c","id":3,"meta":{"type":"s"}}"#,
        ]
        let report = try store.importing("Thing", rows.joined(separator: "\n")) { $0.mapping = mapping }
        #expect(report.counts.inserted == 3 && report.unknownKeys.isEmpty)
        for number in 1...3 { #expect(try store.graph.json("Special/\(number)").contains(#""meta":{"type":"s"}"#)) }
    }

    @Test func `attributes of the same number in two hierarchies find the objects of their own hierarchy`() throws {
        let store = try Store.notes()
        let (note, tag) = (try store.schema.required("Note"), try store.schema.required("Tag"))
        #expect(note.attribute("title")?.number == tag.attribute("color")?.number)
        let mapping = try mapping(#"{"identity":["title"],"nested":{"Tag":{"identity":["color"]}}}"#)
        try store.importing("Note", #"{"id":1,"title":"red"}"#)
        for name in ["t", "u"] {
            let row = "{\"id\":2,\"title\":\"blue\",\"items\":[{\"key\":\"k\",\"tags\":[{\"name\":\"\(name)\",\"color\":\"red\"}]}]}"
            try store.importing("Note", row) { $0.mapping = mapping }
            #expect(try store.graph.json("Tag/1").contains("\"name\":\"\(name)\",\"color\":\"red\""))
        }
        #expect(try store.graph.json("Note/1").contains(#""id":1,"title":"red""#))
        #expect(store.graph.objectCount == 4)
    }

    @Test func `an object is found by the identity of its own entity and by that of its parent`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Animal") {
                    AttributeDefinition("name", .string)
                    AttributeDefinition("tag", .string)
                }
                EntityDefinition("Dog", parent: "Animal") { AttributeDefinition("breed", .string, .optional) }
            })
        let mapping = try mapping(#"{"entity":"Animal","identity":["name"],"nested":{"Dog":{"identity":["tag"]}}}"#)
        let rows = [
            #"{"_entity":"Dog","name":"Rex","tag":"7"}"#, #"{"name":"Rex","tag":"7"}"#, #"{"_entity":"Dog","name":"Max","tag":"7"}"#,
            #"{"name":"Max","tag":"7"}"#,
        ]
        let report = try store.importing("Animal", rows.joined(separator: "\n")) { $0.mapping = mapping }
        #expect(report.counts.inserted == 1 && report.counts.repeated == 3)
        #expect(store.graph.objectCount == 1)
    }
}
