import Cambium
import FoundationEssentials
import TestFixtures
import Testing

@Suite("Codable values in JSON attributes of records")
struct RecordJSONTests {
    private struct Visit: BlankRecord {
        var days: [Date] = []
        var ref: Ref<Visit>?

        static let recordSchema = RecordSchema<Visit>("Visit") { RecordProperty(json: "days", \.days) }

        init() {}
        init(days: [Date]) { self.days = days }
    }

    @Test("JSON that already has the saved value keeps its order of keys and its other members")
    func otherForm() throws {
        let store = try Library.store()
        let rows = #"[{"title": "Emma", "printing": {"year": 1815, "city": "London", "copies": [2000]}}]"#
        try store.importRows(Book.self, from: .bytes(Array(rows.utf8)))
        var emma = try #require(try store.graph.fetch(Book.self).first)
        let id = try #require(emma.ref).id
        let stored = try store.graph[id, "printing"]
        emma.title = "Emma, 2nd edition"
        try store.save(&emma)
        #expect(try store.graph[id, "printing"] == stored)
        var edit = store.edit()
        emma = try edit.load(Book.self, id)
        try edit.save(&emma)
        #expect(edit.isEmpty)
        emma.printing?.year = 1816
        try store.save(&emma)
        #expect(try store.graph[id, "printing"] == .json(#"{"copies":[2000],"year":1816}"#))
    }

    @Test("dates are read back unchanged, and a date without a text is an error")
    func dates() throws {
        let store = try Store.inMemory(schema: Schema(of: Visit.self))
        var visit = Visit(days: [.distantFuture, Date(timeIntervalSinceReferenceDate: 0.1)])
        try store.save(&visit)
        let ref = try #require(visit.ref)
        #expect(try store.graph.load(ref).days == visit.days)
        visit.days.append(.distantPast)
        let error = try #require(throws: CambiumError.self) { try store.save(&visit) }
        #expect(error.code == .invalidInput)
        #expect(try store.graph.load(ref).days.count == 2)
    }

    @Test("a set in JSON that is equal to the stored set is not a change")
    func sets() throws {
        struct Basket: Codable, Equatable {
            enum Size: String, Codable { case small, medium, large }
            var goods: Set<String> = []
            var counts: [Size: Int] = [:]
            var order: [Int] = []
        }
        struct Cart: BlankRecord {
            var basket = Basket()
            var ref: Ref<Cart>?
            static let recordSchema = RecordSchema<Cart>("Cart") { RecordProperty(json: "basket", \.basket) }
        }
        let store = try Store.inMemory(schema: Schema(of: Cart.self))
        let goods = Set((0..<50).map { "good \($0)" })
        var cart = Cart(basket: Basket(goods: goods, counts: [.small: 1, .medium: 2, .large: 3], order: [1, 2]))
        try store.save(&cart)
        var read = try store.graph.load(try #require(cart.ref))
        #expect(read.basket == cart.basket)
        let unchanged = try store.save(&read)
        #expect(!unchanged.hasChanges)
        read.basket.order = [2, 1]
        let reordered = try store.save(&read)
        #expect(reordered.hasChanges)
        read.basket.goods.remove("good 7")
        let removed = try store.save(&read)
        #expect(removed.hasChanges)
        #expect(try store.graph.load(try #require(cart.ref)).basket == read.basket)
    }
}
