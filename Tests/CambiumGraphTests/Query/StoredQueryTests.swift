import Cambium
import CambiumTesting
import TestFixtures
import Testing

/// Queries that a schema has under names, on stores.
@Suite struct StoredQueryTests {
    private let store: Store
    private let paris: ObjectID
    private let lyon: ObjectID

    /// Two cities with three shops: two in Paris with the sizes 3 and 9, one in Lyon with the size 3.
    init() throws {
        store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Place") {
                    AttributeDefinition("name", .string)
                    QueryDefinition("named", where: "name == $name")
                }
                EntityDefinition("City", parent: "Place") {
                    AttributeDefinition("minSize", .int64, .optional)
                    RelationshipDefinition("shops", to: "Shop", .toMany, inverse: "city")
                    RelationshipDefinition("twin", to: "City")
                    QueryDefinition("large", of: "Shop", where: "size >= $source.minSize", sort: "-size")
                    QueryDefinition("twinShops", of: "Shop", where: "city == $source.twin")
                    QueryDefinition("sameSizes", of: "Shop", where: "size in $source.shops.size and city != $source")
                    QueryDefinition("ownShops", of: "Shop", where: "self in $source.shops and size > $min")
                }
                EntityDefinition("Shop") {
                    AttributeDefinition("size", .int64)
                    RelationshipDefinition("city", to: "City", inverse: "shops")
                    QueryDefinition("over", where: "size > $min", sort: "-size", limit: 2)
                    QueryDefinition("all")
                }
            })
        (paris, lyon) = try store.write { transaction in
            let paris = try transaction.insert("City", ["name": "Paris", "minSize": 4])
            let lyon = try transaction.insert("City", ["name": "Lyon"], links: ["twin": [paris]])
            for (size, city) in [(3, paris), (9, paris), (3, lyon)] {
                try transaction.insert("Shop", ["size": .int(Int64(size))], links: ["city": [city]])
            }
            return (paris, lyon)
        }.result
    }

    private func shops(_ name: String, _ city: ObjectID, _ arguments: [String: Operand] = [:]) throws -> [UInt64] {
        try store.graph.find(store.graph.query("City", named: name, arguments.merging(["source": .object(city)]) { $1 })).map(\.serial)
    }

    @Test func `a query is found, counted and aggregated by its name`() throws {
        let graph = store.graph
        let query = try graph.query("Shop", named: "over", ["min": 1])
        #expect(try graph.find(query).map(\.serial) == [2, 1])
        #expect(try graph.count(graph.query("Shop", named: "all")) == 3)
        #expect(try graph.aggregate(graph.query("Shop", named: "all"), Grouping([.count])).first?.values == [.value(.int(3))])
        var wide = query
        wide.limit = nil
        #expect(try graph.find(wide).map(\.serial) == [2, 1, 3])
    }

    @Test func `a query of a parent finds objects of the entity that asks for it`() throws {
        let graph = store.graph
        #expect(try graph.query("City", named: "named", ["name": "Paris"]).entity == "City")
        #expect(try graph.find(graph.query("Place", named: "named", ["name": "Lyon"])) == [lyon])
    }

    @Test func `values of the source replace paths`() throws {
        #expect(try shops("large", paris) == [2])
        #expect(try shops("twinShops", lyon) == [1, 2])
        #expect(try shops("sameSizes", paris) == [3])
        #expect(try shops("ownShops", paris, ["min": 3]) == [2])
    }

    @Test func `a source without a value compares as null`() throws {
        #expect(try shops("large", lyon) == [])
        #expect(try shops("twinShops", paris) == [])
    }

    @Test func `a value of the source that is not the name of an entity equals no such name`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Filter") {
                    AttributeDefinition("kind", .string)
                    RelationshipDefinition("parts", to: "Filter", .toMany)
                    QueryDefinition("same", where: "_entity == $source.kind")
                    QueryDefinition("others", where: "_entity != $source.kind")
                    QueryDefinition("listed", where: "_entity in $source.parts.kind")
                    QueryDefinition("named", where: "_entity == $kind")
                }
            })
        let (known, unknown) = try store.write { transaction in
            let known = try transaction.insert("Filter", ["kind": "Filter"])
            let unknown = try transaction.insert("Filter", ["kind": "Gone"])
            return (known, try transaction.insert("Filter", ["kind": "None"], links: ["parts": [known, unknown]]))
        }.result
        func count(_ name: String, _ source: ObjectID) throws -> Int {
            try store.graph.count(store.graph.query("Filter", named: name, ["source": .object(source)]))
        }
        #expect(try count("same", known) == 3 && count("others", known) == 0)
        #expect(try count("same", unknown) == 0 && count("others", unknown) == 3)
        #expect(try count("listed", known) == 0 && count("listed", unknown) == 3)
        #expect(throws: CambiumError.self) { try store.graph.count(store.graph.query("Filter", named: "named", ["kind": "Gone"])) }
    }

    @Test(arguments: ["City/1", "Place/1", "City/2"]) func `a source is also given as a text`(text: String) throws {
        let query = try store.graph.query("City", named: "ownShops", ["source": .init(stringLiteral: text), "min": 0])
        #expect(try store.graph.count(query) == (text == "City/2" ? 1 : 2))
    }

    @Test func `a query keeps the values that the source has in its graph`() throws {
        let before = store.graph
        try store.write { try $0.set(paris, "minSize", to: 1) }
        #expect(try before.count(before.query("City", named: "large", ["source": .object(paris)])) == 1)
        #expect(try store.graph.count(store.graph.query("City", named: "large", ["source": .object(paris)])) == 3)
    }

    @Test func `a live query follows a stored query`() async throws {
        var updates = store.live(try store.graph.query("Shop", named: "over", ["min": 5])).makeAsyncIterator()
        #expect(try await updates.next()?.count == 1)
        _ = try await store.write { try $0.insert("Shop", ["size": 6]) }
        #expect(try await updates.next()?.inserted.map(\.index) == [1])
    }

    private func code(_ entity: String, _ name: String, _ arguments: [String: Operand] = [:]) throws -> CambiumError.Code? {
        do {
            _ = try store.graph.find(store.graph.query(entity, named: name, arguments))
            return nil
        } catch {
            return (error as? CambiumError)?.code
        }
    }

    @Test func `a wrong name or argument is refused`() throws {
        #expect(try code("Store", "all") == .unknownName)
        #expect(try code("Shop", "large") == .unknownName)
        #expect(try code("Place", "large") == .unknownName)
        #expect(try code("Shop", "over") == .invalidInput)
        #expect(try code("Shop", "over", ["min": 1, "max": 2]) == .invalidInput)
        #expect(try code("Shop", "over", ["min": "many"]) == .invalidInput)
        #expect(try code("Shop", "over", ["min": 1, "source": .object(paris)]) == .invalidInput)
        #expect(try code("City", "large") == .invalidInput)
        #expect(try code("City", "large", ["source": 3]) == .invalidInput)
        #expect(try code("City", "large", ["source": "Shop/1"]) == .notFound)
        #expect(try code("City", "large", ["source": "City/99"]) == .notFound)
    }

    @Test func `queries survive a migration and a replay`() throws {
        let disk = TestDisk()
        let first = SchemaDefinition { EntityDefinition("Shop") { AttributeDefinition("size", .int64) } }
        let second = SchemaDefinition {
            EntityDefinition("Shop") {
                AttributeDefinition("size", .int64)
                QueryDefinition("over", where: "size > $min")
            }
        }
        let store = try disk.create(schema: Schema(first))
        try store.write { _ = try $0.insert("Shop", ["size": 6]) }
        let report = try store.migrate(to: second)
        #expect(report.entries.map(\.change.aspect) == ["queries/over"])
        try store.close()
        let again = try disk.open()
        #expect(try again.graph.count(again.graph.query("Shop", named: "over", ["min": 5])) == 1)
        #expect(throws: CambiumError.self) {
            try again.graph(at: .transaction(TransactionNumber(rawValue: 2))).query("Shop", named: "over")
        }
    }
}
