import Cambium
import CambiumTesting
import TestFixtures
import Testing

/// Texts that are compared and grouped in their pages, 64 rows at a time.
@Suite struct QueryTextTests {
    /// Texts of all lengths around the sizes of words, which differ at the beginning, in the middle or at the end; and null.
    private static func texts() -> [String?] {
        var random = SplitMix64(seed: 5)
        let lengths = [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 255, 256, 700]
        return (0..<900).map { _ in
            if random.isTrue(1, outOf: 12) { return nil }
            let length = random.isTrue(1, outOf: 3) ? Int.random(in: 0...18, using: &random) : random.pick(lengths) ?? 0
            var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
            if let place = bytes.indices.randomElement(using: &random) {
                bytes[place] = UInt8(ascii: "a") + UInt8.random(in: 0...2, using: &random)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private let texts = QueryTextTests.texts()
    private let graph: Graph

    init() throws { graph = try Self.graph(of: texts) }

    private static func graph(of texts: [String?]) throws -> Graph {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note") {
                    AttributeDefinition("text", .string, .optional)
                    AttributeDefinition("size", .int64)
                }
            })
        try store.write { transaction in
            for text in texts {
                try transaction.insert("Note", ["text": text.map { .string($0) } ?? .null, "size": .int(Int64(text?.count ?? 0))])
            }
        }
        return store.graph
    }

    @Test func `the texts that equal a text are found`() throws {
        let wanted = Set(texts.compactMap(\.self)).union(["", "b", "ab", "aaab", "baaa", "aaaaaaaac", "aaaaaaaaaaaaaaaab"])
        for text in wanted {
            let found = try graph.find(Query("Note", where: "text == $text", ["text": Operand(stringLiteral: text)])).map {
                Int($0.serial) - 1
            }
            #expect(found == texts.indices.filter { texts[$0] == text }, "\(text)")
        }
    }

    @Test(arguments: [
        (#"json == '{"b": 1, "a": "\\u0062"}'"#, 1), (#"json == '{"b":1,"a":"b"}'"#, 1), (#"json != '{ "b":1,"a":"b" }'"#, 1),
        (#"json in {' [1,2]', '[1, 2]'}"#, 1), (#"json == '[1'"#, 0), (#"json contains '1, 2'"#, 0), (#"json contains '1,2'"#, 1),
    ])
    func `JSON in a condition is equal to the same value with other spaces and escapes`(condition: String, count: Int) throws {
        for indexes in [[], [["json"]]] {
            let store = try Store.inMemory(
                schema: Schema { EntityDefinition("Note", indexes: indexes) { AttributeDefinition("json", .json) } })
            try store.write { transaction in
                for json in [#"{"b":1,"a":"b"}"#, "[1,2]"] { try transaction.insert("Note", ["json": .json(json)]) }
            }
            #expect(try store.graph.count(Query("Note", where: condition)) == count)
        }
    }

    @Test func `few rows of a group are compared as many are`() throws {
        for text in Set(texts.compactMap(\.self)) {
            let query = try Query("Note", where: "size between {3, 4} and text == $text", ["text": Operand(stringLiteral: text)])
            #expect(try graph.count(query) == texts.count { $0 == text && (3...4).contains(text.count) }, "\(text)")
        }
    }

    @Test(arguments: [Int.max, 7]) func `groups of texts have the rows of each text`(lengthMax: Int) throws {
        let texts = texts.map { $0.map { String($0.suffix(lengthMax)) } }
        let graph = try Self.graph(of: texts)
        let grouping = Grouping(by: [try Operand(parsing: "text")], [.count, Aggregate(.sum, of: try Operand(parsing: "size"))])
        var counts: [String?: Int] = [:]
        for text in texts { counts[text, default: 0] += 1 }
        let rows = try graph.aggregate(Query("Note"), grouping)
        #expect(rows.count == counts.count)
        for (text, count) in counts {
            let group = QueryValue.value(text.map { .string($0) } ?? .null)
            let row = rows.first { $0.group == [group] }
            #expect(row?.values == [.value(.int(Int64(count))), .value(.int(Int64(count * (text?.count ?? 0))))], "\(text ?? "null")")
        }
    }
}
