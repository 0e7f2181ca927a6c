internal import CambiumBytes
internal import CambiumJSON
import CambiumModel

/// An entity in the form that an import needs to read its objects. The import resolves each entity once, before the first row.
final class RowEntity {
    /// The facts about an attribute that are needed to convert its values. They contain no references, so reading them needs no reference
    /// counting.
    struct Conversion {
        let type: AttributeType
        let isOptional: Bool
        /// Whether the attribute has no constraints.
        let isFree: Bool
    }

    let entity: Entity
    let number: EntityNumber
    /// Whether the hierarchy consists of this entity only.
    let isAlone: Bool
    let attributes: [Attribute]
    let conversions: [Conversion]
    let links: [Relationship]
    /// The facts about each relationship that the reader needs. They contain no references, so reading them needs no reference counting.
    let ends: [(isToMany: Bool, destination: EntityNumber)]
    /// The indexes of the identity attributes in `attributes`.
    let identity: [Int]
    /// Whether the identity contains a relationship.
    let isOwned: Bool
    /// The index of the identity attribute if the identity is exactly one attribute; otherwise `.max`.
    let keyAttribute: UInt16
    /// Whether the identity has one attribute, and the schema has an index over this attribute.
    let isHashed: Bool
    /// The keys from which the properties of an object are read.
    let plan: ReadingPlan
    /// Whether a mapping states other keys than the names of the properties, or other values.
    let isMapped: Bool
    /// The key that names the entity of an object. It is used only for objects whose declared entity is this entity. The declared entity of
    /// an object is the imported entity, or the destination of the relationship that contains the object.
    let discriminator: Discriminator?
    let discriminatorPath: PropertyPath?
    /// The whole path to the discriminator as one key. The reader looks up this key first. Empty if there is no discriminator.
    private let discriminatorKey: [UInt8]

    init(_ entity: Entity, _ resolver: MappingResolver) throws(CambiumError) {
        self.entity = entity
        let outcome = try resolver.resolve(entity)
        plan = outcome.plan ?? ReadingPlan(namesOf: entity)
        isMapped = outcome.plan != nil
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
        let parts = outcome.identityParts(in: entity)
        identity = parts.compactMap(\.attribute)
        isOwned = identity.count < parts.count
        keyAttribute = parts.count == 1 ? parts[0].attribute.map { UInt16($0) } ?? .max : .max
        isHashed = keyAttribute != .max && outcome.index != nil
    }
}

extension RowEntity {
    /// Returns the token of the value that names the entity of an object. Returns `nil` if no value names the entity. This `RowEntity` must
    /// be the declared entity of the object. The declared entity is the imported entity, or the destination of the relationship that
    /// contains the object.
    @inline(__always)
    func discriminatorValue(in object: Int, _ tokens: JSONTokens) -> Int? {
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

    /// Whether a key is the name of a derived attribute. An export writes the value, and only the store computes it.
    func isDerived(_ key: String) -> Bool { entity.attribute(key)?.isDerived ?? false }
}

extension Entity {
    /// Whether the hierarchy consists of this entity only.
    var isAlone: Bool { parent == nil && family.count == 1 }
}

/// A component of the identity by which an import finds objects.
enum IdentityPart {
    /// An index into the attributes of the entity.
    case attribute(Int)
    /// An index into the relationships of the entity.
    case link(Int)

    var attribute: Int? { if case .attribute(let index) = self { index } else { nil } }
    var link: Int? { if case .link(let index) = self { index } else { nil } }
}

extension MappingResolver.Outcome {
    /// Returns the components of the identity, in the order of the index.
    func identityParts(in entity: Entity) -> [IdentityPart] {
        identity.compactMap { part in
            entity.attributes.firstIndex { $0.number == part }.map { .attribute($0) }
                ?? entity.relationships.firstIndex { $0.number == part }.map { .link($0) }
        }
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
