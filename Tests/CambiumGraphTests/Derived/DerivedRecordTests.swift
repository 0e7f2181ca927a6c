import Cambium
import FoundationEssentials
import TestFixtures
import Testing

/// Records with derived attributes inside of transactions.
@Suite struct DerivedRecordTests {
    private let orders: DerivedOrders

    init() throws { orders = try DerivedOrders() }

    private struct Order: BlankRecord {
        var number = 0
        var itemCount: Int32 = 0
        var total: Decimal = 0
        var ref: Ref<Order>?

        static let recordSchema = RecordSchema<Order>("Order") {
            RecordProperty("number", \.number, .identity)
            RecordProperty("itemCount", \.itemCount)
            RecordProperty("total", \.total)
        }
    }

    @Test func `a record has the derived values for the changes so far`() throws {
        let (third, item) = (try orders.order(3), try orders.item("a"))
        try orders.store.write { transaction in
            try transaction.link(item, "order", third)
            #expect(try transaction.load(Order.self, third).itemCount == 1)
            #expect(try transaction.find(Order.self, identity: 1)?.total == 2.25)
            try transaction.set(item, "price", to: .decimal(try #require(DecimalNumber("7.5"))))
            let dear = try transaction.fetch(RecordQuery<Order> { $0.total > 1 }.sorted(by: \.total, .descending))
            #expect(dear.map(\.number) == [3, 1])
        }
        #expect(try orders.store.graph.fetch(Order.self) { $0.total > 5 }.map(\.number) == [3])
    }

    @Test func `a save refuses a changed derived value, and accepts one that is out of date`() throws {
        let id = try orders.order(1)
        var order = try orders.store.graph.load(Order.self, id)
        order.total += 1
        let error = #expect(throws: CambiumError.self) { try orders.store.save(&order) }
        #expect(error?.code == .invalidInput)
        order.total -= 1
        let item = try orders.item("a")
        try orders.store.write { try $0.set(item, "price", to: .decimal(try #require(DecimalNumber("7.5")))) }
        for number in [11, 12] {
            order.number = number
            try orders.store.save(&order)
        }
        order.itemCount += 1
        #expect(throws: CambiumError.self) { try orders.store.save(&order) }
        order = try orders.store.graph.load(Order.self, id)
        #expect(order.number == 12 && order.total == 9.75)
    }

    @Test func `reading inside of a transaction changes nothing`() throws {
        let item = try orders.item("a")
        let order = try orders.order(1)
        let price = try orders.store.graph[item, "price"]
        try orders.store.write { transaction in
            try transaction.set(item, "price", to: .decimal(try #require(DecimalNumber("7.5"))))
            #expect(try transaction.find(Order.self, identity: 1)?.total == 9.75)
            #expect(try transaction.fetch(Order.self) { $0.total > 9 }.map(\.number) == [1])
            try transaction.set(item, "price", to: price)
        }
        let (graph, replayed) = (orders.store.graph, try Store.reopened(orders.volume).graph)
        #expect(replayed.digest() == graph.digest())
        for id in [item, order] {
            let (place, other) = (try #require(graph.place(of: id)), try #require(replayed.place(of: id)))
            #expect(replayed.provenance(of: other) == graph.provenance(of: place))
        }
    }
}
