import Cambium
import Testing

/// The steps of a plan for a condition with several ways to find objects.
@Suite struct QueryPlanTests {
    private let graph: Graph

    init() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note", indexes: [["size"], ["age"]]) {
                    AttributeDefinition("size", .int64)
                    AttributeDefinition("age", .int64)
                }
            })
        try store.write { transaction in
            for number in 0..<200 as Range<Int64> {
                try transaction.insert("Note", ["size": .int(number), "age": .int(number / 2)])
            }
        }
        graph = store.graph
    }

    /// The names of the steps of a plan, the numbers of their objects, and the numbers of the rows that they read.
    private func steps(_ condition: String) throws -> [String] {
        try graph.answer(Query("Note", where: condition)).plan.steps.map { "\($0.name ?? "") \($0.objectCount) \($0.readCount)" }
    }

    @Test func `each index of an or has a step`() throws {
        #expect(try steps("size < 5 or age == 90") == ["Note.size 5 5", "Note.age 2 2"])
        #expect(try steps("size < 5 or (age == 90 or size > 195)") == ["Note.size 9 9", "Note.age 2 2"])
        // Both indexes find the first two objects.
        #expect(try steps("size < 4 or age == 0") == ["Note.size 4 4", "Note.age 2 2"])
        #expect(try steps("(size < 5 or age == 90) and size != 3") == ["Note.size 4 5", "Note.age 2 2"])
        let expected = try graph.answer(Query("Note", where: "size < 5 or age == 90")).plan.steps.map(\.estimatedCount)
        #expect(expected == [5, 2])
    }

    @Test func `the answer of an or is the same with and without an explanation`() throws {
        let query = try Query("Note", where: "size < 4 or age == 0 or age == 90")
        let ids = try graph.answer(query).ids
        #expect(ids.map(\.serial) == [1, 2, 3, 4, 181, 182])
        #expect(try graph.find(query) == ids && graph.count(query) == ids.count)
    }

    @Test func `two limits of one attribute are one range of an index`() throws {
        #expect(try steps("size > 50 and size <= 60") == ["Note.size 10 10"])
        #expect(try steps("size <= 60 and age >= 0 and size >= 50 and size > 50") == ["Note.size 10 10"])
        #expect(try steps("size >= 51 and size > 50 and not size > 60 and size < 62") == ["Note.size 10 11"])
        #expect(try steps("size > 60 and size < 50") == ["Note.size 0 0"])
        // A stated value leads to fewer objects than a limit, whichever of them comes first.
        #expect(try steps("size >= 0 and size == 5") == ["Note.size 1 1"])
        #expect(try steps("size == 5 and size >= 0") == ["Note.size 1 1"])
        let sorted = try graph.answer(Query("Note", where: "size > 1 and size < 4", sort: "-size"))
        #expect(sorted.ids.map(\.serial) == [4, 3])
        var query = try Query("Note", where: "size > 1 and size < 190", sort: "-size")
        query.limit = 2
        let first = try graph.answer(query)
        #expect(first.ids.map(\.serial) == [190, 189])
        #expect(try #require(first.plan.steps.first).readCount < 5)
    }

    @Test func `lists of values for the first attributes of an index are combined with the next attribute`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Shop", indexes: [["city", "kind", "size"]]) {
                    AttributeDefinition("city", .string)
                    AttributeDefinition("kind", .int64)
                    AttributeDefinition("size", .int64)
                }
            })
        try store.write { transaction in
            for number in 0..<600 as Range<Int64> {
                let city = ["p", "q", "r"][Int(number % 3)]
                try transaction.insert("Shop", ["city": .string(city), "kind": .int(number % 20), "size": .int(number)])
            }
        }
        func step(_ condition: String) throws -> [Int] {
            let step = try #require(try store.graph.answer(Query("Shop", where: condition)).plan.steps.first)
            return [step.objectCount, step.readCount]
        }
        #expect(try step("city in {\"p\", \"q\"} and kind == 7") == [20, 20])
        #expect(try step("city in {\"p\", \"q\"} and kind in {7, 8} and size < 100") == [7, 7])
        #expect(try step("city in {\"p\", \"x\"} and kind in {7, 8} and size >= 0") == [20, 20])
        #expect(try step("city == \"q\" and kind in {}") == [0, 0])
        // Too many combinations would take long to look up, so only the city is looked up.
        let kinds = (0..<200).map(String.init).joined(separator: ", ")
        #expect(try step("city in {\"p\", \"x\"} and kind in {\(kinds)} and size < 9") == [3, 600])
    }

    @Test func `a negation of a negation uses an index`() throws {
        #expect(try steps("not (size != 5)") == ["Note.size 1 1"])
        #expect(try steps("not not (size < 3 or not (age != 90))") == ["Note.size 3 3", "Note.age 2 2"])
        #expect(try steps("not not not (size != 5)") == ["Note.size 1 1"])
        #expect(try graph.count(Query("Note", where: "not not (size != 5)")) == 199)
    }

    @Test func `a long list of identities is looked up unless it has many of the objects`() throws {
        let store = try Store.inMemory(
            schema: Schema { EntityDefinition("Note", identity: ["id"]) { AttributeDefinition("id", .int64) } })
        try store.write { transaction in
            for number in 0..<2600 as Range<Int64> { try transaction.insert("Note", ["id": .int(number)]) }
        }
        func kind(_ count: Int64) throws -> QueryPlan.Step.Kind? {
            let ids = Operand.values((0..<count).map { .int(2 * $0) })
            let answer = try store.graph.answer(Query("Note", where: "id in $ids", ["ids": ids]))
            let serials = (0..<count).map { (index: Int64) -> UInt64 in UInt64(2 * index + 1) }
            #expect(answer.ids.map(\.serial) == serials)
            return answer.plan.steps.first?.kind
        }
        #expect(try kind(300) == .identity)
        #expect(try kind(400) == .scan)
    }

    @Test func `a sorted query with a limit finds a few objects first and sorts them`() throws {
        func kinds(_ condition: String, _ limit: Int) throws -> [QueryPlan.Step.Kind] {
            try graph.answer(Query("Note", where: condition, sort: "size", limit: limit)).plan.steps.map(\.kind)
        }
        #expect(try kinds("age == 90", 100) == [.index, .sort, .limit])
        #expect(try kinds("age >= 0", 3) == [.index, .limit])
        #expect(try kinds("size == 90", 1) == [.index, .limit])
        let few = try graph.answer(Query("Note", where: "age == 90 and size > 0", sort: "-size", limit: 100))
        #expect(few.ids.map(\.serial) == [182, 181] && few.plan.steps.map(\.readCount).max() == 2)
    }
}
