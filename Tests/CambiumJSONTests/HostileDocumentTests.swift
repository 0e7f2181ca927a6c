import CambiumJSON
import CambiumTesting
import Testing

@Suite struct `Hostile documents` {
    /// Sequences that are not UTF-8. Source: the table of well-formed sequences (Unicode, table 3-7).
    static let illFormed: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xE2, 0x82],
        [0xE2, 0x28, 0xA1],
        [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
        [0xF0, 0x28, 0x8C, 0xBC], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xF8, 0x88, 0x80, 0x80, 0x80],
    ]

    @Test(arguments: illFormed)
    func `bytes that are not UTF-8 are found at every position`(_ bytes: [UInt8]) throws {
        for before in 0...70 {
            let start = [0x22] + Array("\u{E9}".utf8) + [UInt8](repeating: 0x61, count: before)
            for after in [0, 1, 70] {
                let error = try #require(JSONFixture.error(start + bytes + [UInt8](repeating: 0x62, count: after) + [0x22]))
                #expect(error.message == "the text has bytes that are not UTF-8")
                #expect(error.offset == start.count)
            }
        }
    }

    @Test(arguments: illFormed)
    func `bytes that are not UTF-8 are refused outside of strings too`(_ bytes: [UInt8]) {
        #expect(JSONFixture.error(bytes) != nil)
        #expect(JSONFixture.error(Array("[1]".utf8) + bytes) != nil)
    }

    /// Returns `false` if the parser accepts the bytes, but the value cannot be written and read back unchanged.
    private static func check(_ bytes: [UInt8], _ parser: JSONParser) -> Bool {
        let value = bytes.withUnsafeBytes { bytes -> JSONValue? in
            guard let tokens = try? parser.parse(bytes) else { return nil }  // A refusal is correct here.
            return JSONValue(tokens, 0)
        }
        guard let value else { return true }
        return (try? JSONValue(parsing: value.text.utf8)) == value
    }

    @Test func `mutated documents are refused or read, and nothing crashes`() {
        var random = SplitMix64(for: "mutated JSON documents")
        let parser = JSONParser()
        for _ in 0..<10_000 {
            var text = RandomDocument.text(of: Int.random(in: 1...400, using: &random), &random)
            for _ in 0..<Int.random(in: 1...4, using: &random) { RandomDocument.mutate(&text, &random) }
            #expect(Self.check(text, parser), "\(text)")
            if let error = JSONFixture.error(text, with: parser) { #expect((0...text.count).contains(error.offset)) }
        }
    }

    @Test func `random documents are read before they are mutated`() {
        var random = SplitMix64(for: "random JSON documents")
        for _ in 0..<1000 {
            let text = RandomDocument.text(of: Int.random(in: 1...400, using: &random), &random)
            #expect(JSONFixture.error(text) == nil, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test func `random bytes are refused or read`() {
        var random = SplitMix64(for: "random bytes as JSON")
        let parser = JSONParser()
        let alphabet = Array("{}[]:,\"\\u0123eE+-. \n\ttrufalsn".utf8) + [0, 0x1F, 0x80, 0xC3, 0xA9, 0xFF]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...70, using: &random)).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
            }
            #expect(Self.check(text, parser), "\(text)")
        }
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":", "\"", "\\", ",", "-", "\u{0}"])
    func `a piece that is repeated a hundred thousand times is refused`(_ piece: String) throws {
        #expect(JSONFixture.error(String(repeating: piece, count: 100_000)) != nil)
    }

    // MARK: Size and reuse

    @Test func `a document of 750,002 tokens keeps all tokens`() throws {
        let count = 250_000
        let text = "[" + (0..<count).map { "{\"n\":\($0)}" }.joined(separator: ",") + ",\"end\"]"
        let bytes = Array(text.utf8)
        let parser = JSONParser()
        try bytes.withUnsafeBytes { bytes in
            let tokens = try parser.parse(bytes)
            #expect(tokens.count == 3 * count + 2)
            #expect(tokens.memberCount(0) == count + 1)
            #expect(tokens.next(0) == tokens.count)
            #expect(tokens.string(3 * 77 + 3) == "77")
            #expect(tokens.string(tokens.count - 1) == "end")
        }
    }

    @Test func `a parser can be reused after documents of any size and with any mistake`() throws {
        let parser = JSONParser()
        for size in [1, 10_000, 3, 100_000, 0, 5] {
            let text = Array("[\"\\n\(String(repeating: "y", count: size))\"]".utf8)
            for bad in ["[\"", "{\"a\":[[[", "[1,]", "", "{\"a\":1,\"a\":2}", "\"\\q\"", "\u{1}"] {
                #expect(JSONFixture.error(Array(bad.utf8), with: parser) != nil)
            }
            try text.withUnsafeBytes { bytes in
                let tokens = try parser.parse(bytes)
                #expect(tokens.count == 2)
                #expect(tokens.bytes(1).count == size + 1)
            }
        }
    }

    @Test(arguments: [(0..<5, 3), (3..<4, 1), (0..<4, nil), (0..<0, nil), (0..<6, nil), (6..<7, nil)] as [(Range<Int>, Int?)])
    func `only the given bytes are read`(_ range: Range<Int>, _ tokenCount: Int?) {
        let bytes = Array("[1,2]3]\"".utf8)
        let parser = JSONParser()
        let count = bytes.withUnsafeBytes { bytes in
            (try? parser.parse(UnsafeRawBufferPointer(rebasing: bytes[range])))?.count  // A refusal has no tokens.
        }
        #expect(count == tokenCount)
    }

    @Test func `an empty buffer is not a document`() {
        #expect(throws: JSONError.self) { try JSONParser().parse(UnsafeRawBufferPointer(start: nil, count: 0)) }
    }
}
