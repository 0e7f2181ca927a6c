import Cambium
import TestFixtures
import Testing

/// Lists of identities that are looked up together.
@Suite struct IdentityListTests {
    private let graph: Graph

    init() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note", identity: ["key"]) { AttributeDefinition("key", .string) }
                EntityDefinition("Tag", identity: ["number"]) { AttributeDefinition("number", .int16) }
            })
        try store.write { transaction in
            for number in 0..<2000 {
                // Short keys, keys in the page of their rows, and keys with a page of their own.
                let key = String(repeating: "x", count: number % 7 == 0 ? 300 : number % 40) + "\(number)"
                try transaction.insert("Note", ["key": .string(key)])
                try transaction.insert("Tag", ["number": .int(Int64(number - 1000))])
            }
        }
        graph = store.graph
    }

    @Test(arguments: [0, 1, 31, 32, 33, 1000]) func `a list of texts gives the objects of single lookups`(count: Int) throws {
        let note = try graph.schema.required("Note")
        let finder = try #require(graph.finder(note))
        let column = graph.column(try note.requiredAttribute("key"))
        let places = graph.objects(of: note).prefix(count).compactMap { graph.place(of: $0) }
        let keys = places.enumerated().map { $0 % 3 == 0 ? "missing \($0)" : column.string(at: $1) ?? "" }
        let found = finder.find(keys)
        #expect(found == keys.map { finder.find($0) })
        #expect(found.count { $0 == nil } == (count + 2) / 3)
    }

    @Test func `a list of numbers gives the objects of single lookups`() throws {
        let finder = try #require(graph.finder(try graph.schema.required("Tag")))
        let numbers: [Int64] = [-1000, 999, 1000, 70_000, .min, .max, 0, 0]
        let found = finder.find(numbers)
        #expect(found == numbers.map { finder.find($0) })
        #expect(found.map { $0 != nil } == [true, true, false, false, false, false, true, true])
    }

    @Test func `a list of another kind than the identity finds nothing`() throws {
        let notes = try #require(graph.finder(try graph.schema.required("Note")))
        let tags = try #require(graph.finder(try graph.schema.required("Tag")))
        #expect(notes.find([1, 2]) == [nil, nil])
        #expect(tags.find(["1", "2"]) == [nil, nil])
    }

    @Test func `a text does not find a decimal number that is stored as the same bytes`() throws {
        let store = try Store.inMemory(
            schema: Schema { EntityDefinition("Price", identity: ["amount"]) { AttributeDefinition("amount", .decimal) } })
        // The number is stored as its sign, its power of ten and its coefficient: the bytes 1, 0 and 5.
        try store.write { transaction in _ = try transaction.insert("Price", ["amount": .decimal(DecimalNumber(5))]) }
        let finder = try #require(store.graph.finder(try store.graph.schema.required("Price")))
        #expect(finder.find("\u{1}\u{0}\u{5}") == nil && finder.find(["\u{1}\u{0}\u{5}"]) == [nil])
    }
}
