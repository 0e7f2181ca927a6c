import Cambium
import TestFixtures
import Testing

/// Names in another Unicode form, and names with long runs of combining marks.
@Suite struct ImportNameTests {
    private static let marks = "e" + String(repeating: "\u{301}\u{323}", count: 45)

    private func store(_ name: String = "\u{E9}") throws -> Store {
        try Store.inMemory(
            schema: Schema {
                EntityDefinition("N", identity: ["k"]) {
                    AttributeDefinition("k", .string)
                    AttributeDefinition(name, .int32, .optional)
                }
            })
    }

    private func values(_ store: Store, _ name: String = "\u{E9}") throws -> [Value] {
        try store.graph.find(Query("N", sort: "k")).map { try store.graph[$0, name] }
    }

    private func csv(_ text: String, _ store: Store) throws {
        let source = ImportSource.bytes(Array(text.utf8), format: .csv)
        _ = try store.importRows(try store.schema.required("N"), from: [source], ImportOptions())
    }

    @Test(arguments: ["\u{E9}", "e\u{301}"], ["\u{E9}", "e\u{301}"])
    func `JSON, CSV and mappings find a property by its name in any form`(name: String, key: String) throws {
        let store = try store(name)
        try store.importing("N", #"{"k":"1","\#(key)":4}"#) { $0.unknown = .error }
        try csv("k,\(key)\n2,4", store)
        let mapping = try ImportMapping(json: Array(#"{"attributes":{"\#(key)":{"from":"a.\#(key)"}}}"#.utf8))
        try store.importing("N", #"{"k":"3","a":{"\#(name)":4}}"#) { ($0.mapping, $0.unknown) = (mapping, .error) }
        #expect(try values(store) == [4, 4, 4])
    }

    @Test(arguments: ["{\"k\":\"1\",\"\u{E9}\":1,\"e\u{301}\":2}", "{\"k\":\"1\",\"e\u{301}\":2,\"\u{E9}\":1}"])
    func `a row with a name in two forms is refused`(row: String) throws {
        let error = try #require(try store().refusal("N", row))
        #expect(error.code == .malformed && error.message.contains("twice, in two forms of Unicode"))
    }

    @Test func `two columns with one name in two forms are refused`() throws {
        #expect(throws: CambiumError.self) { try csv("k,\u{E9},e\u{301}\n1,2,3", try store()) }
    }

    @Test func `names with long runs of marks are found and reported`() throws {
        let store = try store(Self.marks)
        let sorted = "\u{1EB9}" + String(repeating: "\u{323}", count: 44) + String(repeating: "\u{301}", count: 45)
        let report = try store.importing("N", #"{"k":"1","\#(sorted)":4,"x\#(Self.marks)":1}"#)
        #expect(try values(store, Self.marks) == [4] && report.unknownKeys == ["x" + Self.marks: 1])
    }
}
