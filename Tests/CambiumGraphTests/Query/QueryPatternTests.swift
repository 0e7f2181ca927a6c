import Cambium
import Testing

@Suite struct QueryPatternTests {
    @Test(arguments: [
        ("zo?\u{308}", "zoe\u{308}", true), ("zo*\u{308}", "zoe\u{308}", true), ("\\*\u{308}", "*\u{308}", true),
        ("?\u{308}", "?\u{308}", true), ("zo?\u{308}", "zo?", false), ("a?b", "a\r\nb", false), ("a??b", "a\r\nb", true),
    ])
    func `a wildcard before a combining mark stays a wildcard`(pattern: String, text: String, isMatching: Bool) throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Note") { AttributeDefinition("title", .string) } })
        try store.write { try $0.insert("Note", ["title": .string(text)]) }
        let query = try Query("Note", where: "title like $pattern", ["pattern": Operand(stringLiteral: pattern)])
        #expect(try store.graph.count(query) == (isMatching ? 1 : 0))
    }

    @Test(arguments: [
        ("like[d] \"?\u{AD6D}\"", true), ("like[d] \"\u{D55C}?\"", true), ("like[cd] \"\u{D55C}*\"", true), ("like[d] \"?\"", false),
        ("like[d] \"\u{D55C}\u{AD6D}\"", true), ("matches[d] \"[\u{AC00}-\u{D7A3}]+\"", true), ("matches[cd] \".\u{AD6D}\"", true),
        ("contains[d] \"\u{AD6D}\"", true),
    ])
    func `a syllable of Hangul is one character, also without diacritics`(comparison: String, isMatching: Bool) throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Note") { AttributeDefinition("title", .string) } })
        try store.write { try $0.insert("Note", ["title": "\u{D55C}\u{AD6D}"]) }
        #expect(try store.graph.count(Query("Note", where: "title \(comparison)")) == (isMatching ? 1 : 0))
    }
}
