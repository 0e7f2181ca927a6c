import CambiumGraph
import CambiumModel

/// An entity with everything resolved that planning its objects and changing them needs.
final class ImportEntity {
    struct Link {
        let relationship: Relationship
        let handle: EndHandle
        let isToMany: Bool
        let destination: EntityNumber
    }

    let entity: Entity
    let number: EntityNumber
    /// Whether the hierarchy has no other entity.
    let isAlone: Bool
    let table: ImportTable
    let attributes: [Attribute]
    let links: [Link]
    /// The places of the identity attributes in `attributes`.
    let identity: [Int]
    /// Finds objects where the schema has no index over the identity.
    @exclusivity(unchecked) var scanned: ScannedIdentity?
    // One import at a time uses an entity, on one thread: no access to these overlaps another.
    @exclusivity(unchecked) private var attributeStamps: [Int]
    @exclusivity(unchecked) private var linkStamps: [Int]
    @exclusivity(unchecked) private var attributeStamp = 0
    @exclusivity(unchecked) private var linkStamp = 0

    init(_ entity: Entity, _ draft: borrowing Draft, _ resolver: MappingResolver) throws(CambiumError) {
        self.entity = entity
        let outcome = try resolver.resolve(entity)
        table = try draft.importTable(entity, identity: outcome.index)
        number = entity.number
        isAlone = entity.isAlone
        attributes = entity.attributes
        var links: [Link] = []
        for relationship in entity.relationships {
            links.append(
                Link(
                    relationship: relationship, handle: draft.importEnd(relationship), isToMany: relationship.isToMany,
                    destination: relationship.destination))
        }
        self.links = links
        identity = outcome.identityPlaces(in: entity)
        attributeStamps = [Int](repeating: 0, count: entity.attributes.count)
        linkStamps = [Int](repeating: 0, count: entity.relationships.count)
    }

    // MARK: Which properties an object was given

    func beginAttributes() { attributeStamp += 1 }
    func mark(_ value: RowBatch.Value) {
        attributeStamps[Int(value.attribute)] = value.kind == .kept ? -attributeStamp : attributeStamp
    }
    func isKeptAttribute(_ index: Int) -> Bool { attributeStamps[index] == -attributeStamp }
    func isGivenAttribute(_ index: Int) -> Bool { attributeStamps[index] == attributeStamp }
    func beginLinks() { linkStamp += 1 }
    func markLink(_ index: Int) { linkStamps[index] = linkStamp }
    func isGivenLink(_ index: Int) -> Bool { linkStamps[index] == linkStamp }
}

/// The entities of a schema, resolved for one draft.
struct ImportEntities {
    private var byNumber: [ImportEntity?] = []

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
        }
    }

    /// The entity of a number that is one of the schema's.
    @inline(__always)
    subscript(known number: EntityNumber) -> ImportEntity {
        guard let entity = byNumber[Int(number.rawValue)] else { preconditionFailure("Rows are read with the schema of the store.") }
        return entity
    }
}
