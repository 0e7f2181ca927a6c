import CambiumModel
import Testing

@Suite struct `Regular expressions` {
    static func error(_ pattern: String) -> LinearRegex.PatternError? {
        do {
            _ = try LinearRegex(pattern)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("a+", "aaa", true), ("a+", "aab", false), ("a+", "baa", false), ("", "", true), ("", "a", false), ("a*", "", true),
        ("^A.+$", "Abc", true), ("a|ab", "ab", true),
        (".", "\u{E9}", true), (".", "\u{1F600}", true), (".", "\n", false), ("(?s).", "\n", true), ("(?i)ABC", "abc", true),
        ("[0-9]{3}", "123", true), ("[0-9]{3}", "1234", false),
        ("\\p{Greek}+", "\u{3B1}\u{3B2}", true), ("a.c", "a\0c", true), ("\u{E9}", "e\u{301}", false), ("[^@]+@[^@]+", "a@b", true),
        ("\\d+", "\u{661}", false),
    ])
    func `a pattern must match the whole text`(_ pattern: String, _ text: String, _ isMatch: Bool) throws {
        #expect(try LinearRegex(pattern).matchesWhole(text) == isMatch)
    }

    @Test(arguments: [
        ("[abc", 0), ("ab[c", 2), ("a**", 1), ("*a", 0), ("ab(?<n", 2), ("x\\1", 1), ("(a)\\1", 3), ("a{1001}", 1), ("\\", 0), ("[z-a]", 1),
        ("ab\\k", 2), ("\u{E9}[", 2), ("a(?=b)", 1),
        ("\\p{Klingon}", 0), ("[[:word", 0), ("(a", 0),
    ])
    func `a mistake in a pattern is reported at its position`(_ pattern: String, _ offset: Int) throws {
        let error = try #require(Self.error(pattern))
        #expect(error.offset == offset, "\(error.message)")
        #expect(!error.message.isEmpty)
    }

    @Test(arguments: [
        "((a{100}){100}){100}", "(?P<a b>c)", String(repeating: "(", count: 100_000), String(repeating: "[", count: 300),
    ])
    func `patterns that are too large or malformed are refused`(_ pattern: String) {
        #expect(Self.error(pattern) != nil)
    }

    /// A backtracking engine would need 2 to the power of 100,000 steps, so this test would never end.
    @Test(arguments: ["(a+)+", "(a|a)*", "(a|aa)+", "(.*)*", "(a*)*b*", "([a-z]+)*"])
    func `patterns that take exponential time with backtracking take linear time`(_ pattern: String) throws {
        let regex = try LinearRegex(pattern + "!")
        let text = String(repeating: "a", count: 100_000)
        #expect(!regex.matchesWhole(text))
        #expect(regex.matchesWhole(text + "!"))
    }

    @Test func `one expression matches on many threads`() async throws {
        let regex = try LinearRegex("(?:[a-f]+[0-9]*)+x")
        let counts = await withTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask { (0..<500).count { regex.matchesWhole("abc\($0)\(task)\($0 % 2 == 0 ? "x" : "y")") } }
            }
            return await group.reduce(0, +)
        }
        #expect(counts == 8 * 250)
    }
}
