import Cambium
import Testing

struct Shop: Sendable, Equatable {
    enum Kind: String, Sendable { case retail, online }

    var ref: ObjectID?
    var name: String
    var age: Int
    var kind: Kind
    var owner: ObjectID?
}

struct UnexpectedValue: Error { let path: String }

extension Shop {
    init(_ graph: Graph, _ id: ObjectID) throws {
        guard case .string(let name) = try graph[id, "name"] else { throw UnexpectedValue(path: "Shop.name") }
        guard case .int(let age) = try graph[id, "age"] else { throw UnexpectedValue(path: "Shop.age") }
        guard let kind = Kind(rawValue: try graph[id, "kind"].text) else { throw UnexpectedValue(path: "Shop.kind") }
        let owner = try graph.members("owner", of: id).first
        self.init(ref: id, name: name, age: Int(age), kind: kind, owner: owner)
    }
}

extension Shop {
    mutating func save(in transaction: inout WriteTransaction) throws {
        let id = try ref ?? transaction.insert("Shop", ["name": .string(name)])
        try transaction.set(id, "name", to: .string(name))
        try transaction.set(id, "age", to: .int(Int64(age)))
        try transaction.set(id, "kind", to: .string(kind.rawValue))
        let relationship = try transaction.schema.required("Shop").requiredRelationship("owner")
        for other in transaction.members(relationship, of: id) ?? [] where other != owner {
            try transaction.unlink(id, relationship, other)
        }
        if let owner { try transaction.link(id, relationship, owner) }
        ref = id
    }
}

/// The code of Docs/Guides/FromCoreValue.md, word for word.
@Suite struct FromCoreValueSnippets {
    private func makeStore() throws -> Store {
        let schema = try Schema {
            EntityDefinition("Shop", identity: ["name"]) {
                AttributeDefinition("name", .string)
                AttributeDefinition("age", .int32, default: 0, min: 0)
                AttributeDefinition("kind", .string, default: "retail", allowed: ["retail", "online"])
                RelationshipDefinition("owner", to: "Owner", inverse: "shops")
            }
            EntityDefinition("Owner", identity: ["name"]) {
                AttributeDefinition("name", .string)
                RelationshipDefinition("shops", to: "Shop", .toMany, inverse: "owner")
            }
        }
        return try Store.inMemory(schema: schema)
    }

    private func save(_ store: Store) throws -> Shop {
        var shop = Shop(ref: nil, name: "Household Wares", age: 30, kind: .retail, owner: nil)
        shop = try store.write(Author(actor: "jane")) { transaction in
            var saved = shop
            try saved.save(in: &transaction)
            return saved
        }.result
        return shop
    }

    private func upsert(_ store: Store) throws -> ImportReport {
        struct ShopRow: Encodable {
            var name: String
            var age: Int
            var owner: String?
        }

        let shops = try store.schema.required("Shop")
        let report = try store.importRows(shops, from: [.rows([ShopRow(name: "Household Wares", age: 31, owner: "Jane")])])
        print(report.counts.updated, report.entities["Owner"]?.stubs ?? 0)
        return report
    }

    private func query(_ store: Store) throws -> [Shop] {
        let graph = store.graph
        let old = try graph.objects(of: "Shop").map { try Shop(graph, $0) }.filter { $0.age > 20 }
        print(old.map(\.name))
        return old
    }

    private func delete(_ store: Store, _ saved: Shop) throws -> Shop {
        var shop = saved
        if let ref = shop.ref {
            try store.write(Author(actor: "jane")) { try $0.delete(ref) }
            shop.ref = nil
        }
        return shop
    }

    @Test func `a struct is saved, found, read and deleted as the guide shows`() throws {
        let store = try makeStore()
        var shop = try save(store)
        #expect(try Shop(store.graph, try #require(shop.ref)) == shop)
        #expect(try upsert(store).counts.updated == 1)
        let found = try query(store)
        #expect(found.map(\.age) == [31])
        #expect(found[0].owner != nil)
        // Saving a value without an owner unlinks the owner.
        let unlinked = try store.write { [shop] transaction in
            var saved = shop
            try saved.save(in: &transaction)
            return saved
        }.result
        #expect(try Shop(store.graph, try #require(unlinked.ref)).owner == nil)
        shop = try delete(store, shop)
        #expect(shop.ref == nil)
        #expect(try store.graph.count(of: "Shop") == 0)
    }
}
