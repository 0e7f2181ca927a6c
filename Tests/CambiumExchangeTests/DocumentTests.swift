import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumExchange

@Suite struct DocumentTests {
    /// Returns a splitter of a text that is read in pieces of `piece` bytes.
    private func splitter(_ text: String, piece: Int) -> DocumentSplitter {
        let bytes = Array(text.utf8)
        var offset = 0
        return DocumentSplitter(file: "test") { buffer in
            let count = min(piece, buffer.count, bytes.count - offset)
            buffer.copyBytes(from: bytes[offset..<offset + count])
            offset += count
            return count
        }
    }

    private func documents(_ text: String, piece: Int = 3) throws -> [String] {
        var splitter = splitter(text, piece: piece)
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

    @Test(arguments: ["[1", "[1 2]", "[1,", "[", "[1]]", "[1] 2"])
    func `a malformed array is reported`(text: String) {
        #expect(code { _ = try documents(text) } == .invalidInput)
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
