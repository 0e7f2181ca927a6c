import CambiumModel
import Testing

@testable import CambiumGraph

/// The rules that a query must obey when it runs, whichever way its condition was made.
struct QueryCheckTests {
    private let graph: Graph

    init() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Person", indexes: [["score"]]) {
                    AttributeDefinition("age", .int32)
                    AttributeDefinition("score", .double, .optional)
                    AttributeDefinition("name", .string, .optional)
                }
            })
        let person = try #require(schema.entity("Person"))
        let numbers = try ["age", "score", "name"].map { try #require(person.attribute($0)).number }
        let timeline = Timeline()
        try ProgramRun.commit(
            [.schema(schema.catalog)]
                + Self.people.enumerated().map { index, each in
                    let values: [Value] = [.int(Int64(index)), .double(each.score), .string(each.name)]
                    return .insert(
                        ObjectID(root: person.root, serial: UInt64(index + 1)), entity: person.number,
                        zip(numbers, values).map { Assignment($0, $1) })
                }, to: timeline)
        graph = timeline.head
    }

    private static let people: [(score: Double, name: String)] = [
        (0.1, "e\u{301}"), (0.2, "\u{e9}"), (0.3, "z"), (-0.0, "e"), (0.0, "ea"), (1e300, ""), (-1.5, "a\u{0}b"),
    ]

    @Test func `a condition that replaces a parsed one is checked`() throws {
        var query = try Query("Person", where: "age > 1")
        var deep = Condition.constant(true)
        for _ in 0...Condition.depthMax { deep = .not(deep) }
        query.condition = deep
        #expect { try graph.count(query) } throws: { ($0 as? CambiumError)?.code == .limitExceeded }
    }

    @Test func `a value without a parameter is refused after the condition changed`() throws {
        var query = try Query("Person", where: "age > $age", ["age": 2])
        #expect(try graph.count(query) == Self.people.count - 3)
        query.condition = try Condition(parsing: "age > 2")
        #expect { try graph.count(query) } throws: { ($0 as? CambiumError)?.code == .invalidInput }
        query.arguments = [:]
        #expect(try graph.count(query) == Self.people.count - 3)
    }

    @Test(arguments: [0.1, 0.2, 0, -0.0, -1.5, 1e300, 1e-300, 0.1 + 0.2]) func `a double selects as its text does`(limit: Double) throws {
        for relation in ["<", "<=", ">", ">=", "==", "!="] {
            let byValue = try Query("Person", where: "score \(relation) $limit", ["limit": Operand(floatLiteral: limit)])
            let byText = try Query("Person", where: "score \(relation) \(limit)")
            #expect(try graph.find(byValue) == graph.find(byText), "\(relation) \(limit)")
            let whole = try Query("Person", where: "age \(relation) $limit", ["limit": Operand(floatLiteral: limit)])
            #expect(try graph.find(whole) == graph.find(Query("Person", where: "age \(relation) \(limit)")), "age \(relation) \(limit)")
        }
    }

    @Test(arguments: [0, 1, 3, -1, Int64.max, Int64.min]) func `an integer selects as its text does`(limit: Int64) throws {
        for name in ["age", "score"] {
            for relation in ["<", "<=", ">", ">=", "==", "!="] {
                let byValue = try Query("Person", where: "\(name) \(relation) $limit", ["limit": Operand(integerLiteral: limit)])
                #expect(
                    try graph.find(byValue) == graph.find(Query("Person", where: "\(name) \(relation) \(limit)")), "\(relation) \(limit)")
            }
        }
    }

    @Test(arguments: [(-1, 0), (nil, -1), (Int.min, Int.min)] as [(Int?, Int)])
    func `groups and different rows refuse a negative limit or offset`(limit: Int?, offset: Int) throws {
        var query = Query("Person", where: .constant(true))
        (query.limit, query.offset) = (limit, offset)
        let name = try Operand(parsing: "name")
        let grouping = Grouping(by: [name], [.count])
        #expect { try graph.aggregate(query, grouping) } throws: { ($0 as? CambiumError)?.code == .invalidInput }
        #expect { try graph.values(of: [name], query, repeated: .remove) } throws: { ($0 as? CambiumError)?.code == .invalidInput }
    }

    @Test func `groups refuse a cursor`() throws {
        var query = try Query("Person", limit: 2)
        query.cursor = try graph.answer(query).cursor
        #expect(try graph.count(query) == 2)
        #expect { try graph.aggregate(query, Grouping([.count])) } throws: { ($0 as? CambiumError)?.code == .invalidInput }
    }

    @Test func `a query has at most 64 keys of groups and 64 functions`() throws {
        let (all, age) = (Query("Person", where: .constant(true)), try Operand(parsing: "age"))
        for (keys, functions) in [(64, 64), (65, 1), (1, 65)] {
            let sums = [Aggregate](repeating: Aggregate(.sum, of: age), count: functions)
            let grouping = Grouping(by: [Operand](repeating: age, count: keys), sums)
            if max(keys, functions) == 64 {
                #expect(try graph.aggregate(all, grouping).count == Self.people.count)
            } else {
                #expect { try graph.aggregate(all, grouping) } throws: { ($0 as? CambiumError)?.code == .limitExceeded }
            }
        }
    }

    @Test func `groups refuse too many sort keys`() throws {
        var query = Query("Person", where: .constant(true))
        let name = try Operand(parsing: "name")
        query.sort = [SortKey](repeating: SortKey(name), count: 65)
        let grouping = Grouping(by: [name], [.count])
        #expect { try graph.aggregate(query, grouping) } throws: { ($0 as? CambiumError)?.code == .limitExceeded }
    }

    @Test func `groups of texts are in the order of their bytes`() throws {
        let rows = try graph.aggregate(Query("Person"), Grouping(by: [try Operand(parsing: "name")], [.count]))
        let expected = Self.people.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect(rows.map(\.group) == expected.map { [.value(.string($0))] })
        #expect(rows.count == Self.people.count)
    }

    @Test func `groups are sorted without the differences that an option ignores`() throws {
        let name = try Operand(parsing: "name")
        let grouping = Grouping(by: [name], [.count])
        var query = Query("Person", where: .constant(true))
        query.sort = try SortKey.list(parsing: "name[d]")
        // Both forms of "é" are sorted as "e", and texts that are then equal are in the order of their bytes.
        let expected = ["", "a\u{0}b", "e", "e\u{301}", "\u{e9}", "ea", "z"]
        #expect(try graph.aggregate(query, grouping).map(\.group) == expected.map { [.value(.string($0))] })
        query.sort = try SortKey.list(parsing: "count[c]")
        #expect { try graph.aggregate(query, grouping) } throws: { ($0 as? CambiumError)?.code == .invalidInput }
    }

    @Test func `a plan has the steps that choose, sort and limit groups`() throws {
        let age = try Operand(parsing: "age")
        let plain = try graph.explainedAggregate(Query("Person"), Grouping(by: [age], [.count])).plan
        #expect(plain.steps.map(\.kind) == [.scan])
        let grouping = Grouping(by: [age], [.count], having: try Condition(parsing: "age > 1"))
        let steps = try graph.explainedAggregate(Query("Person", sort: "-age", limit: 2), grouping).plan.steps
        #expect(steps.map(\.kind) == [.scan, .limit, .sort, .limit])
        #expect(steps.map(\.name) == ["Person", "having age > 1", "-age", nil])
        #expect(steps.map(\.objectCount) == [7, 5, 5, 2] && steps.map(\.readCount) == [7, 7, 5, 5])
    }

    @Test func `groups of doubles are in the order of the numbers`() throws {
        let rows = try graph.aggregate(Query("Person"), Grouping(by: [try Operand(parsing: "score")], [.count]))
        let numbers = rows.compactMap { if case .value(.double(let number)) = $0.group[0] { number } else { nil } }
        #expect(numbers == [-1.5, 0, 0.1, 0.2, 0.3, 1e300])
    }

    @Test func `the answer by an index is the same in both directions`() throws {
        var query = try Query("Person", where: "score between {$low, $high}", ["low": -2.0, "high": 0.2], sort: "score", limit: 3)
        let ascending = try graph.answer(query)
        #expect(ascending.plan.steps.first?.name == "Person.score")
        #expect(ascending.ids.map(\.serial) == [7, 4, 5])
        query.sort = try SortKey.list(parsing: "-score")
        let descending = try graph.answer(query)
        #expect(descending.ids.map(\.serial) == [2, 1, 4])
        #expect(try graph.find(query) == descending.ids)
    }

    @Test(arguments: ["score", "-score"], [nil, "age >= 0"])
    func `a page after a cursor is read from the index, and not from its beginning`(sort: String, condition: String?) throws {
        var query = try Query("Person", where: condition, sort: sort)
        let all = try graph.find(query)
        query.limit = 2
        query.cursor = try graph.answer(query).cursor
        let page = try graph.answer(query)
        let step = try #require(page.plan.steps.first)
        #expect(page.ids == Array(all[2..<4]))
        #expect(step.name == "Person.score" && step.readCount <= 4)
    }
}
