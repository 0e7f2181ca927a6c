import CambiumJSON
import CambiumModel
import Testing

@testable import CambiumExchange

@Suite struct MappingTests {
    private func mapping(_ text: String) throws -> ImportMapping { try ImportMapping(json: Array(text.utf8), file: "m.json") }

    @Test(arguments: [
        #"{}"#, #"{"entity":"A","identity":["x","y"]}"#, #"{"identity":[],"delimiter":"->","escape":""}"#,
        #"{"attributes":{"a":{"from":"x.y","functions":["trim",{"split":","},{"lookup":{"1":true},"otherwise":null}]},"b":null,"c":{}}}"#,
        #"{"attributes":{"a":{"coalesce":["x","y"]},"b":{"join":["x","y"],"separator":"-"},"c":{"constant":[1,2.50]}}}"#,
        #"{"attributes":{"a":{"from":"a","dates":["iso8601","dd.MM.yy"],"zone":"+01:00","pivot":1930}}}"#,
        #"{"attributes":{"b":{"numbers":{"decimal":",","grouping":"."}}}}"#,
        #"{"relationships":{"r":{"from":"x","functions":["integer"]}},"entityFrom":{"key":"t","map":{"A":"B"}}}"#,
        #"{"delimiter":"/","nested":{"B":{"delimiter":".","entityFrom":{"key":"t"}},"C":{"attributes":{"a":{"from":"x/y"}}}}}"#,
    ])
    func `a mapping is written as it was read`(text: String) throws {
        var writer = JSONWriter()
        try mapping(text).write(to: &writer)
        #expect(writer.text == text)
    }

    @Test func `a nested mapping inherits the delimiter of the top, and a string is short for a path`() throws {
        let mapping = try mapping(#"{"delimiter":"/","nested":{"B":{"attributes":{"a":"x/y"}}}}"#)
        #expect(mapping.nested["B"] == ObjectMapping(delimiter: "/", attributes: ["a": "x/y"]))
    }

    @Test(arguments: [
        ("[]", ""), (#"{"identities":[]}"#, "/identities"), (#"{"attributes":{"a":{"form":"x"}}}"#, "/attributes/a/form"),
        (#"{"attributes":{"a/b":5}}"#, "/attributes/a~1b"), (#"{"attributes":{"a":{"from":"x","constant":1}}}"#, "/attributes/a"),
        (#"{"attributes":{"a":{"separator":"x"}}}"#, "/attributes/a/separator"), (#"{"identity":[1]}"#, "/identity/0"),
        (#"{"attributes":{"a":{"functions":["trimm"]}}}"#, "/attributes/a/functions/0"),
        (#"{"attributes":{"a":{"functions":[{"split":""}]}}}"#, "/attributes/a/functions/0/split"),
        (#"{"attributes":{"a":{"functions":[{"split":",","join":","}]}}}"#, "/attributes/a/functions/0"),
        (#"{"attributes":{"a":{"coalesce":[]}}}"#, "/attributes/a/coalesce"), (#"{"delimiter":""}"#, "/delimiter"),
        (#"{"attributes":{"a":{"numbers":{"decimal":"5"}}}}"#, "/attributes/a/numbers/decimal"),
        (#"{"attributes":{"a":{"numbers":{"grouping":"."}}}}"#, "/attributes/a/numbers/grouping"),
        (#"{"attributes":{"a":{"pivot":0}}}"#, "/attributes/a/pivot"), (#"{"attributes":{"a":{"dates":[]}}}"#, "/attributes/a/dates"),
        (#"{"relationships":{"r":{"dates":["iso8601"]}}}"#, "/relationships/r/dates"),
        (#"{"nested":{"B":{"nested":{}}}}"#, "/nested/B/nested"), (#"{"entityFrom":{"map":{}}}"#, "/entityFrom"),
    ])
    func `a mistake is reported with the file and its pointer`(text: String, pointer: String) throws {
        let error = #expect(throws: CambiumError.self) { try mapping(text) }
        #expect(error?.code == .invalidInput && error?.place?.file == "m.json" && error?.place?.pointer == pointer)
    }

    @Test(arguments: [(#""B""#, true), (#""C""#, false)])
    func `two texts of a table that are the same in Unicode must have the same value`(second: String, isValid: Bool) throws {
        let table = #"{"\u00E9":"B","e\u0301":"# + second + "}"
        let texts = [
            (#"{"attributes":{"a":{"functions":[{"lookup":\#(table)}]}}}"#, "/attributes/a/functions/0/lookup/e\u{301}"),
            (#"{"entityFrom":{"key":"t","map":\#(table)}}"#, "/entityFrom/map/e\u{301}"),
        ]
        for (text, pointer) in texts {
            if isValid {
                _ = try mapping(text)
            } else {
                let error = #expect(throws: CambiumError.self) { try mapping(text) }
                #expect(error?.code == .invalidInput && error?.place?.pointer == pointer)
            }
        }
    }

    @Test func `text that is not JSON is reported with its line and column`() throws {
        let error = #expect(throws: CambiumError.self) { try mapping("{\n\"a\" 1}") }
        #expect(error?.place == .init(file: "m.json", line: 2, column: 5))
    }

    @Test func `a mapping without effect does not change how rows are read`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Note", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("title", .string, .optional)
                }
            })
        let note = try schema.required("Note")
        for text in ["{}", #"{"attributes":{"title":"title"}}"#, #"{"entityFrom":{"key":"t"}}"#, #"{"identity":["id"]}"#] {
            let resolver = try MappingResolver(try mapping(text), importing: note, schema)
            #expect(try resolver.resolve(note).plan == nil)
        }
        let resolver = try MappingResolver(try mapping(#"{"attributes":{"title":"t"}}"#), importing: note, schema)
        #expect(try resolver.resolve(note).plan?.readings.isEmpty == true)
    }

    @Test func `paths are split at unescaped delimiters`() {
        func keys(_ path: String, _ delimiter: String = ".") -> [String]? {
            PropertyPath(path, delimiter: delimiter, escape: "\\").map { $0.keys + [$0.literal] }
        }
        #expect(keys("a") == ["a", "a"] && keys("a.b") == ["a", "b", "a.b"] && keys("a->b.c", "->") == ["a", "b.c", "a->b.c"])
        #expect(
            keys(#"a\.b.c"#) == ["a.b", "c", "a.b.c"] && keys(#"a\\.b"#) == [#"a\"#, "b", #"a\.b"#] && keys(#"a\b"#) == [#"a\b"#, #"a\b"#])
        #expect(keys("") == nil && keys(".a") == nil && keys("a.") == nil)
    }
}
