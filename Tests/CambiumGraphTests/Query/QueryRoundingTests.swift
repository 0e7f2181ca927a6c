import Cambium
import Testing

/// Literals that are compared with the results of functions and with the values of groups.
@Suite struct QueryRoundingTests {
    /// Box 1 has an item whose values need rounding. Box 2 has an item whose values are exact in all types. Box 3 has no items.
    private let graph: Graph

    init() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Box") { RelationshipDefinition("items", to: "Item", .toMany, inverse: "box") }
                EntityDefinition("Item") {
                    AttributeDefinition("single", .float)
                    AttributeDefinition("real", .double)
                    AttributeDefinition("whole", .int64)
                    RelationshipDefinition("box", to: "Box", inverse: "items")
                }
            })
        try store.write { transaction in
            let boxes = try (0..<3).map { _ in try transaction.insert("Box") }
            try transaction.insert("Item", ["single": .float(0.1), "real": 0x1p60, "whole": .int(0)], links: ["box": [boxes[0]]])
            try transaction.insert("Item", ["single": .float(0.25), "real": 1.0, "whole": .int(3)], links: ["box": [boxes[1]]])
        }
        graph = store.graph
    }

    private func boxes(_ condition: String, _ arguments: [String: Operand] = [:]) throws -> [UInt64] {
        try graph.find(Query("Box", where: condition, arguments)).map(\.serial)
    }

    @Test(arguments: [
        ("items.@min.single == 0.1", [1]), ("items.@min.single > 0.1", [2]), ("items.@max.single in {0.1, 7}", [1]),
        ("items.@min.real == 1152921504606846976", [1]), ("items.@min.real < 1152921504606846976", [2]),
    ])
    func `a literal is rounded to the type of the results of a function`(condition: String, expected: [UInt64]) throws {
        #expect(try boxes(condition) == expected)
    }

    @Test func `a parameter is rounded to the type of the results of a function`() throws {
        #expect(try boxes("items.@min.single == $number", ["number": .value(.float(0.1))]) == [1])
        #expect(try boxes("items.@min.single == $number", ["number": .value(.double(0.1))]) == [1])
    }

    @Test(arguments: [
        ("items.@max.whole >= 1e-400", [2]), ("items.@max.whole < 1e-400", [1]), ("items.@max.whole > -1e-400", [1, 2]),
        ("items.@countDistinct.whole >= 1e-400", [1, 2]),
    ])
    func `a number that is too small for a double is not 0`(condition: String, expected: [UInt64]) throws {
        #expect(try boxes(condition) == expected)
    }

    @Test(arguments: ["single == 0.1", "min.single <= 0.1", "0.1 == single", "single in {0.1, 0.5}", "min.whole < 1e-400"])
    func `a literal is rounded to the type of the values of groups`(condition: String) throws {
        let single = try Operand(parsing: "single")
        let functions = [Aggregate(.min, of: single), Aggregate(.min, of: try Operand(parsing: "whole"))]
        let grouping = Grouping(by: [single], functions, having: try Condition(parsing: condition))
        #expect(try graph.aggregate(Query("Item"), grouping).map(\.group) == [[.value(.float(0.1))]])
    }
}
