import Cambium
import TestFixtures
import Testing

@testable import CambiumLog

/// The values of derived attributes after transactions.
@Suite struct DerivedTests {
    @Test func `an import computes every derived attribute`() throws {
        let orders = try DerivedOrders()
        #expect(try orders.values("itemCount") == ["2", "1", "0"])
        #expect(try orders.values("total") == ["3.35", "0", "0"])
        #expect(try orders.values("pieces") == ["5", "0", "0"])
        #expect(try orders.values("weight") == ["1.75", "0.0", "0.0"] || orders.values("weight") == ["1.75", "0", "0"])
        #expect(try orders.values("first") == ["2020-01-02T00:00:00Z", Value.null.text, Value.null.text])
        #expect(try orders.values("last") == ["b", "c", Value.null.text])
        #expect(try orders.values("searchName") == ["arger & straße", Value.null.text, "abc"])
        try orders.check()
    }

    @Test func `a change of a member changes the sums of its owner`() throws {
        let orders = try DerivedOrders()
        let a = try orders.item("a")
        try orders.store.write { try $0.set(a, "price", to: .decimal(DecimalNumber(7))) }
        #expect(try orders.values("total") == ["9.25", "0", "0"])
        try orders.store.write { try $0.set(a, "price", to: .null) }
        #expect(try orders.values("total") == ["2.25", "0", "0"])
        try orders.check()
    }

    @Test func `a member that changes its owner changes both owners`() throws {
        let orders = try DerivedOrders()
        let (a, third) = (try orders.item("a"), try orders.order(3))
        try orders.store.write { try $0.link(a, "order", third) }
        #expect(try orders.values("itemCount") == ["1", "1", "1"])
        #expect(try orders.values("total") == ["2.25", "0", "1.1"])
        try orders.check()
    }

    @Test func `a deletion changes the owners that stay`() throws {
        let orders = try DerivedOrders()
        let (b, second) = (try orders.item("b"), try orders.order(2))
        try orders.store.write { try $0.delete(b, second) }
        #expect(try orders.values("itemCount") == ["1", "0"])
        #expect(try orders.values("last") == ["a", Value.null.text])
        try orders.check()
    }

    @Test func `a new object has its derived values`() throws {
        let orders = try DerivedOrders()
        let item = try orders.item("c")
        try orders.store.write { try $0.insert("Order", ["number": 4, "name": "Élan"], links: ["items": [item]]) }
        #expect(try orders.values("itemCount") == ["2", "0", "0", "1"])
        #expect(try orders.values("searchName").last == "elan")
        try orders.check()
    }

    @Test func `a transaction reads derived values that include its own changes`() throws {
        let orders = try DerivedOrders()
        let (first, a) = (try orders.order(1), try orders.item("a"))
        try orders.store.write { transaction in
            try transaction.set(a, "pieces", to: 40)
            try transaction.set(first, "name", to: "NEW")
            #expect(try transaction[first, "pieces"] == .int(43))
            #expect(try transaction[first, "searchName"] == .string("new"))
        }
    }

    @Test func `a transaction computes a derived value for an attribute of the schema before a migration`() throws {
        let orders = try DerivedOrders()
        let pieces = try orders.store.schema.required("Order").requiredAttribute("pieces")
        var definition = orders.store.schema.definition
        definition["Item"].attributes.append(AttributeDefinition("note", .string, .optional))
        try orders.store.migrate(to: definition)
        let (first, a) = (try orders.order(1), try orders.item("a"))
        try orders.store.write { transaction in
            try transaction.set(a, "pieces", to: 40)
            let value = transaction[first, pieces]
            #expect(value == Value.int(43))
        }
    }

    @Test func `a transaction that sets a derived attribute is refused`() throws {
        let orders = try DerivedOrders()
        let first = try orders.order(1)
        func code(_ body: (inout WriteTransaction) throws -> Void) -> CambiumError.Code? {
            do {
                try orders.store.write { try body(&$0) }
                return nil
            } catch { return (error as? CambiumError)?.code }
        }
        #expect(code { try $0.set(first, "itemCount", to: 7) } == .invalidInput)
        #expect(code { try $0.insert("Order", ["number": 9, "total": .decimal(DecimalNumber(1))]) } == .invalidInput)
        #expect(code { _ = try $0.clone(first, CloneRequest(rootValues: ["number": 9, "pieces": 1])) } == .invalidInput)
        #expect(try orders.values("itemCount") == ["2", "1", "0"])
    }

    @Test func `a sum that exceeds its type refuses the transaction and names object and attribute`() throws {
        let orders = try DerivedOrders()
        let a = try orders.item("a")
        do {
            try orders.store.write { try $0.set(a, "pieces", to: .int(.max)) }
            Issue.record("the sum was accepted")
        } catch let error as CambiumError {
            #expect(error.code == .limitExceeded)
            #expect(error.message.contains("Order/1") && error.message.contains("'pieces'"))
        }
        #expect(try orders.values("pieces") == ["5", "0", "0"])
        try orders.check()
    }

    @Test func `a derived sum may be too large on the way`() throws {
        let definition = SchemaDefinition {
            EntityDefinition("Order") {
                AttributeDefinition("total", .decimal, derived: .sum("items.price"))
                AttributeDefinition("weight", .double, derived: .sum("items.weight"))
                RelationshipDefinition("items", to: "Item", .toMany)
            }
            EntityDefinition("Item") {
                AttributeDefinition("price", .decimal)
                AttributeDefinition("weight", .double)
            }
        }
        let store = try Store.inMemory(schema: Schema(definition))
        try store.write { transaction in
            let order = try transaction.insert("Order")
            for (price, weight) in [("1e30", 1.7e308), ("1e-30", 1.5), ("-1e30", -1.7e308), ("0", -1.7e308), ("0", 1.7e308)] {
                let price = Value.decimal(try #require(DecimalNumber(price)))
                try transaction.link(order, "items", transaction.insert("Item", ["price": price, "weight": .double(weight)]))
            }
            #expect(try transaction[order, "total"] == .decimal(try #require(DecimalNumber("1e-30"))))
            #expect(try transaction[order, "weight"] == .double(1.5))
        }
    }

    @Test func `the log has no derived values`() throws {
        let orders = try DerivedOrders()
        let a = try orders.item("a")
        let before = try orders.ops()
        try orders.store.write { try $0.set(a, "pieces", to: 9) }
        let ops = try orders.ops().dropFirst(before.count)
        let pieces = try orders.store.schema.required("Item").requiredAttribute("pieces").number
        #expect(Array(ops) == [.set(a, [Assignment(pieces, 9)])])
    }

    @Test func `a clone computes the values of the copies`() throws {
        let orders = try DerivedOrders(Self.cloneable)
        let first = try orders.order(1)
        try orders.store.write { transaction in
            try transaction.set(try orders.item("a"), "pieces", to: 10)
            let copy = try transaction.clone(first, CloneRequest(rootValues: ["number": 9, "name": "Copy"])).root
            try transaction.set(try orders.item("b"), "pieces", to: 20)
            #expect(try transaction[copy, "pieces"] == .int(13))
        }
        #expect(try orders.values("pieces") == ["30", "0", "0", "13"])
        #expect(try orders.values("itemCount") == ["2", "1", "0", "2"])
        #expect(try orders.values("searchName").last == "copy")
        try orders.check()
    }

    /// The orders, with items that need no identity.
    static let cloneable: SchemaDefinition = {
        var definition = DerivedOrders.definition
        definition["Item"][attribute: "key"] = AttributeDefinition("key", .string, .optional, userInfo: ["exclude": ""])
        return definition
    }()

    @Test func `queries use an index over a derived attribute`() throws {
        let orders = try DerivedOrders()
        let graph = orders.store.graph
        #expect(try graph.find(Query("Order", where: "total > 1")) == [try orders.order(1)])
        #expect(try graph.find(Query("Order", where: "searchName == \"abc\"")) == [try orders.order(3)])
        let answer = try graph.answer(Query("Order", sort: "-total,number"))
        #expect(answer.ids.map(\.serial) == [1, 2, 3])
    }

    @Test func `a unique derived attribute refuses texts that differ only in case`() throws {
        var definition = DerivedOrders.definition
        definition["Order"].unique = [["searchName"]]
        let orders = try DerivedOrders(definition)
        #expect(throws: CambiumError.self) { try orders.store.write { try $0.insert("Order", ["number": 4, "name": "ÀBC"]) } }
        try orders.store.write { try $0.insert("Order", ["number": 4, "name": "ABCD"]) }
        #expect(try orders.values("searchName").last == "abcd")
        try orders.check()
    }

    /// Each copy of the text takes ten chunks. In most of these graphs, four to nine chunks are left when the last copy is refused.
    @Test(arguments: [200, 203, 206]) func `long derived values that do not fit into the graph are refused`(chunkCountMax: Int) throws {
        let schema = try Schema {
            EntityDefinition("Owner") {
                AttributeDefinition("last", .string, .optional, derived: .max("items.text"))
                RelationshipDefinition("items", to: "Item", .toMany)
            }
            EntityDefinition("Item") { AttributeDefinition("text", .string) }
        }
        var tuning = LogTuning()
        (tuning.chunkCountMax, tuning.checkpointsInBackground) = (chunkCountMax, false)
        let store = try Store.create(
            MemoryVolume(), schema: schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        func add(_ ownerCount: Int) throws {
            try store.write { transaction in
                let item = try transaction.insert("Item", ["text": .string(String(repeating: "a", count: 655_000))])
                for _ in 0..<ownerCount { try transaction.link(transaction.insert("Owner"), "items", item) }
            }
        }
        try add(2)
        let digest = store.graph.digest()
        #expect(code { try add(40) } == .limitExceeded)
        #expect(store.graph.digest() == digest && store.graph.invariantFindings() == [])
    }

    @Test func `an earlier moment shows the values of that moment`() throws {
        let orders = try DerivedOrders()
        let before = orders.store.graph
        let total = try before.schema.required("Order").requiredAttribute("total")
        try orders.store.write { try $0.delete(try orders.item("a")) }
        #expect(before.value(of: total, of: try orders.order(1))?.text == "3.35")
        #expect(orders.store.graph.value(of: total, of: try orders.order(1))?.text == "2.25")
    }
}
