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
    // One reader at a time uses an entity: no access to this overlaps another.
    @exclusivity(unchecked) var keys: KeyTable

    init(_ entity: Entity, _ resolver: MappingResolver) throws(CambiumError) {
        self.entity = entity
        let outcome = try resolver.resolve(entity)
        mapping = outcome.mapping
        isMapped = outcome.mapping != nil
        discriminator = outcome.discriminator
        discriminatorPath = outcome.discriminatorPath
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
    private var byNumber: [RowEntity?] = []
    private var byName: [String: RowEntity] = [:]

    init(_ schema: Schema, _ resolver: MappingResolver) throws(CambiumError) {
        for entity in schema.entities {
            let made = try RowEntity(entity, resolver)
            let number = Int(entity.number.rawValue)
            while byNumber.count <= number { byNumber.append(nil) }
            byNumber[number] = made
            byName[entity.name] = made
        }
    }

    subscript(_ number: EntityNumber) -> RowEntity? {
        Int(number.rawValue) < byNumber.count ? byNumber[Int(number.rawValue)] : nil
    }
    subscript(_ name: String) -> RowEntity? { byName[name] }
}
