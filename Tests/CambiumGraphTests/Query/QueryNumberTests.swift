import Cambium
import FoundationEssentials
import TestFixtures
import Testing

/// Numbers at the limits of their types, in conditions, sums, and limits of answers.
@Suite struct QueryNumberTests {
    private let store: Store

    init() throws {
        store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note", indexes: [["rank"]]) {
                    AttributeDefinition("rank", .int64, .optional)
                    AttributeDefinition("real", .double, .optional)
                    AttributeDefinition("title", .string, .optional)
                    AttributeDefinition("json", .json, .optional)
                    RelationshipDefinition("next", to: "Note", .toMany, inverse: "previous")
                    RelationshipDefinition("previous", to: "Note", .toMany, inverse: "next")
                    RelationshipDefinition("tags", to: "Tag", .toMany)
                }
                EntityDefinition("Tag") { AttributeDefinition("name", .string) }
            })
        try store.write { transaction in
            var notes: [ObjectID] = []
            for rank in [-1, 0, 1] { notes.append(try transaction.insert("Note", ["rank": .int(Int64(rank)), "real": 0x1p1023])) }
            try transaction.set(notes[0], "title", to: "7")
            try transaction.set(notes[0], "json", to: .json("7"))
            for note in notes { for other in notes { try transaction.link(note, "next", other) } }
        }
    }

    var graph: Graph { store.graph }

    private func ranks(_ condition: String) throws -> [Value] {
        try graph.find(Query("Note", where: condition, sort: "rank")).map { try graph[$0, "rank"] }
    }

    @Test(arguments: [
        ("rank == 1e-999", []), ("rank < 1e-999", [-1, 0]), ("rank >= 1e-999", [1]), ("rank > -1e-999", [0, 1]), ("rank <= -1e-999", [-1]),
        ("rank < 1e999", [-1, 0, 1]), ("rank > 1e999", []), ("rank == 0e999", [0]),
    ])
    func `a number beyond all doubles is compared exactly`(condition: String, expected: [Int64]) throws {
        #expect(try ranks(condition) == expected.map { .int($0) })
    }

    @Test(arguments: [
        ("price < 1e300", [1, 2, 3, 4]), ("price >= 1e165", []), ("price != 1e300", [1, 2, 3, 4, 5]),
        ("price > -1e300", [1, 2, 3, 4]), ("price < -1e300", []), ("price == 1e-129", []), ("price > 1e-129", [3, 4]),
        ("price >= 15e-129", [4]), ("price < 15e-129", [1, 2, 3]), ("price <= -1e-999", [1]), ("price > -1e-999", [2, 3, 4]),
        ("price between {-1e999, 1e-200}", [1, 2]), ("price in {1e999, 1e-999, 7}", [4]), ("price between {1e-300, 1e-200}", []),
    ])
    func `a decimal number is compared with a number of any size`(condition: String, expected: [UInt64]) throws {
        for indexes in [[], [["price"]], [["-price"]]] {
            let store = try Store.inMemory(
                schema: Schema { EntityDefinition("Item", indexes: indexes) { AttributeDefinition("price", .decimal, .optional) } })
            try store.write { transaction in
                for price in ["-2.5", "0", "1e-128", "7"] {
                    try transaction.insert("Item", ["price": .decimal(try #require(DecimalNumber(price)))])
                }
                try transaction.insert("Item")
            }
            #expect(try store.graph.find(Query("Item", where: condition)).map(\.serial) == expected)
        }
    }

    @Test func `a whole number and a double are compared exactly`() throws {
        let store = try Store.inMemory(schema: graph.schema)
        try store.write { transaction in
            try transaction.insert("Note", ["rank": .int(1 << 60), "real": 0x1p60])
            try transaction.insert("Note", ["rank": .int((1 << 60) + 1), "real": 0x1p60])
            try transaction.insert("Note", ["rank": .int(.max), "real": 0x1p63])
            try transaction.insert("Note", ["rank": .int(-1), "real": -0.5])
        }
        func notes(_ condition: String, _ arguments: [String: Operand] = [:]) throws -> [UInt64] {
            try store.graph.find(Query("Note", where: condition, arguments)).map(\.serial)
        }
        #expect(try notes("rank == real") == [1])
        #expect(try notes("rank > real") == [2])
        #expect(try notes("real > rank") == [3, 4])
        #expect(try notes("rank == $number", ["number": .value(.double(0x1p60))]) == [1])
        #expect(try notes("rank in $numbers", ["numbers": .values([.double(0x1p60), .double(1e300)])]) == [1])
    }

    @Test func `a decimal number equals the float and the double with the same digits`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Item") {
                    AttributeDefinition("single", .float)
                    AttributeDefinition("real", .double)
                    AttributeDefinition("price", .decimal)
                }
            })
        try store.write { transaction in
            for (number, price) in [(0.1, "0.1"), (0.1, "0.2"), (1e30, "1e30"), (16_777_216, "16777216"), (0.25, "0.25")] {
                let decimal = try #require(DecimalNumber(price))
                try transaction.insert("Item", ["single": .float(Float(number)), "real": .double(number), "price": .decimal(decimal)])
            }
        }
        func items(_ condition: String, _ arguments: [String: Operand] = [:]) throws -> [UInt64] {
            try store.graph.find(Query("Item", where: condition, arguments)).map(\.serial)
        }
        #expect(try items("single == price") == [1, 3, 4, 5])
        #expect(try items("price == single") == [1, 3, 4, 5])
        #expect(try items("single < price") == [2])
        #expect(try items("real == price") == [1, 3, 4, 5])
        // The float nearest to 0.1 or 1e30 is not the double nearest to it.
        #expect(try items("single == real") == [4, 5])
        #expect(try items("price == $number", ["number": .value(.float(0.1))]) == [1])
    }

    @Test(arguments: ["0x10", "0x1p3", "+5", ".5", "5.", "inf", "nan", " 5", ""])
    func `a text that is not a number in JSON is not compared with a number`(text: String) throws {
        for condition in ["real > $number", "rank > $number", "next.@max.real > $number"] {
            let query = try Query("Note", where: condition, ["number": Operand(.literal(.text(text)))])
            #expect(code(of: { _ = try graph.count(query) }) == .invalidInput, "\(condition)")
        }
    }

    @Test func `the text of a number may be beyond all doubles`() throws {
        let query = try Query("Note", where: "real < $number", ["number": Operand(.literal(.text("1e999")))])
        #expect(try graph.count(query) == 3)
    }

    @Test func `a plan over many steps may expect more objects than an Int can hold`() throws {
        // From each note, there are 104^8 paths of eight steps.
        let graph = try Self.linked(104, rank: 1)
        let path = [String](repeating: "next", count: 8).joined(separator: ".")
        #expect(try graph.count(Query("Note", where: "any \(path).rank >= 0")) == 104)
        #expect(try graph.count(Query("Note", where: "any \(path).rank >= 0 or any \(path).rank >= 1")) == 104)
        #expect(try graph.count(Query("Note", where: "any \(path).rank > 1")) == 0)
    }

    @Test(arguments: [Int.max, Int.max - 1, Int.max / 2 + 1])
    func `a limit of any size is allowed with an index in the same order`(limit: Int) throws {
        var query = try Query("Note", sort: "rank", limit: limit)
        #expect(try graph.find(query).map(\.serial) == [1, 2, 3])
        query.offset = Int.max
        #expect(try graph.find(query) == [])
        #expect(try graph.count(query) == 0)
    }

    @Test func `texts of all types are compared with each other`() throws {
        #expect(try graph.count(Query("Note", where: "title == json")) == 3)
        #expect(try graph.count(Query("Note", where: "json contains title")) == 1)
        #expect(try graph.count(Query("Note", where: "title <= json")) == 1)
    }

    @Test func `a selected path of too many ways is refused, even if they lead nowhere`() throws {
        let deep = [String](repeating: "next", count: 40).joined(separator: ".")
        #expect(code(of: { _ = try graph.values(of: [try Operand(parsing: deep + ".tags.name")], Query("Note")) }) == .limitExceeded)
        let rows = try graph.values(of: [try Operand(parsing: "next.next.rank"), try Operand(parsing: "next.tags.name")], Query("Note"))
        #expect(rows.count == 3)
        #expect(rows.allSatisfy { row in if case .list(let ranks) = row[0] { ranks.count == 9 && row[1] == .list([]) } else { false } })
    }

    @Test func `a cancelled task gets no number of paths`() async throws {
        let graph = graph
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try graph.pathCount(from: Query("Note", where: "next.next.@count > 8"), along: ["next"])
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try graph.pathCount(from: Query("Note", where: "next.next.@count > 8"), along: ["next"]) == .int(9))
    }

    @Test func `a cursor whose serial no store assigns is refused`() throws {
        let text = try #require(try graph.answer(Query("Note")).cursor).description
        #expect(try QueryCursor(parsing: text).description == text)
        let forged = text.prefix(18) + String(repeating: "f", count: 16)
        #expect(code(of: { _ = try QueryCursor(parsing: String(forged)) }) == .invalidInput)
    }

    @Test(arguments: ["born", "items.@max.born"], ["==", "!=", "<", "<=", ">", ">="])
    func `a date that is not a number neither equals nor precedes a date`(path: String, relation: String) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note") {
                    AttributeDefinition("born", .date, .optional)
                    RelationshipDefinition("items", to: "Note", .toMany)
                }
            })
        try store.write { transaction in
            let item = try transaction.insert("Note", ["born": .date(Date(timeIntervalSinceReferenceDate: 7))])
            try transaction.link(item, "items", item)
        }
        let date = Operand(.literal(.value(.date(Date(timeIntervalSinceReferenceDate: .nan)))))
        for condition in ["\(path) \(relation) $x", "not \(path) \(relation) $x"] {
            let isTrue = condition.hasPrefix("not") != (relation == "!=")
            #expect(try store.graph.find(Query("Note", where: condition, ["x": date])).count == (isTrue ? 1 : 0), "\(condition)")
        }
        let between = try Query("Note", where: "\(path) between {$x, \"2020-01-01\"}", ["x": date])
        #expect(try store.graph.find(between).isEmpty)
    }
}
