import Cambium
import Testing

enum Kind: String, CaseIterable, AttributeValue { case retail, online }

struct Shop: EntityRecord, Equatable {
    var name: String
    var age: Int32 = 0
    var kind = Kind.retail
    var owner: Owner?
    var ref: Ref<Shop>?

    static let recordSchema = RecordSchema<Shop>("Shop") {
        RecordProperty("name", \.name, .identity)
        RecordProperty("age", \.age, .default(0 as Int32), .min(0))
        RecordProperty("kind", \.kind, .default(Kind.retail))
        RecordProperty("owner", \.owner, .inverse("shops"))
    }
    init(name: String, owner: Owner? = nil) { (self.name, self.owner) = (name, owner) }
    init(from row: inout RecordReader) throws {
        name = try row.read("name")
        age = try row.read("age")
        kind = try row.read("kind")
        owner = try row.read("owner")
        ref = row.ref()
    }
}

struct Owner: EntityRecord, Equatable {
    var name: String
    var shops = ToMany<Shop>()
    var ref: Ref<Owner>?

    static let recordSchema = RecordSchema<Owner>("Owner") {
        RecordProperty("name", \.name, .identity)
        RecordProperty("shops", \.shops)
    }
    init(name: String) { self.name = name }
    init(from row: inout RecordReader) throws {
        name = try row.read("name")
        shops = try row.read("shops")
        ref = row.ref()
    }
}

/// The code of Docs/Guides/FromCoreValue.md, word for word.
@Suite struct FromCoreValueSnippets {
    func open(_ shops: inout [Shop], in transaction: inout WriteTransaction) throws {
        for index in shops.indices { shops[index].kind = .online }
        try transaction.save(&shops)
    }

    @Test func `a function saves in the transaction of its caller`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shop.self))
        try store.write { transaction in
            var shops = [Shop(name: "A"), Shop(name: "B")]
            try open(&shops, in: &transaction)
        }
        #expect(try store.graph.fetch(Shop.self) { $0.kind == .online }.count == 2)
    }

    @Test func `structs save themselves, once`() throws {
        let store = try Store.inMemory(schema: Schema(of: Shop.self))
        var shop = Shop(name: "Household Wares", owner: Owner(name: "Jane"))
        try store.save(&shop, Author(actor: "jane"))
        shop.age = 30
        try store.save(&shop, Author(actor: "jane"))
        #expect(try store.graph.count(of: "Owner") == 1)
        let old = try store.graph.fetch(Shop.self) { $0.age > 20 && $0.owner.name == "Jane" }
        let names = try store.graph.fetch(RecordQuery<Shop>().sorted(by: \.name).limited(to: 10)).map(\.name)
        let found = try store.graph.find(Shop.self, identity: "Household Wares")
        let (good, errors) = try store.graph.collect(RecordQuery<Shop>())
        #expect(old.map(\.name) == ["Household Wares"])
        #expect(names == ["Household Wares"])
        #expect(found?.age == 30)
        #expect(good.count == 1)
        #expect(errors.isEmpty)
        try store.delete(&shop)
        print(shop.ref == nil)
        #expect(try store.graph.count(of: "Shop") == 0)
    }
}
