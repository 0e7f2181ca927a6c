import CambiumModel
import CambiumTesting
import Testing

@testable import CambiumGraph

/// Lookups by identity in a bucket whose first entry with the right fragment belongs to another object.
@Suite struct IdentityFinderTests {
    private static func text(_ key: Int) -> String { "urn:key:\(key)" }

    private static func value(_ key: Int, _ type: AttributeType) -> Value {
        switch type {
        case .int64: .int(Int64(key))
        case .data: .data(Array(text(key).utf8))
        case .uri: .uri(text(key))
        default: .string(text(key))
        }
    }

    private static func hash(_ key: Int, _ type: AttributeType, _ hasher: KeyHasher) -> UInt64 {
        type == .int64 ? hasher.hash(UInt64(key), 0) : Array(text(key).utf8).withUnsafeBytes { hasher.hash($0) }
    }

    /// Returns three keys whose hashes have the same fragment, the part of a hash that a bucket stores.
    private static func keysOfOneFragment(_ type: AttributeType, _ hasher: KeyHasher) -> [Int] {
        var keys: [UInt16: [Int]] = [:]
        for key in 0..<100_000 {
            let fragment = Bucket.fragment(hash(key, type, hasher))
            keys[fragment, default: []].append(key)
            if let found = keys[fragment], found.count == 3 { return found }
        }
        return []
    }

    @Test(arguments: [AttributeType.string, .uri, .data, .int64], [false, true])
    func `an object is found although another object has the same fragment`(type: AttributeType, hasPart: Bool) throws {
        var definition = SchemaDefinition {
            EntityDefinition("Thing", identity: ["key"]) { AttributeDefinition("key", type) }
            EntityDefinition("Part", parent: "Thing") { AttributeDefinition("size", .int32, .optional) }
        }
        if !hasPart { definition.entities.removeLast() }
        let schema = try Schema(definition)
        let thing = try #require(schema.entity("Thing"))
        let timeline = Timeline()
        try ProgramRun.commit([.schema(schema.catalog)], to: timeline)
        let keys = Self.keysOfOneFragment(type, timeline.head.reader.hasher)
        try #require(keys.count == 3)
        // The second object is a part if there are parts, and the third key belongs to no object.
        let entities = [thing, schema.entity("Part") ?? thing]
        let ops = (0..<2).map { place in
            Op.insert(
                ObjectID(root: thing.number, serial: UInt64(place + 1)), entity: entities[place].number,
                [Assignment(thing.identity[0].number, Self.value(keys[place], type))])
        }
        try ProgramRun.commit(ops, to: timeline)
        let graph = timeline.head
        for entity in entities {
            let finder = try #require(graph.finder(entity))
            let single = keys.map { type == .int64 ? finder.find(Int64($0)) : finder.find(Self.text($0)) }
            let expected: [UInt64?] = [entity.name == "Part" ? nil : 1, 2, nil]
            #expect(single.map { place in place.map { graph.id(of: $0).serial } } == expected)
            let list = type == .int64 ? finder.find(keys.map { Int64($0) }) : finder.find(keys.map { Self.text($0) })
            #expect(list == single)
        }
    }

    @Test(arguments: [AttributeType.string, .uri, .data, .decimal])
    func `a text finds no identity of another type with the same bytes`(type: AttributeType) throws {
        let schema = try Schema(SchemaDefinition { EntityDefinition("Thing", identity: ["key"]) { AttributeDefinition("key", type) } })
        let thing = try schema.required("Thing")
        let number = try #require(DecimalNumber("7"))
        let value = type == .decimal ? .decimal(number) : Self.value(7, type)
        let text = type == .decimal ? String(decoding: number.storedBytes, as: UTF8.self) : Self.text(7)
        let timeline = Timeline()
        let id = ObjectID(root: thing.number, serial: 1)
        let insertion = Op.insert(id, entity: thing.number, [Assignment(thing.identity[0].number, value)])
        try ProgramRun.commit([.schema(schema.catalog), insertion], to: timeline)
        #expect(timeline.head.find(thing, identity: [value]) == id)
        #expect((timeline.head.place(thing, identity: text) != nil) == (type == .string))
    }
}
