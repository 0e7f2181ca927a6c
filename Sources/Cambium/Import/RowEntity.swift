internal import CambiumBytes
import CambiumJSON
import CambiumModel

/// An entity with everything resolved that reading its objects needs.
final class RowEntity {
    /// What converting a value of an attribute looks at, beside each other and without the counting of references.
    struct Conversion {
        let type: AttributeType
        let isOptional: Bool
        let isFree: Bool
    }

    let entity: Entity
    let number: EntityNumber
    /// Whether the hierarchy has no other entity.
    let isAlone: Bool
    let attributes: [Attribute]
    let conversions: [Conversion]
    let links: [Relationship]
    /// What reading looks at of each, without the counting of references.
    let ends: [(isToMany: Bool, destination: EntityNumber)]
    /// The places of the identity attributes in `attributes`.
    let identity: [Int]
    /// The one attribute of the identity, where it is of one.
    let keyAttribute: UInt16
    /// Whether identities are of one attribute, and the schema has an index over them.
    let isHashed: Bool
    /// How objects are read; nil where keys are names.
    let mapping: ResolvedMapping?
    let isMapped: Bool
    /// What tells the entity of an object that is declared to be of this one.
    let discriminator: Discriminator?
    let discriminatorPath: PropertyPath?
    /// The discriminator as one key, which is looked for first; empty where there is none.
    private let discriminatorKey: [UInt8]
    // One reader at a time uses an entity: no access to this overlaps another.
    @exclusivity(unchecked) var keys: KeyTable

    init(_ entity: Entity, _ resolver: MappingResolver) throws(CambiumError) {
        self.entity = entity
        let outcome = try resolver.resolve(entity)
        mapping = outcome.mapping
        isMapped = outcome.mapping != nil
        discriminator = outcome.discriminator
        discriminatorPath = outcome.discriminatorPath
        discriminatorKey = Array((outcome.discriminatorPath?.literal ?? "").utf8)
        number = entity.number
        isAlone = entity.isAlone
        attributes = entity.attributes
        conversions = entity.attributes.map {
            Conversion(type: $0.type, isOptional: $0.isOptional, isFree: $0.constraints.isEmpty)
        }
        links = entity.relationships
        ends = entity.relationships.map { ($0.isToMany, $0.destination) }
        identity = outcome.identityPlaces(in: entity)
        keyAttribute = identity.count == 1 ? UInt16(identity[0]) : .max
        isHashed = identity.count == 1 && outcome.index != nil
        keys = KeyTable(
            entity.attributes.enumerated().map { ($0.element.name, .attribute($0.offset)) }
                + entity.relationships.enumerated().map { ($0.element.name, .relationship($0.offset)) })
    }
}

extension RowEntity {
    /// The token of what tells the entity of an object that is declared to be of this one; nil where nothing does.
    @inline(__always)
    func told(in object: Int, _ tokens: JSONTokens) -> Int? {
        if discriminatorKey.isEmpty { return nil }
        var key = object + 1
        let end = tokens.next(object)
        while key < end {
            if ByteSearch.equals(discriminatorKey, tokens.bytes(key)) { return key + 1 }
            key = tokens.next(key + 1)
        }
        guard let path = discriminatorPath, path.keys.count > 1 else { return nil }
        return path.value(in: object, tokens)
    }
}

extension Entity {
    /// Whether its hierarchy has no other entity.
    var isAlone: Bool { parent == nil && family.count == 1 }
}

extension MappingResolver.Outcome {
    /// The places of the identity in the attributes of the entity.
    func identityPlaces(in entity: Entity) -> [Int] {
        identity.compactMap { part in entity.attributes.firstIndex { $0.number == part } }
    }
}

/// The entities of a schema, resolved for one reader.
struct RowEntities {
    private let references: EntityReferences<RowEntity>
    private let numbers: [String: EntityNumber]

    init(_ schema: Schema, _ resolver: MappingResolver) throws(CambiumError) {
        var owned: [RowEntity] = []
        for entity in schema.entities { owned.append(try RowEntity(entity, resolver)) }
        references = EntityReferences(owned) { $0.number }
        numbers = Dictionary(uniqueKeysWithValues: schema.entities.map { ($0.name, $0.number) })
    }

    @inline(__always) subscript(_ number: EntityNumber) -> EntityReferences<RowEntity>.Reference { references[number] }
    subscript(_ name: String) -> EntityNumber? { numbers[name] }
}
