import CambiumModel
import CambiumTesting
import Testing

@Suite struct QueryRoundTripTests {
    /// Tokens that mutations insert.
    private static let tokens = [
        "(", ")", "{", "}", "[", "]", "[c]", ",", ".", "-", "!", "not ", " and ", " or ", "==", "<", "in", "any ", " where (", "$p",
        "@count", "'", "\"",
        "\\", "\\u", "/", "/1", "1", "0", "e", "#", "a", "é", "\u{301}", " ", "\n", "null", "self",
    ]

    @Test func `a random condition is printed and read back`() throws {
        var random = RandomCondition(random: SplitMix64(seed: 31))
        for round in 0..<2000 {
            let condition = random.condition(round % 5)
            try condition.check()
            let parsed = try Condition(parsing: condition.description)
            if parsed != condition || !Self.isSame(parsed.description, condition.description) {
                Issue.record("\(condition) is read as \(parsed)")
            }
        }
    }

    @Test func `a random sort key is printed and read back`() throws {
        var random = RandomCondition(random: SplitMix64(seed: 32))
        for _ in 0..<500 {
            let key = random.sortKey()
            if try SortKey(parsing: key.description) != key { Issue.record("\(key) is read as another key") }
        }
    }

    @Test func `a changed text is refused inside the text, or its condition is read back`() throws {
        var random = RandomCondition(random: SplitMix64(seed: 33))
        var acceptedCount = 0
        for _ in 0..<4000 {
            let text = Self.changed(random.condition(2).description, &random.random)
            do throws(CambiumError) {
                let condition = try Condition(parsing: text)
                acceptedCount += 1
                try condition.check()
                if try Condition(parsing: condition.description) != condition { Issue.record("\(text) is read as \(condition)") }
            } catch {
                let lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
                let line = try #require(error.place?.line)
                let column = try #require(error.place?.column)
                if line > lines.count || column > lines[line - 1].count + 1 { Issue.record("\(text): \(error)") }
            }
        }
        #expect(acceptedCount > 400)
        #expect(acceptedCount < 3600)
    }

    /// Strings are equal if they are canonically equivalent, but a text must keep its bytes.
    private static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    /// Inserts, removes or repeats a part of a text.
    private static func changed(_ text: String, _ random: inout SplitMix64) -> String {
        var characters = Array(text.unicodeScalars)
        let place = Int.random(in: 0...characters.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: characters.insert(contentsOf: (random.pick(tokens) ?? "").unicodeScalars, at: place)
        case 1: characters.removeSubrange(place..<min(place + 1, characters.count))
        default: characters.insert(contentsOf: characters[..<place], at: place)
        }
        var changed = String.UnicodeScalarView()
        changed.append(contentsOf: characters)
        return String(changed)
    }
}
