import CambiumGraph
import CambiumModel

/// An entity in the form that an import needs to plan and change its objects. The import resolves each entity once, before the first row.
final class ImportEntity {
    /// The facts about an attribute that the planner needs. They contain no references, so reading them needs no reference counting.
    struct Facts {
        let isOptional: Bool
        let hasDefault: Bool
        /// Whether a row can set the value: the store does not compute it, and the mapping reads it.
        let isRead: Bool
    }

    struct Link {
        let relationship: Relationship
        let end: ImportEnd
        /// Whether the mapping reads the relationship.
        let isRead: Bool
    }

    let entity: Entity
    let number: EntityNumber
    /// A hash of the root entity and the properties of the identity. Identity values can be compared only if this hash is the same, because
    /// entities of one hierarchy may have different identities.
    let identityKey: UInt64
    /// The entity in which identities are looked up, with its sub-entities. `nil` if identities are looked up in the whole hierarchy.
    let scope: Entity?
    let isAbstract: Bool
    /// Whether the hierarchy consists of this entity only.
    let isAlone: Bool
    /// The index of the identity attribute if the identity is exactly one attribute; otherwise `.max`.
    let keyAttribute: UInt16
    let facts: [Facts]
    let table: ImportTable
    let attributes: [Attribute]
    let links: [Link]
    /// The facts about each relationship that the planner needs. They contain no references, so reading them needs no reference counting.
    let ends: [(isToMany: Bool, destination: EntityNumber)]
    /// The indexes of the identity attributes in `attributes`.
    let identity: [Int]
    /// The components of the identity, in the order of its index.
    let identityParts: [IdentityPart]
    /// Whether the identity contains a relationship, so that the import must find the owner of an object before the object.
    let isOwned: Bool
    /// For the index of each identity attribute with a rule in the mapping, the paths from which the rule reads the value.
    private let identityPaths: [Int: [String]]
    /// The table that finds objects by identity; `nil` if an index of the schema finds them, or if the entity has no identity.
    @exclusivity(unchecked) var scanned: ScannedIdentity?
    /// The `ScannedIdentity` of each entity of the hierarchy. A changed object is recorded in all of them, because a row of another entity
    /// may refer to the same object by other identity attributes.
    @exclusivity(unchecked) fileprivate(set) var scans: [ScannedIdentity] = []
    // Only one import at a time uses an entity, on one thread, so accesses to these properties never overlap.
    @exclusivity(unchecked) private var attributeStamps: [Int]
    @exclusivity(unchecked) private var linkStamps: [Int]
    @exclusivity(unchecked) private var attributeStamp = 0
    @exclusivity(unchecked) private var linkStamp = 0

    init(_ entity: Entity, _ draft: borrowing Draft, _ resolver: MappingResolver) throws(CambiumError) {
        self.entity = entity
        let outcome = try resolver.resolve(entity)
        table = try draft.importTable(entity, identity: outcome.index)
        number = entity.number
        isAbstract = entity.isAbstract
        isAlone = entity.isAlone
        attributes = entity.attributes
        var links: [Link] = []
        for (index, relationship) in entity.relationships.enumerated() {
            let isRead = !outcome.unread.contains(.relationship(index))
            links.append(Link(relationship: relationship, end: ImportWriter.importEnd(draft, relationship), isRead: isRead))
        }
        self.links = links
        ends = entity.relationships.map { ($0.isToMany, $0.destination) }
        identityParts = outcome.identityParts(in: entity)
        identity = identityParts.compactMap(\.attribute)
        isOwned = identity.count < identityParts.count
        let rules = resolver.rules(entity)?.objects.attributes ?? [:]
        identityPaths = identity.reduce(into: [:]) { $0[$1] = rules[entity.attributes[$1].name]?.source.paths }
        identityKey = outcome.identity.reduce(UInt64(entity.root.rawValue)) { $0 &* 65_599 &+ UInt64($1.rawValue) }
        scope = outcome.index == nil && outcome.scope?.parent != nil ? outcome.scope : nil
        keyAttribute = identityParts.count == 1 ? identityParts[0].attribute.map { UInt16($0) } ?? .max : .max
        facts = entity.attributes.enumerated().map { [table] in
            Facts(
                isOptional: $0.element.isOptional || $0.element.isDerived, hasDefault: table.hasDefault($0.offset),
                isRead: !$0.element.isDerived && !outcome.unread.contains(.attribute($0.offset)))
        }
        attributeStamps = [Int](repeating: 0, count: entity.attributes.count)
        linkStamps = [Int](repeating: 0, count: entity.relationships.count)
    }

    /// Whether the outcome is the same whichever of several rows creates an object of this entity. If so, each of these rows creates the
    /// object with the same entity, and the object can break no rule once it exists.
    var isReplaceable: Bool { isAlone && table.isUnlimited }

    /// Returns the name of an identity attribute for a message. Adds the keys from which a mapping reads the attribute, if their names
    /// differ from the attribute's name.
    func described(identity index: Int) -> String {
        let name = attributes[index].name
        guard let paths = identityPaths[index], !paths.isEmpty, paths != [name] else { return "'\(name)'" }
        return "'\(name)', which the mapping reads from \(paths.map { "'\($0)'" }.joined(separator: ", ")),"
    }

    /// Returns whether `entity` is among the entities in which identities of this entity are looked up.
    func finds(_ entity: EntityNumber) -> Bool { scope?.family.contains(entity) ?? true }

    /// Records the identity of an inserted or changed object, so that the tables in `scans` find the object. `row` is its table row.
    @inline(__always)
    func track(_ row: UInt32, _ draft: borrowing Draft) {
        if scans.isEmpty { return }
        for scan in scans { scan.track(row, draft) }
    }

    // MARK: Given properties

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
final class ImportEntities {
    let references: EntityReferences<ImportEntity>
    /// For each entity number, the index that finds the entity's objects by identity; `nil` if there is no such index.
    let keyPlaces: [KeyPlace?]
    /// The indexes that find objects by identity.
    let finding: DeferredChecks.Indexes

    init(_ draft: borrowing Draft, _ resolver: MappingResolver) throws(CambiumError) {
        var scanned: [[UInt16]: ScannedIdentity] = [:]
        var owned: [ImportEntity] = []
        var keyPlaces: [KeyPlace?] = []
        var finding = DeferredChecks.Indexes()
        for entity in draft.schema.entities {
            let made = try ImportEntity(entity, draft, resolver)
            if !made.identity.isEmpty, !made.table.hasIndex {
                // Entities of one hierarchy with the same identity attributes and the same scope share one `ScannedIdentity`. The root
                // entity is part of the key, because another hierarchy may have attributes with the same numbers.
                let scope = made.scope?.number ?? entity.root
                let place = [entity.root.rawValue, scope.rawValue] + made.identity.map { made.attributes[$0].number.rawValue }
                let own = scanned[place] ?? ScannedIdentity(made.table, made.identity, in: made.scope, draft)
                scanned[place] = own
                made.scanned = own
            }
            let number = Int(entity.number.rawValue)
            while keyPlaces.count <= number { keyPlaces.append(nil) }
            keyPlaces[number] = made.table.keyPlace
            finding.insert(made.table)
            owned.append(made)
        }
        for made in owned {
            made.scans = scanned.filter { $0.key[0] == made.entity.root.rawValue }.map(\.value)
        }
        references = EntityReferences(owned) { $0.number }
        self.keyPlaces = keyPlaces
        self.finding = finding
    }

    @inline(__always) subscript(_ number: EntityNumber) -> EntityReferences<ImportEntity>.Reference { references[number] }
}
