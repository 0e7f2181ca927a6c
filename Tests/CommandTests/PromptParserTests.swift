import Cambium
import CambiumTesting
import Testing

@testable import CambiumCommand

@Suite struct PromptParserTests {
    /// Returns the parts of a query by their words.
    private func parts(_ line: String) throws -> [String: String] {
        guard case .find(let query) = try PromptParser(line).statement() else { return [:] }
        return Dictionary(uniqueKeysWithValues: query.clauses.map { ($0.key.rawValue, $0.value.text) })
    }

    @Test func `a query is split at its words`() throws {
        let found = try parts("Note where title == \"a limit 3\" and x > 3 sort by -created, title limit 10 OFFSET 2 select a,b.c distinct")
        #expect(
            found == [
                "where": "title == \"a limit 3\" and x > 3", "sort": "-created, title", "limit": "10", "offset": "2", "select": "a,b.c",
                "distinct": "",
            ])
        #expect(
            try parts("Note group by city.name count sum price order by -count having count > 3") == [
                "group": "city.name", "count": "", "sum": "price", "sort": "-count", "having": "count > 3",
            ])
    }

    @Test func `a word is a name if a name must stand there`() throws {
        #expect(
            try parts("Note where count > 3 and limit == sum select count, limit sort -max") == [
                "where": "count > 3 and limit == sum", "select": "count, limit", "sort": "-max",
            ])
        #expect(
            try parts("Note where any items where (count > 3 limit) sort #limit") == [
                "where": "any items where (count > 3 limit)", "sort": "#limit",
            ])
        #expect(try parts("Note where name in {\"a\", \"b\"} count") == ["where": "name in {\"a\", \"b\"}", "count": ""])
        #expect(try parts("Note sort pre-depends count-distinct a") == ["sort": "pre-depends", "count-distinct": "a"])
    }

    @Test(arguments: [
        ("Note where", 10), ("Note limit 3 limit 4", 13), ("Note name == 3", 5), ("Note count 3", 11), ("find", 4), ("show", 4),
        ("explain (", 8), ("select title from Note", 0), ("Note where x == 3 limit", 23),
        ("show Note \"abc", 10), ("show Note '", 10), (#"show Note "abc\""#, 10), ("show Note/1 include ", 19),
    ])
    func `a mistake has its place`(line: String, offset: Int) {
        let mistake = #expect(throws: PromptMistake.self) { try PromptParser(line).statement() }
        #expect(mistake?.offset == offset && mistake?.error.code == .invalidInput)
    }

    @Test func `other lines have their own forms`() throws {
        #expect(try PromptParser("  ").statement() == .nothing)
        #expect(try PromptParser("# a comment").statement() == .nothing)
        #expect(try PromptParser("EXIT").statement() == .quit)
        #expect(try PromptParser("at label:x y").statement() == .at(PromptClause(text: "label:x y", start: 3)))
        let identity = [PromptClause(text: "Note", start: 5), PromptClause(text: "a b", start: 10)]
        let items = PromptClause(text: "items", start: 24)
        #expect(try PromptParser("show Note 'a b' include items").statement() == .show(identity, include: items))
        #expect(try PromptParser("find show limit 1").statement() != PromptParser("show limit 1").statement())
    }

    @Test func `the values of an identity end at spaces`() throws {
        let texts = try ["show Note -5", "show Note libc++-dev 1.2+b5~1", "show Note 'a'\"b\"", "show Note +include"].map { line in
            guard case .show(let parts, include: nil) = try PromptParser(line).statement() else { return [String]() }
            return parts.map(\.text)
        }
        #expect(texts == [["Note", "-5"], ["Note", "libc++-dev", "1.2+b5~1"], ["Note", "a", "b"], ["Note", "+include"]])
    }

    @Test func `no line makes the parser fail in any other way`() throws {
        let pieces = "Note| |where|(|)|\"|'|-|,|limit|3|ñ|\\|by|sort|.|[c]|\u{0}|any|items".split(separator: "|").map(String.init)
        var random = SplitMix64(seed: 7)
        for _ in 0..<2000 {
            let count = Int.random(in: 0...12, using: &random)
            let line = (0..<count).map { _ in pieces[Int.random(in: 0..<pieces.count, using: &random)] }.joined()
            let tokens = PromptToken.tokens(line)
            #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0.end <= $1.start })
            do { _ = try PromptParser(line).statement() } catch { #expect((0...line.utf8.count).contains(error.offset ?? -1), "\(line)") }
        }
    }
}
