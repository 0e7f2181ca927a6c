import CambiumGraph
import CambiumModel

/// An entity with everything resolved that importing its objects needs.
final class ImportEntity {
    struct Link {
        let relationship: Relationship
        let handle: EndHandle
        let isToMany: Bool
        let destination: EntityNumber
    }

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
    let table: ImportTable
    let attributes: [Attribute]
    let conversions: [Conversion]
    let links: [Link]
    /// The places of the identity attributes in `attributes`.
    let identity: [Int]
    /// Finds objects where the schema has no index over the identity.
    @exclusivity(unchecked) var scanned: ScannedIdentity?
    /// How objects are read; nil where keys are names.
    let mapping: ResolvedMapping?
    let isMapped: Bool
    /// What tells the entity of an object that is declared to be of this one.
    let discriminator: Discriminator?
    let discriminatorPath: PropertyPath?
    // One import at a time uses an entity, on one thread: no access to these overlaps another.
    @exclusivity(unchecked) var keys: KeyTable
    @exclusivity(unchecked) private var stamps: [Int]
    @exclusivity(unchecked) private var stamp = 0

    init(_ entity: Entity, _ draft: borrowing Draft, _ resolver: MappingResolver) throws(CambiumError) {
        self.entity = entity
        let outcome = try resolver.resolve(entity)
        mapping = outcome.mapping
        isMapped = outcome.mapping != nil
        discriminator = outcome.discriminator
        discriminatorPath = outcome.discriminatorPath
        table = try draft.importTable(entity, identity: outcome.index)
        number = entity.number
        isAlone = entity.parent == nil && entity.family.count == 1
        attributes = entity.attributes
        conversions = entity.attributes.map {
            Conversion(type: $0.type, isOptional: $0.isOptional, isFree: $0.constraints.isEmpty)
        }
        var links: [Link] = []
        for relationship in entity.relationships {
            links.append(
                Link(
                    relationship: relationship, handle: draft.importEnd(relationship), isToMany: relationship.isToMany,
                    destination: relationship.destination))
        }
        self.links = links
        identity = outcome.identity.compactMap { part in entity.attributes.firstIndex { $0.number == part } }
        keys = KeyTable(
            entity.attributes.enumerated().map { ($0.element.name, .attribute($0.offset)) }
                + entity.relationships.enumerated().map { ($0.element.name, .relationship($0.offset)) })
        stamps = [Int](repeating: 0, count: entity.attributes.count + entity.relationships.count)
    }

    // MARK: Which properties an object was given

    func beginObject() { stamp += 1 }
    func markAttribute(_ index: Int) { stamps[index] = stamp }
    /// Notes that an attribute was given a value which leaves it as it is.
    func keepAttribute(_ index: Int) { stamps[index] = -stamp }
    func isKeptAttribute(_ index: Int) -> Bool { stamps[index] == -stamp }
    func isGivenAttribute(_ index: Int) -> Bool { stamps[index] == stamp }
    func markLink(_ index: Int) { stamps[attributes.count + index] = stamp }
    func isGivenLink(_ index: Int) -> Bool { stamps[attributes.count + index] == stamp }
}

/// The entities of a schema, resolved for one draft.
struct ImportEntities {
    private var byNumber: [ImportEntity?] = []
    private var byName: [String: ImportEntity] = [:]

    init(_ draft: borrowing Draft, _ resolver: MappingResolver) throws(CambiumError) {
        var scanned: [[PropertyNumber]: ScannedIdentity] = [:]
        for entity in draft.schema.entities {
            let made = try ImportEntity(entity, draft, resolver)
            let identity = made.identity.map { made.attributes[$0].number }
            if !identity.isEmpty, !made.table.hasIndex {
                // A sub-entity shares that of the entity above it.
                let own = scanned[identity] ?? ScannedIdentity(made.table, made.identity, draft)
                scanned[identity] = own
                made.scanned = own
            }
            let number = Int(entity.number.rawValue)
            while byNumber.count <= number { byNumber.append(nil) }
            byNumber[number] = made
            byName[entity.name] = made
        }
    }

    subscript(_ number: EntityNumber) -> ImportEntity? {
        Int(number.rawValue) < byNumber.count ? byNumber[Int(number.rawValue)] : nil
    }
    subscript(_ name: String) -> ImportEntity? { byName[name] }
}
