import Cambium
import CambiumModel
import Testing

/// An entity with so many attributes that the values of an op are looked up in hash tables.
@Suite struct WideEntityTests {
    private let store: Store
    private let wide: Entity

    init() throws {
        var definition = EntityDefinition("Wide")
        definition.attributes = (0..<100).map { AttributeDefinition("a\($0)", .int64, .optional, default: 7) }
        store = try Store.inMemory(schema: Schema(SchemaDefinition(entities: [definition])))
        wide = try #require(store.graph.schema.entity("Wide"))
    }

    private func numbers(of id: ObjectID) -> [Int64] {
        wide.attributes.map { attribute in
            if case .int(let number)? = store.graph[id, attribute] { number } else { -1 }
        }
    }

    private func assign(_ numbers: [Int64]) -> [(Attribute, Value)] { zip(wide.attributes, numbers).map { ($0, .int($1)) } }

    @Test(arguments: [0, 1, 32, 33, 99, 100])
    func `an insert gets the defaults of the attributes to which it assigns nothing`(count: Int) throws {
        let assigned = (0..<count).map { Int64(100 + $0) }
        let id = try store.write { try $0.insert(wide, assign(assigned)) }.result
        #expect(numbers(of: id) == assigned + [Int64](repeating: 7, count: 100 - count))
    }

    @Test(arguments: [10, 80])
    func `the last of several values for one attribute counts, also if it is the stored one`(count: Int) throws {
        let id = try store.write { try $0.insert(wide) }.result
        let ones = assign([Int64](repeating: 1, count: count))
        let sevens = assign([Int64](repeating: 7, count: count))
        try store.write { try $0.set(id, ones + sevens) }
        #expect(numbers(of: id) == [Int64](repeating: 7, count: 100))
        try store.write { try $0.set(id, ones) }
        #expect(numbers(of: id) == [Int64](repeating: 1, count: count) + [Int64](repeating: 7, count: 100 - count))
    }
}
