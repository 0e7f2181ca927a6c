import CambiumJSON
import Testing

@Suite struct `Invalid documents` {
    /// Texts, each with the offset of its mistake.
    static let mistakes: [(String, Int)] = [
        // Values.
        ("[,1]", 1), ("[1,]", 3), ("[1,,2]", 3), ("[1 2]", 3), ("[1", 0), ("[", 0), ("[[1]", 0), ("[1,[2]", 0), ("[1,[2", 3), ("]", 0),
        ("[1}", 2), ("[1]]", 3),
        ("[\"a\" \"b\"]", 5), ("[\"a\"1]", 4), ("[\"a\":1]", 4), ("[1:2]", 2), (",", 0), (":", 0), ("}", 0), ("1 2", 2), ("{} {}", 3),
        ("null,", 4), ("[1]x", 3),
        ("truetrue", 0), ("true false", 5), ("'a'", 0), ("[a]", 1), ("/**/1", 0), ("1//", 0), ("*", 0), ("[1]\u{0}", 3), ("\u{C}1", 0),
        ("\u{A0}1", 0), ("\\", 0),
        ("[\\\"a\\\"]", 1), ("undefined", 0), ("\u{FEFF}{}", 0),
        // Objects.
        ("{", 0), ("{\"a\"", 4), ("{\"a\":", 0), ("{\"a\":1", 0), ("{\"a\":1,", 0), ("{\"a\":1,}", 7), ("{,}", 1), ("{1:2}", 1),
        ("{a:1}", 1), ("{\"a\" 1}", 5), ("{\"a\"}", 4),
        ("{\"a\":}", 5), ("{\"a\":1 \"b\":2}", 7), ("{\"a\",\"b\"}", 4), ("{\"a\"::1}", 5), ("{\"a\":1]", 6), ("{null:1}", 1),
        ("{[1]:1}", 1), ("{\"a\":1,\"b\"}", 10), ("{{}:1}", 1),
        // Words.
        ("tru", 0), ("True", 0), ("nul", 0), ("nulll", 0), ("fals", 0), ("[true", 0), ("[trux]", 1), ("nan", 0), ("NaN", 0),
        ("Infinity", 0), ("[true\"a\"]", 1), ("null\"\"", 0),
        // Numbers.
        ("01", 0), ("-", 0), ("-01", 0), ("+1", 0), (".5", 0), ("-.5", 0), ("1.", 0), ("1.e5", 0), ("1e", 0), ("1e+", 0), ("1E-", 0),
        ("0x10", 0), ("1_000", 0), ("1a", 0),
        ("--1", 0), ("1.2.3", 0), ("1e5.5", 0), ("1e5e5", 0), ("[-]", 1), ("[1.]", 1), ("-Infinity", 0), ("1\"a\"", 0), ("[1\"a\"]", 1),
        ("00", 0), ("[-a]", 1), ("\u{FF11}", 0),
        // Escapes.
        (#""\x""#, 1), (#""\a""#, 1), (#""ab\'""#, 3), (#""\u""#, 1), (#""\u1""#, 1), (#""\u12G4""#, 1), (#""\u123""#, 1),
        (#""\U0041""#, 1), (#""\uD800""#, 1), (#""\uDC00""#, 1),
        (#""\uD800x""#, 1), (#""\uD800\n""#, 1), (#""\uD800\u0041""#, 1), (#""\uD800\uD800""#, 1), (#""\uDFFF\uD800""#, 1),
        (#""ab\uD83D\uDE0""#, 3), (#""\u+123""#, 1), (#""\ ""#, 1),
        (#"["a","\q"]"#, 6), (#"{"\q":1}"#, 2),
        // Duplicate keys.
        (#"{"a":1,"a":2}"#, 7), (#"{"a":1,"b":2,"a":3}"#, 13), (#"{"a":1,"a":2,"a":3}"#, 7), (#"{"":1,"":2}"#, 6),
        (#"[{"a":1, "a" :2}]"#, 9), (#"{"a":1,"\u0061":2}"#, 7),
        (#"{"\u0061":1,"a":2}"#, 12), (#"{"x":[{"a":[1,{}],"\u0061":"b"}]}"#, 18), (#"{"a":{"b":1,"b":1},"a":1}"#, 12),
        (#"{"\n":1,"\u000A":2}"#, 8),
    ]

    @Test(arguments: mistakes)
    func `a mistake is reported at its position`(_ text: String, _ offset: Int) throws {
        let error = try #require(JSONFixture.error(text), "\(text) was accepted")
        #expect(error.offset == offset)
        #expect(error.line == 1)
        #expect(error.column == offset + 1)
    }

    @Test(arguments: [
        (#""a\ud800""#, true), (#""a\udc00\ud800""#, true), (#""a\ud800x""#, true), (#""a\ud800\n""#, true), (#""a\ud800\u0041""#, true),
        (#""a\ud800\u00g1""#, false), (#""a\ud80""#, false), (#""a\q""#, false),
    ])
    func `half of a surrogate pair is named, and other wrong escapes are not mistaken for it`(_ text: String, _ isHalf: Bool) throws {
        let error = try #require(JSONFixture.error(text))
        #expect(error.message.contains("a lone surrogate") == isHalf && error.column == 3, "\(error.message)")
    }

    @Test(arguments: ["", " ", "\n\n", "\t \r\n"])
    func `a document without a value is refused`(_ text: String) throws {
        #expect(try #require(JSONFixture.error(text)).message == "the document has no value")
    }

    @Test(arguments: [
        ("{\n  \"a\": 1,\n  \"b\": tru\n}", 3, 8), ("[\n1,\n2\n3]", 4, 1), ("\n\n\nx", 4, 1), ("[1,\r\n 01]", 2, 2),
        ("{\"\u{E9}\":\n\"\u{20AC}\\q\"}", 2, 5),
        ("[\"a\nb\"]", 1, 4), ("[1,\n\"ab", 2, 1), ("{\n}\n}", 3, 1), ("{\"a\":1,\n\"b\":2,\n \"a\":3}", 3, 2),
    ])
    func `lines and columns are counted from one, columns in bytes`(_ text: String, _ line: Int, _ column: Int) throws {
        let error = try #require(JSONFixture.error(text))
        #expect(error.line == line)
        #expect(error.column == column)
        #expect(error.description.hasPrefix("line \(line), column \(column): "))
    }

    @Test(arguments: UInt8(0)..<0x20)
    func `a control character inside of a string is refused`(_ control: UInt8) throws {
        for count in [0, 1, 30, 63, 64, 130] {
            let start = Array("[1,\"".utf8) + [UInt8](repeating: 0x61, count: count)
            let error = try #require(JSONFixture.error(start + [control] + Array("b\"]".utf8)))
            #expect(error.offset == start.count)
            #expect(error.message.contains("control character"))
            #expect(JSONFixture.error(start + [0x5C, control] + Array("b\"]".utf8)) != nil)
        }
    }

    @Test func `a control character outside of strings is whitespace or refused`() {
        for control in UInt8(0)..<0x20 {
            let isSpace = [0x09, 0x0A, 0x0D].contains(control)
            for text in [[control, 0x31], [0x31, control], [0x5B, 0x31, control, 0x2C, 0x32, 0x5D], [0x5B, control, 0x5D]] as [[UInt8]] {
                #expect((JSONFixture.error(text) == nil) == isSpace)
            }
        }
    }

    @Test(arguments: 0...200)
    func `a string that does not end is reported at its beginning`(_ count: Int) throws {
        let text = "[\"a\",\"" + String(repeating: "x", count: count)
        let error = try #require(JSONFixture.error(text))
        #expect(error.offset == 5)
        #expect(error.message == "a string does not end; its closing quotation mark is missing")
        #expect(JSONFixture.error(text + "\\\"")?.offset == 5)
        #expect(JSONFixture.error(text + "\\")?.offset == 5)
        #expect(JSONFixture.error(text + "\"]") == nil)
    }

    @Test(arguments: [12, 13, 14, 50, 1000])
    func `a repeated key is found among many`(_ count: Int) throws {
        let plain = JSONFixture.object(keys: count)
        for (key, end) in [("k0", "0"), ("k\(count - 1)", "1"), ("\\u006b7", "2")] {
            let error = try #require(JSONFixture.error(JSONFixture.object(keys: count, extra: "\"\(key)\":\(end)")))
            #expect(error.offset == plain.utf8.count)
            #expect(error.message.contains(" twice"))
        }
    }

    @Test func `the first of several repeated keys is reported in objects of any size`() throws {
        for count in [3, 12, 40] {
            let plain = JSONFixture.object(keys: count)
            let text = JSONFixture.object(keys: count, extra: "\"k2\":0,\"longer\":0,\"k1\":0,\"longer\":0")
            #expect(try #require(JSONFixture.error(text)).offset == plain.utf8.count)
        }
    }

    @Test func `every truncated document is refused`() {
        let document = Array(#"{"a":[1,-2.5e3,"x\n\u00e9",{"b":null,"c":[true,false]}],"d":{}}"#.utf8)
        #expect(JSONFixture.error(document) == nil)
        for count in 0..<document.count { #expect(JSONFixture.error(Array(document[..<count])) != nil) }
    }
}
