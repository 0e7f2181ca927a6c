import Cambium
import Testing

/// Sums and means of the floating-point numbers of related objects, in graphs that differ only in the order of links.
@Suite struct QuerySumOrderTests {
    /// Numbers whose sum, with correction of the rounding errors, is 1e16 in some orders and the next greater double in others.
    private static let numbers = [1.1, -1e32, 1e32, 1e16]

    private static func permutations(_ numbers: [Double]) -> [[Double]] {
        if numbers.isEmpty { return [[]] }
        return numbers.indices.flatMap { index in
            var rest = numbers
            let first = rest.remove(at: index)
            return permutations(rest).map { [first] + $0 }
        }
    }

    @Test(arguments: ["sum", "avg"]) func `the order of links does not change a sum or a mean`(function: String) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Shop") { RelationshipDefinition("orders", to: "Order", .toMany, inverse: "shop") }
                EntityDefinition("Order") {
                    RelationshipDefinition("shop", to: "Shop", inverse: "orders")
                    RelationshipDefinition("lines", to: "Line", .toMany, inverse: "order")
                }
                EntityDefinition("Line") {
                    AttributeDefinition("price", .double)
                    RelationshipDefinition("order", to: "Order", inverse: "lines")
                }
            })
        let permutations = Self.permutations(Self.numbers)
        let shops = try store.write { transaction in
            var shops: [ObjectID] = []
            for numbers in permutations {
                let shop = try transaction.insert("Shop")
                let order = try transaction.insert("Order", links: ["shop": [shop]])
                for number in numbers { try transaction.insert("Line", ["price": .double(number)], links: ["order": [order]]) }
                shops.append(shop)
            }
            return shops
        }.result
        let graph = store.graph
        #expect(permutations.count == 24)
        #expect(try Set(graph.values(of: [Operand(parsing: "lines.@\(function).price")], Query("Order"))).count == 1)
        #expect(try Set(graph.values(of: [Operand(parsing: "orders.lines.@\(function).price")], Query("Shop"))).count == 1)
        let sum = Aggregate(function == "sum" ? .sum : .avg, of: try Operand(parsing: "orders.lines.price"))
        let results = try shops.map { try graph.aggregate(Query("Shop", where: "self == $shop", ["shop": .object($0)]), Grouping([sum])) }
        #expect(Set(results.map { $0.first?.values }).count == 1)
    }

    @Test func `the order of links and of objects does not change the sign of a zero`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Order") { RelationshipDefinition("lines", to: "Line", .toMany, inverse: "order") }
                EntityDefinition("Line") {
                    AttributeDefinition("price", .double)
                    RelationshipDefinition("order", to: "Order", inverse: "lines")
                }
            })
        try store.write { transaction in
            for prices in [[-0.0, 0.0], [0.0, -0.0]] {
                let order = try transaction.insert("Order")
                for price in prices { try transaction.insert("Line", ["price": .double(price)], links: ["order": [order]]) }
            }
        }
        let (graph, price) = (store.graph, try Operand(parsing: "price"))
        for function in ["min", "max"] {
            let rows = try graph.values(of: [Operand(parsing: "lines.@\(function).price")], Query("Order"))
            #expect(rows.map(\.description) == ["[0]", "[0]"])
        }
        for order in ["Order/1", "Order/2"] {
            let query = try Query("Line", where: "order == $order", ["order": .value(.string(order))])
            let functions = [Aggregate(.min, of: price), Aggregate(.max, of: price)]
            for keys in [[price], [price, price]] {
                let rows = try graph.aggregate(query, Grouping(by: keys, functions))
                #expect(rows.map { "\($0.group[0]) \($0.values)" } == ["0 [0, 0]"])
            }
        }
    }
}
