import Cambium
import CambiumModel
import TestFixtures
import Testing

/// Exports of more objects than one round of `ParallelRows` has, which two threads encode.
@Suite struct LongExportTests {
    private static func store(noteCount: Int, title: (Int) -> String) throws -> Store {
        let store = try Store.notes()
        try add(0..<noteCount, of: noteCount, to: store, hasMemo: { $0 % 3 == 0 }, title: title)
        return store
    }

    private static func add(
        _ numbers: Range<Int>, of noteCount: Int, to store: Store, hasMemo: (Int) -> Bool, title: (Int) -> String
    ) throws {
        try store.write { transaction in
            for number in numbers {
                // The identities descend, so that their order differs from the order of the ids.
                let values: KeyValuePairs<String, Value> = ["id": .int(Int64(noteCount - number)), "title": .string(title(number))]
                let note = try transaction.insert("Note", values)
                if !hasMemo(number) { continue }
                try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
            }
        }
    }

    /// A round has 4096 objects.
    private static let objectCounts = [4095, 4096, 4097, 9000]
    private static let memoCount = 100

    /// A graph for each number of objects. The cases of several tests share these graphs.
    private static let graphs = Result { try makeGraphs() }

    /// Returns graphs that have the notes of the smaller graphs and more notes. Only the first notes have memos.
    private static func makeGraphs() throws -> [Int: Graph] {
        let store = try Store.notes()
        var (graphs, noteCount) = ([Int: Graph](), 0)
        for objectCount in objectCounts {
            let numbers = noteCount..<objectCount - memoCount
            try add(numbers, of: 9000, to: store, hasMemo: { $0 < memoCount }, title: { "title \($0)" })
            graphs[objectCount] = store.graph
            noteCount = numbers.upperBound
        }
        return graphs
    }

    @Test(arguments: objectCounts)
    func `lines and arrays have all objects in order`(objectCount: Int) throws {
        let graph = try #require(try Self.graphs.get()[objectCount])
        #expect(graph.objectCount == objectCount)
        let lines = try graph.exported(nil)
        #expect(lines == graph.export)
        let rows = lines.dropLast().split(separator: "\n").joined(separator: ",\n")
        #expect(try graph.exported(nil) { $0.format = .array } == "[\(rows)]\n")
    }

    @Test func `objects with identities are in their order, and nested objects are there`() throws {
        let graph = try Self.store(noteCount: 5000) { "title \($0)" }.graph
        let named = try graph.exported("Note") { ($0.references, $0.content) = (.identity, .names) }
        #expect(named == (1...5000).map { "{\"id\":\($0)}\n" }.joined())
        let nested = try graph.exported("Note", including: ["memos"])
        let memos = nested.split(separator: "\n").enumerated().filter { $0.element.contains("\"text\":\"memo \($0.offset)\"") }
        #expect(memos.count == 1667)
    }

    @Test func `large values stay in order, and no piece has many of them`() throws {
        let large = String(repeating: "x", count: 100_000)
        // Each block has an object that fills it, and more objects after it.
        let graph = try Self.store(noteCount: 5000) { $0 % 40 == 7 ? large + "\($0)" : "\($0)" }.graph
        var (bytes, byteCountMax): ([UInt8], Int) = ([], 0)
        try graph.export(nil) { piece in
            bytes += piece
            byteCountMax = max(byteCountMax, piece.count)
        }
        #expect(String(decoding: bytes, as: UTF8.self) == graph.export)
        #expect(byteCountMax < 500_000)
    }

    @Test(arguments: [1, 2, 30])
    func `an error of the caller ends the export`(failing: Int) throws {
        struct Refusal: Error {}
        let graph = try #require(try Self.graphs.get()[9000])
        var pieceCount = 0
        #expect(throws: Refusal.self) {
            try graph.export(nil) { _ in
                pieceCount += 1
                if pieceCount == failing { throw Refusal() }
            }
        }
        #expect(pieceCount == failing)
    }
}
