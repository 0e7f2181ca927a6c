import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumExchange

@Suite struct DocumentTests {
    /// Returns a splitter of a text that is read in pieces of `piece` bytes.
    private func splitter(_ text: String, _ rows: RowPointer? = nil, piece: Int) -> DocumentSplitter {
        let bytes = Array(text.utf8)
        var offset = 0
        return DocumentSplitter(file: "test", rows: rows) { buffer in
            let count = min(piece, buffer.count, bytes.count - offset)
            buffer.copyBytes(from: bytes[offset..<offset + count])
            offset += count
            return count
        }
    }

    private func documents(_ text: String, rows: String? = nil, piece: Int = 3) throws -> [String] {
        var splitter = splitter(text, try rows.map { try RowPointer($0) }, piece: piece)
        var found: [String] = []
        while let document = try splitter.next() {
            found.append(splitter.withWindow { "\(document.line) " + String(decoding: $0[document.start..<document.end], as: UTF8.self) })
        }
        return found
    }

    /// Returns the columns at which the documents of a text begin.
    private func columns(_ text: String, piece: Int) throws -> [Int] {
        var splitter = splitter(text, piece: piece)
        var found: [Int] = []
        while let document = try splitter.next() { found.append(document.column) }
        return found
    }

    private func code(_ body: () throws -> Void) -> CambiumError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CambiumError)?.code
        }
    }

    @Test(arguments: 1...9)
    func `arrays, lines and streams are split into their documents`(piece: Int) throws {
        #expect(try documents("[ {\"a\":[1,\"]\"]} ,\n{} ]\n", piece: piece) == ["1 {\"a\":[1,\"]\"]}", "2 {}"])
        #expect(try documents("{\"a\":1}\n\n{\"b\":\"}\"}\n", piece: piece) == ["1 {\"a\":1}", "3 {\"b\":\"}\"}"])
        #expect(try documents("{\n\"a\":1}\n{\"b\":2}", piece: piece) == ["1 {\n\"a\":1}", "3 {\"b\":2}"])
        #expect(try documents("\u{FEFF}[1,\"\\\"\"]", piece: piece) == ["1 1", "1 \"\\\"\""])
        #expect(try documents(" \n ", piece: piece) == [])
        #expect(try documents("[]", piece: piece) == [])
    }

    @Test(arguments: 1...9)
    func `a bracket or comma where a document of a stream must begin is a document of its own`(piece: Int) throws {
        #expect(try documents("{\n\"a\":1}} ,{}]", piece: piece) == ["1 {\n\"a\":1}", "2 }", "2 ,", "2 {}", "2 ]"])
    }

    @Test(arguments: 1...9)
    func `each document has the column at which it begins`(piece: Int) throws {
        #expect(try columns("[{\"a\":1}, {\"b\":\n2} ,{}]", piece: piece) == [2, 11, 5])
        #expect(try columns("{}\n  {}\n", piece: piece) == [1, 3])
        #expect(try columns("\u{FEFF}  {\"a\":1} {}", piece: piece) == [3, 11])
    }

    @Test(arguments: ["[1", "[1 2]", "[1,", "[", "[1]]", "[1],[2]"])
    func `a malformed array is reported`(text: String) {
        #expect(code { _ = try documents(text) } == .invalidInput)
    }

    /// The failures of the documents of a text, or its text if a document has none.
    private func outcomes(_ text: String, rows: String? = nil, piece: Int = 3) throws -> [String] {
        var splitter = splitter(text, try rows.map { try RowPointer($0) }, piece: piece)
        var found: [String] = []
        while let document = try splitter.next() {
            let text = splitter.withWindow { String(decoding: $0[document.start..<document.end], as: UTF8.self) }
            found.append("\(document.line) \(document.failure?.message.split(separator: ";")[0].split(separator: ", at")[0] ?? text[...])")
        }
        return found
    }

    @Test(arguments: 1...9) func `arrays and objects may follow each other`(piece: Int) throws {
        #expect(try documents("[1,2]\n[3]", piece: piece) == ["1 1", "1 2", "2 3"])
        #expect(try documents("[1][] {\"a\":2}\n[3]", piece: piece) == ["1 1", "1 {\"a\":2}", "2 3"])
    }

    @Test(
        arguments: [
            ("/data", #"{"n":{"data":0},"data":[1,{"data":2}]}{"data":[3]}"#, ["1", "{\"data\":2}", "3"]),
            ("/data", #"{"data":{"a":[1]}}"#, [#"{"a":[1]}"#]), ("/data", #"{"data":[]}"#, []), ("/*", "[[1,2],[3]]", ["1", "2", "3"]),
            ("/items/*", #"{"items":{"a":{"x":1},"b":[2,3]}}"#, [#"{"x":1}"#, "2", "3"]), ("/1/a~1b", #"[0,{"a/b":[7]}]"#, ["7"]),
            ("/*/items", #"[{"items":[1]},{"items":[2]}]"#, ["1", "2"]), ("/\u{e9}", "{\"\\u00e9\":[1]}", ["1"]), ("", "[1]", ["1"]),
        ], [1, 2, 5])
    func `a pointer leads to the rows of each document`(one: (rows: String, text: String, found: [String]), piece: Int) throws {
        #expect(try documents(one.text, rows: one.rows, piece: piece) == one.found.map { "1 " + $0 })
    }

    @Test func `a pointer that leads to nothing is an error of the document`() throws {
        let found = try outcomes(#"{"a":[1]}{"data":[2]}"#, rows: "/data")
        #expect(found.count == 2 && found[0].contains("leads to nothing in the object") && found[1] == "1 2")
        #expect(try outcomes(#"{"data":7}"#, rows: "/data/x")[0].contains("leads into a value without elements"))
        for text in ["data", "/a~2", "/~"] { #expect(code { _ = try RowPointer(text) } == .invalidInput) }
        for text in [#"{"data":[1]"#, #"{"data" [1]}"#, #"{data:[1]}"#, #"{"x":tru,"data":[1]}"#, #"{"data":[1]}]"#] {
            #expect(code { _ = try documents(text, rows: "/data") } == .invalidInput, "\(text)")
        }
    }

    @Test(
        arguments: [
            "{\n\"a\":1\n\"b\":[\n{\"x\":1},\n{\"x\":2}\n]\n}", "{\n\"a\":\"x,\n\"b\":[\n{\"x\":1}\n]\n}",
            "{\"a\":1,\n\"a\":2,\"p\":\n{\"x\":1}}",
            "{\n\"p\":[\n{\"x\":1}\n{\"x\":2}\n]\n}", "{\n\"p\":[\n{\"x\":1},\n{\"x\":2}\n}",
        ], [1, 4])
    func `a mistake in an object of several lines leaves it one document`(text: String, piece: Int) throws {
        #expect(try documents(text, piece: piece) == ["1 " + text])
        guard text.hasSuffix("]\n}") else { return }
        let line = text.split(separator: "\n").count + 1
        #expect(try documents(text + "\n{}", piece: piece) == ["1 " + text, "\(line) {}"])
    }

    @Test(arguments: ["{\"a\":1", "{\"a\":\"1}", "{\"a\":[1", "{\"a\":[1,", "{\"a\":{\"b\":1}", "{\"a\"", "{"], [1, 4])
    func `a mistake in the first line of JSON Lines affects no other line`(line: String, piece: Int) throws {
        let rest = ["{\"b\":2}", "{\"c\":[{}]}", "{\"d\":\"}\"}"]
        let found = try documents(([line] + rest).joined(separator: "\n"), piece: piece)
        #expect(found == ["1 " + line] + rest.enumerated().map { "\($0 + 2) \($1)" })
    }

    @Test(arguments: 1...5) func `a comma after a line and a byte order mark are named`(piece: Int) throws {
        let comma = "malformed JSON: a comma follows the row"
        #expect(try outcomes("{\"a\":1},\n{\"b\":2} ,\n{}", piece: piece) == ["1 " + comma, "2 " + comma, "3 {}"])
        #expect(try outcomes("{}\n{\"b\":2},", piece: piece) == ["1 {}", "2 " + comma])
        #expect(try outcomes("{} {} , {}", piece: piece) == ["1 {}", "1 {}", "1 " + comma, "1 {}"])
        let mark = "malformed JSON: a byte order mark is in the middle of the input"
        #expect(try outcomes("{\"a\":1}\n\u{FEFF}{\"b\":2}\n", piece: piece) == ["1 {\"a\":1}", "2 " + mark, "2 {\"b\":2}"])
        #expect(try outcomes("\u{FEFF}[1]\n\u{FEFF}[2]", piece: piece) == ["1 1", "2 " + mark, "2 2"])
    }

    @Test func `a line of any number of documents is read piece by piece`() throws {
        let text = Array("{\"id\":1} ".utf8)
        var asked = 0
        var splitter = DocumentSplitter(file: "test") { buffer in
            let count = min(buffer.count, 64 << 10)
            for index in 0..<count { buffer[index] = text[(asked + index) % text.count] }
            asked += count
            return count
        }
        for _ in 0..<10 {
            let next = try splitter.next()
            let document = try #require(next)
            #expect(document.line == 1 && document.end - document.start == text.count - 1)
        }
        #expect(asked < 1 << 20)
    }

    @Test(.enabled(if: LongTests.areWanted)) func `a document of more than 64 MiB is refused before it is in memory`() {
        var asked = 0
        var splitter = DocumentSplitter(file: "test") { buffer in
            for index in buffer.indices { buffer[index] = UInt8(ascii: asked == 0 && index == 0 ? "\"" : "a") }
            asked += buffer.count
            return buffer.count
        }
        #expect(code { _ = try splitter.next() } == .limitExceeded)
        #expect(asked < 200 << 20)
    }
}
