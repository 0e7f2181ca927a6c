import CambiumJSON
import Testing

@testable import CambiumExchange

/// Rows that an export by a mapping builds path by path. Above 16 keys, a row finds its keys by hash.
@Suite struct RowTreeTests {
    private func path(_ text: String) throws -> PropertyPath {
        try #require(PropertyPath(text, delimiter: ".", escape: "\\"))
    }

    /// Puts a text at each of several paths. Returns which of the paths have accepted the text.
    private func put(_ text: String, at paths: [[String]], in row: inout RowTree) -> [Bool] {
        paths.map { row.put(.string(text), at: $0[...]) }
    }

    @Test(arguments: [3, 16, 17, 200]) func `each path of a row has its value, in the order in which it was put`(count: Int) throws {
        var row = RowTree()
        for number in 0..<count {
            let isPut = put("\(number)", at: [["k\(number)"], ["tree", "k\(number)"]], in: &row)
            #expect(isPut == [true, true])
        }
        for number in 0..<count {
            let found = [row.value(at: try path("k\(number)")), row.value(at: try path("tree.k\(number)"))]
            #expect(found == [.string("\(number)"), .string("\(number)")])
        }
        let missing = [row.value(at: try path("k")), row.value(at: try path("tree.k"))]
        #expect(missing == [nil, nil])
        let names = (1..<count).map { "\"k\($0)\":\"\($0)\"" }.joined(separator: ",")
        #expect(row.json.text == "{\"k0\":\"0\",\"tree\":{\"k0\":\"0\",\(names)},\(names)}")
    }

    @Test(arguments: [3, 200]) func `a path accepts only its own value, and is no part of another path`(count: Int) throws {
        var row = RowTree()
        let isPut = put("a", at: (0..<count).map { ["t", "k\($0)"] }, in: &row)
        #expect(isPut.allSatisfy { $0 })
        let isPutAgain = put("a", at: [["t", "k1"], ["t"], ["t", "k1", "x"]], in: &row) + put("b", at: [["t", "k1"]], in: &row)
        #expect(isPutAgain == [true, false, false, false])
        let found = [row.value(at: try path("t.k1")), row.value(at: try path("t.k1.x"))]
        #expect(found == [.string("a"), nil])
    }

    @Test func `a key that is spelled like a path precedes the path, and null ends a path`() throws {
        var row = RowTree()
        let isPut = [row.put(.null, at: ["a"])] + put("key", at: [["b.c"]], in: &row) + put("path", at: [["b", "c"]], in: &row)
        #expect(isPut == [true, true, true])
        let found = [row.value(at: try path("a.x.y")), row.value(at: try path("b.c"))]
        #expect(found == [.null, .string("key")])
    }

    @Test func `keys with equal letters and different bytes differ`() {
        var row = RowTree()
        let isPut = put("a", at: (0..<20).map { ["k\($0)"] } + [["\u{e9}"]], in: &row) + put("b", at: [["e\u{301}"]], in: &row)
        #expect(isPut.allSatisfy { $0 })
    }
}
