import Cambium
import TestFixtures
import Testing

/// Sums, means and other functions at the limits of the types of numbers.
extension QueryNumberTests {
    @Test func `a sum beyond all doubles is infinite, and its mean is not`() throws {
        let functions = try ["real", "next.real"].map { try Operand(parsing: $0) }
            .flatMap { [Aggregate(.sum, of: $0), Aggregate(.avg, of: $0)] }
        let rows = try graph.aggregate(Query("Note"), Grouping(functions))
        let (sum, mean) = (QueryValue.value(.double(.infinity)), QueryValue.value(.double(0x1p1023)))
        #expect(rows[0].values == [sum, mean, sum, mean])
        #expect(try graph.count(Query("Note", where: "next.@sum.real > 9e307 and next.@avg.real < 9e307")) == 3)
    }

    @Test(arguments: ["real", "next.real", "next.@avg.rank", "next.@max.real", "next.@sum.real"])
    func `the sum of no floating-point numbers is a double`(path: String) throws {
        let store = try Store.inMemory(schema: graph.schema)
        let sums = [Aggregate(.sum, of: try Operand(parsing: path)), Aggregate(.sum, of: try Operand(parsing: "next.@count"))]
        let row = try #require(try store.graph.aggregate(Query("Note"), Grouping(sums)).first)
        #expect(row.values == [.value(.double(0)), .value(.int(0))])
    }

    @Test func `a sum may be beyond all doubles on the way`() throws {
        let store = try Store.inMemory(schema: graph.schema)
        try store.write { transaction in
            let note = try transaction.insert("Note", ["rank": .int(1)])
            for real in [1.7e308, 1.7e308, -1.7e308, -1.7e308, -1.5] {
                try transaction.link(note, "next", transaction.insert("Note", ["real": .double(real)]))
            }
        }
        let sums = try ["real", "next.real"].map { Aggregate(.sum, of: try Operand(parsing: $0)) }
        let row = try #require(try store.graph.aggregate(Query("Note"), Grouping(sums)).first)
        #expect(row.values == [.value(.double(-1.5)), .value(.double(-1.5))])
    }

    @Test(arguments: [["1e30", "1e-30", "-1e30"], ["1e30", "-1e30", "1e-30"], ["1e-30", "1e30", "-1e30"]])
    func `a sum of decimal numbers is exact in any order`(_ prices: [String]) throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Item") { AttributeDefinition("price", .decimal) } })
        try store.write { transaction in
            for price in prices { try transaction.insert("Item", ["price": .decimal(try #require(DecimalNumber(price)))]) }
        }
        let price = try Operand(parsing: "price")
        let row = try store.graph.aggregate(Query("Item"), Grouping([Aggregate(.sum, of: price), Aggregate(.avg, of: price)])).first
        #expect(row?.values == [.value(.decimal(try #require(DecimalNumber("1e-30")))), .value(.double(3.3333333333333333e-31))])
    }

    /// Numbers whose sum is 1. If they are added in almost any other order, the sum loses the one.
    private static let ordered = [1e200, -1e200, 1e100, -1e100, 1]

    @Test func `a sum by an index adds the numbers in the order of the rows`() throws {
        let store = try Store.inMemory(schema: graph.schema)
        try store.write { transaction in
            for real in (0..<4).flatMap({ _ in Self.ordered }) {
                try transaction.insert("Note", ["rank": .int(1), "real": .double(real)])
                // The other notes fill the group of rows, so that each number is in a different group.
                for _ in 1..<128 { try transaction.insert("Note", ["rank": .int(2)]) }
            }
        }
        let query = try Query("Note", where: "rank == 1")
        #expect(try store.graph.answer(query).plan.steps.first?.kind == .index)
        let sum = Aggregate(.sum, of: try Operand(parsing: "real"))
        #expect(try store.graph.aggregate(query, Grouping([sum])).first?.values == [.value(.double(4))])
    }

    /// Returns a graph of notes of one rank, each of which leads to all of them.
    static func linked(_ count: Int, rank: Int64) throws -> Graph {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note", indexes: [["rank"]]) {
                    AttributeDefinition("rank", .int64)
                    RelationshipDefinition("next", to: "Note", .toMany, inverse: "previous")
                    RelationshipDefinition("previous", to: "Note", .toMany, inverse: "next")
                }
            })
        try store.write { transaction in
            var notes: [ObjectID] = []
            for _ in 0..<count { notes.append(try transaction.insert("Note", ["rank": .int(rank)])) }
            for note in notes { for other in notes { try transaction.link(note, "next", other) } }
        }
        return store.graph
    }

    private static let longPath = [String](repeating: "next", count: 64).joined(separator: ".")

    @Test(arguments: [4, 8]) func `a function of more values than 127 bits can count has a result`(count: Int) throws {
        let graph = try Self.linked(count, rank: 2)
        #expect(try graph.count(Query("Note", where: "\(Self.longPath).@sum.rank > 1e38")) == count)
        #expect(try graph.count(Query("Note", where: "\(Self.longPath).@avg.rank == 2")) == count)
        #expect(try graph.count(Query("Note", where: "\(Self.longPath).@max.rank == 2")) == count)
    }

    @Test func `a function of values counts each value once for each path to its object`() throws {
        // From each of the 3 notes, 9 paths of two steps and 27 paths of three steps lead to the 3 notes.
        let graph = try Self.linked(3, rank: 2)
        let path = try Operand(parsing: "next.next.rank")
        let functions = [Aggregate(.sum, of: path), Aggregate(.avg, of: path), Aggregate(.countDistinct, of: path)]
        let row = try #require(try graph.aggregate(Query("Note"), Grouping(functions)).first)
        #expect(row.values == [.value(.int(54)), .value(.double(2)), .value(.int(1))])
        #expect(try graph.count(Query("Note", where: "next.next.@sum.rank == 18 and next.@sum.next.rank == 18")) == 3)
        #expect(try graph.count(Query("Note", where: "next.@sum.next.next.rank == 54 and next.@avg.next.next.rank == 2")) == 3)
    }

    @Test func `a sum adds a decimal number exactly, however many paths lead to it`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note") {
                    AttributeDefinition("price", .decimal)
                    RelationshipDefinition("next", to: "Note", .toMany, inverse: "previous")
                    RelationshipDefinition("previous", to: "Note", .toMany, inverse: "next")
                }
            })
        let price = try #require(DecimalNumber("12345678901234567890.1"))
        try store.write { transaction in
            let notes = try (0..<2).map { _ in try transaction.insert("Note", ["price": .decimal(price)]) }
            for note in notes { for other in notes { try transaction.link(note, "next", other) } }
        }
        // From each of the 2 notes, 2^14 paths lead to each of them.
        let path = [String](repeating: "next", count: 15).joined(separator: ".") + ".price"
        let row = try store.graph.aggregate(Query("Note"), Grouping([Aggregate(.sum, of: try Operand(parsing: path))])).first
        #expect(row?.values == [.value(.decimal(try #require(DecimalNumber("809086412471308641245593.6"))))])
    }

    @Test func `a whole sum of more than 38 digits is not zero`() throws {
        // There are 3^64 paths from each note, so the sum is about 1.37e38.
        let graph = try Self.linked(3, rank: 40_000_001)
        #expect(try graph.count(Query("Note", where: "\(Self.longPath).@sum.rank > 1.3e38")) == 3)
    }

    @Test func `sums of too many digits are sorted among the other sums`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Box") { RelationshipDefinition("items", to: "Item", .toMany, inverse: "box") }
                EntityDefinition("Item") {
                    AttributeDefinition("price", .decimal)
                    RelationshipDefinition("box", to: "Box", inverse: "items")
                }
            })
        try store.write { transaction in
            for prices in [["5"], ["1e31"], ["1e30", "1e-30"]] {
                let box = try transaction.insert("Box")
                for price in prices {
                    let number = try #require(DecimalNumber(price))
                    try transaction.insert("Item", ["price": .decimal(number)], links: ["box": [box]])
                }
            }
        }
        #expect(try store.graph.find(Query("Box", sort: "items.@sum.price")).map(\.serial) == [1, 3, 2])
        #expect(try store.graph.find(Query("Box", sort: "-items.@sum.price")).map(\.serial) == [2, 3, 1])
    }
}
