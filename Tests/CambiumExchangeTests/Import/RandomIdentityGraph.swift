import Cambium
import CambiumTesting
import FoundationEssentials
import TestFixtures

/// A schema and a store of objects that all have an identity, with values that are difficult to write as text.
struct RandomIdentityGraph {
    private(set) var definition = SchemaDefinition(entities: [])
    private var random: SplitMix64

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        let count = Int.random(in: 1...4, using: &random)
        for number in 0..<count { definition.entities.append(entity(number)) }
        for number in 0..<Int.random(in: 1...2 * count, using: &random) { addRelationship(number) }
        var own = random
        for number in 1..<max(1, count) where own.isTrue(1, outOf: 2) { addOwner(number, &own) }
    }

    // MARK: The schema

    private static let identityTypes: [AttributeType] = [.string, .int16, .int64, .uuid, .date, .decimal, .double, .uri, .data]

    private mutating func entity(_ number: Int) -> EntityDefinition {
        let identity = random.isTrue(1, outOf: 4) ? ["a", "b"] : ["a"]
        var entity = EntityDefinition("Entity\(number)", identity: identity)
        for name in identity { entity.attributes.append(AttributeDefinition(name, random.pick(Self.identityTypes) ?? .string)) }
        for type in AttributeType.allCases {
            var attribute = AttributeDefinition("\(type.rawValue)Value", type, .optional)
            if type == .int32 { attribute.defaultValue = .number("5") }
            entity.attributes.append(attribute)
        }
        return entity
    }

    private mutating func addRelationship(_ number: Int) {
        let source = Int.random(in: 0..<definition.entities.count, using: &random)
        let target = Int.random(in: 0..<definition.entities.count, using: &random)
        let kinds: [RelationshipDefinition.Cardinality] = [.toOne, .toMany, .orderedToMany]
        let (name, back) = ("relationship\(number)", "back\(number)")
        var kind = random.pick(kinds) ?? .toMany
        switch Int.random(in: 0..<4, using: &random) {
        case 0: definition.entities[source].relationships.append(.init(name, to: "Entity\(target)", kind))
        case 1:
            if kind == .orderedToMany { kind = .toMany }
            definition.entities[source].relationships.append(.init(name, to: "Entity\(source)", kind, inverse: name))
        default:
            definition.entities[source].relationships.append(.init(name, to: "Entity\(target)", kind, inverse: back))
            definition.entities[target].relationships.append(
                .init(back, to: "Entity\(source)", random.pick(kinds) ?? .toMany, inverse: name))
        }
    }

    /// Adds a relationship to an earlier entity, so that no identity needs itself, and makes it a component of the identity.
    private mutating func addOwner(_ number: Int, _ random: inout SplitMix64) {
        let target = Int.random(in: 0..<number, using: &random)
        var owner = RelationshipDefinition("owner", to: "Entity\(target)")
        if random.isTrue(1, outOf: 2) {
            owner.inverse = "owned\(number)"
            let kind: RelationshipDefinition.Cardinality = random.isTrue(1, outOf: 2) ? .toMany : .orderedToMany
            definition.entities[target].relationships.append(.init("owned\(number)", to: "Entity\(number)", kind, inverse: "owner"))
        }
        definition.entities[number].relationships.append(owner)
        definition.entities[number].identity.insert("owner", at: random.isTrue(1, outOf: 2) ? 0 : 1)
    }

    func emptyStore() throws -> Store { try Store.inMemory(schema: try Schema(definition)) }

    // MARK: The objects

    mutating func store() throws -> Store {
        let store = try emptyStore()
        var ids: [String: [ObjectID]] = [:]
        try store.write { transaction in
            for entity in store.schema.entities {
                let isOwner = definition.entities.contains { other in
                    other.relationships.contains { $0.name == "owner" && $0.destination == entity.name }
                }
                for number in 0..<max(isOwner ? 1 : 0, Int.random(in: 0...12, using: &random)) {
                    let values = entity.attributes.map { attribute in
                        (attribute, attribute.isOptional ? value(attribute.type) : name(attribute.type, number))
                    }
                    ids[entity.name, default: []].append(try transaction.insert(entity, values))
                }
            }
            for entity in store.schema.entities {
                for relationship in entity.relationships {
                    let destination = store.schema.entity(relationship.destination)?.name ?? ""
                    for _ in 0..<Int.random(in: 0...20, using: &random) {
                        guard let owner = random.pick(ids[entity.name] ?? []), let target = random.pick(ids[destination] ?? []) else {
                            continue
                        }
                        try transaction.link(owner, relationship.name, target)
                    }
                    guard relationship.name == "owner" else { continue }
                    for id in ids[entity.name] ?? [] where try transaction.members("owner", of: id).isEmpty {
                        if let target = random.pick(ids[destination] ?? []) { try transaction.link(id, "owner", target) }
                    }
                }
            }
        }
        return store
    }

    private static let texts = [
        "", ",", "\"", "\"\"", "\r\n", "\n", "\r", ";", "\\", "a;b\\;c", "[1]", "{}", " a ", "é\u{1F332}", "\u{1}\u{7F}", "null", "true",
        "0", "-",
        "\u{FEFF}", "a,b\"c\nd", "\t",
    ]

    /// Returns the same value for the same number, and another value for another number.
    private func name(_ type: AttributeType, _ number: Int) -> Value {
        switch type {
        case .string: .string(Self.texts[number % Self.texts.count])
        case .int16, .int64: .int(Int64(number * 37 % 11 - 5) * 100 + Int64(number))
        case .uuid: .uuid(UUID(uuid: (UInt8(number), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)))
        case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number - 6) * 1e7 + 0.125))
        case .decimal: .decimal(DecimalNumber("\(number - 6).5") ?? .zero)
        case .double: .double(Double(number - 6) / 3)
        case .data: .data([UInt8](repeating: 255, count: number))
        default: .uri("a;b\\[\(number)")
        }
    }

    private mutating func value(_ type: AttributeType) -> Value {
        if random.isTrue(1, outOf: 4) { return .null }
        switch type {
        case .bool: return .bool(random.isTrue(1, outOf: 2))
        case .int16: return .int(random.pick([-32_768, 0, 32_767]) ?? 0)
        case .int32: return .int(random.pick([-2_147_483_648, 5, 2_147_483_647]) ?? 0)
        case .int64: return .int(random.pick([.min, -1, .max]) ?? 0)
        case .float: return .float(random.pick([-0.0, 0.1, 1, .leastNonzeroMagnitude, -.greatestFiniteMagnitude]) ?? 0)
        case .double: return .double(random.pick([-0.0, 0.1, 1e15, 1e16, .leastNonzeroMagnitude, .greatestFiniteMagnitude]) ?? 0)
        case .decimal:
            return .decimal(DecimalNumber(random.pick(["0", "-1.5", "1e120", "12345678901234567890123456789012345678"]) ?? "") ?? .zero)
        case .string: return .string(random.pick(Self.texts) ?? "")
        case .data: return .data(random.pick([[], [0], [255, 254, 253, 0]]) ?? [])
        case .date: return .date(Date(timeIntervalSinceReferenceDate: random.pick([-63_113_904_000, 0.1, 1e9 / 3, 252_423_993_599]) ?? 0))
        case .uuid: return name(.uuid, 200)
        case .uri: return .uri(random.pick(["a,b", "http://example.org/\"x\"", "[", "\u{E9}"]) ?? "a")
        case .json: return .json(random.pick(["{\"a\":[1.50,\"x\\\"\"]}", "\"text\"", "[]", "false", "1e3", "\"\""]) ?? "1")
        }
    }
}
