import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// The keys in the JSON of one entity's objects: their names, and the attribute or relationship of each key.
final class ExportKeys {
    enum Content {
        case field(Field)
        case end(Relationship, EndHandle)
    }

    final class Key {
        let name: String
        /// The key as it is written in JSON: in quotes, with the colon. If an object is written as flat keys such as `country.name`, the
        /// key begins with the prefix `country.`.
        let quoted: [UInt8]
        let content: Content
        /// The entity to which the relationship leads; a member may also be an object of a sub-entity. `nil` if the key is an attribute.
        let declared: Entity?
        /// The text with which the ids of all members of the relationship begin. `nil` if the members may have different entities, or if
        /// the key is an attribute.
        let idBeginning: [UInt8]?

        fileprivate init(_ attribute: Attribute, _ quoted: [UInt8], _ graph: Graph) {
            name = attribute.name
            self.quoted = quoted
            content = .field(graph.field(attribute))
            (declared, idBeginning) = (nil, nil)
        }

        fileprivate init(_ relationship: Relationship, _ quoted: [UInt8], _ graph: Graph) {
            name = relationship.name
            self.quoted = quoted
            content = .end(relationship, graph.end(relationship))
            declared = graph.schema.entity(relationship.destination)
            let entities = declared?.family.compactMap(graph.schema.entity).filter { !$0.isAbstract } ?? []
            idBeginning = entities.count == 1 ? ExportKeys.idBeginning(entities[0]) : nil
        }
    }

    let entity: Entity
    /// A component of the identity of an object.
    enum IdentityPart {
        case field(Attribute, Field)
        case owner(Relationship, EndHandle)

        var name: String {
            switch self {
            case .field(let attribute, _): attribute.name
            case .owner(let relationship, _): relationship.name
            }
        }
    }

    /// The attributes and to-one relationships that identify the objects of the entity.
    let identity: [IdentityPart]
    /// The attribute that identifies the objects of the entity; `nil` if several properties, a relationship or nothing identifies them.
    let soleIdentity: (attribute: Attribute, field: Field)?
    /// The attributes, then the relationships, in declaration order.
    let keys: [Key]
    private let keysByName: [String: Key]
    /// The text with which the ids of the objects begin: the name of the entity and a slash, with escapes.
    let idBeginning: [UInt8]
    let quotedID: [UInt8]
    let quotedEntity: [UInt8]
    let quotedStub: [UInt8]

    fileprivate init(_ entity: Entity, identity components: [IdentityComponent], prefix: String, _ graph: Graph) {
        func quoted(_ name: String) -> [UInt8] {
            var writer = JSONWriter()
            writer.key(prefix + name)
            return writer.bytes
        }
        self.entity = entity
        identity = components.map { component in
            switch component {
            case .attribute(let attribute): .field(attribute, graph.field(attribute))
            case .relationship(let relationship): .owner(relationship, graph.end(relationship))
            }
        }
        if identity.count == 1, case .field(let attribute, let field) = identity[0] {
            soleIdentity = (attribute, field)
        } else {
            soleIdentity = nil
        }
        keys =
            entity.attributes.map { Key($0, quoted($0.name), graph) } + entity.relationships.map { Key($0, quoted($0.name), graph) }
        keysByName = Dictionary(keys.map { ($0.name, $0) }) { first, _ in first }
        idBeginning = Self.idBeginning(entity)
        quotedID = quoted(ExportTable.idKey)
        quotedEntity = quoted(Discriminator.exportedKey)
        quotedStub = quoted("_stub")
    }

    private static func idBeginning(_ entity: Entity) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(entity.name + "/")
        return Array(writer.bytes.dropFirst().dropLast())
    }

    /// Whether CSV refers to an object by the text of its identity. If the identity is JSON, a relationship or several properties, CSV
    /// contains a JSON reference instead.
    var hasTextIdentity: Bool { soleIdentity.map { $0.attribute.type != .json } ?? false }

    func isIdentity(_ name: String) -> Bool { identity.contains { $0.name == name } }

    func content(_ name: String) -> Content? { keysByName[name]?.content }
}

/// A table with the JSON keys of all entities. It creates the keys of an entity at their first use. Only one thread at a time may use a
/// table.
final class ExportTable {
    static let idKey = "_id"

    private struct Place: Hashable {
        let entity: EntityNumber
        let prefix: String
    }

    let graph: Graph
    private let identityComponents: (Entity) -> [IdentityComponent]
    private var made: [Place: ExportKeys] = [:]
    /// The keys without a prefix, indexed by entity number.
    private var unprefixed: [ExportKeys?] = []
    /// The keys without a prefix, indexed by table number, so that the export need not look up the entity of each object. The element is
    /// `nil` if the table has objects of several entities.
    private var ofTables: [ExportKeys?] = []

    /// - Parameter identity: returns the components of the identity of an entity's objects.
    init(_ graph: Graph, identity: @escaping (Entity) -> [IdentityComponent] = { $0.identity }) {
        self.graph = graph
        identityComponents = identity
    }

    /// Returns the keys for the objects of an entity. Creates them at the first call.
    ///
    /// - Parameter prefix: the text with which all keys of the object begin.
    func keys(_ entity: Entity, prefix: String = "") -> ExportKeys {
        let place = Place(entity: entity.number, prefix: prefix)
        if let keys = made[place] { return keys }
        let keys = ExportKeys(entity, identity: identityComponents(entity), prefix: prefix, graph)
        made[place] = keys
        return keys
    }

    func keys(of place: ObjectPlace, prefix: String) -> ExportKeys {
        prefix.isEmpty ? keys(of: place) : keys(graph.entity(of: place), prefix: prefix)
    }

    func keys(of place: ObjectPlace) -> ExportKeys {
        let table = Int(place.table)
        if table < ofTables.count, let keys = ofTables[table] { return keys }
        let number = Int(graph.entityNumber(of: place).rawValue)
        if number < unprefixed.count, let keys = unprefixed[number] { return keys }
        let keys = keys(graph.entity(of: place))
        Self.set(keys, number, &unprefixed)
        if graph.hasOneEntity(place) { Self.set(keys, table, &ofTables) }
        return keys
    }

    private static func set(_ keys: ExportKeys, _ index: Int, _ list: inout [ExportKeys?]) {
        while list.count <= index { list.append(nil) }
        list[index] = keys
    }

    /// Returns the only value of an object's identity, or `nil` if its identity is not one attribute.
    func soleIdentity(of place: ObjectPlace) -> Value? { keys(of: place).soleIdentity.map { graph.value(of: $0.field, at: place) } }

    /// Returns whether no import could find an object by its identity: a value is null, there is no owner, or the owner has no identity.
    /// An identity depends only on other identities, so the recursion ends.
    func isNameless(_ place: ObjectPlace) -> Bool {
        keys(of: place).identity.contains { part in
            switch part {
            case .field(_, let field): return graph.withCell(field, place) { $0.kind == .null }
            case .owner(_, let handle):
                guard let owner = graph.target(handle, of: place) else { return true }
                return keys(of: owner).identity.isEmpty || isNameless(owner)
            }
        }
    }

    /// Returns whether an object's identity is a single value that an import reads as a reference. In place of a reference, an import reads
    /// a JSON object as a nested object, and a JSON array as a list of members.
    ///
    /// - Parameter keys: the keys of the object.
    func isScalar(identityOf place: ObjectPlace, _ keys: ExportKeys) -> Bool {
        guard let (attribute, field) = keys.soleIdentity else { return false }
        guard attribute.type == .json, case .json(let text) = graph.value(of: field, at: place) else { return true }
        return text.utf8.first != UInt8(ascii: "{") && text.utf8.first != UInt8(ascii: "[")
    }

    /// Returns whether a nested object omits a relationship because the relationship leads back to the enclosing object. Objects that are
    /// written with ids include all relationships.
    static func isOmitted(_ relationship: Relationship, of arrival: Relationship?, _ tree: IncludeTree, _ options: ExportOptions) -> Bool {
        guard let arrival, options.references == .identity, !tree.names(relationship.name) else { return false }
        return arrival.inverse == relationship.number && arrival.destinationRoot == relationship.root
    }
}

extension ExportKeys.Key {
    /// Throws `.invalidInput` if the columns of the key `first` cannot contain the values of this key. The keys have the same name, but
    /// belong to different entities of a hierarchy. The columns of an included to-one relationship are the properties of its destination.
    ///
    /// - Parameters:
    ///   - first: the key that determines the columns.
    ///   - member: the entity of this key.
    func checkColumns(of first: ExportKeys.Key, _ member: Entity, _ schema: Schema) throws(CambiumError) {
        let (one, other) = (first.toOne, toOne)
        if one == nil, other == nil { return }
        if let one, let other, schema.entity(one.destination)?.family.contains(other.destination) == true { return }
        throw CambiumError(
            .invalidInput,
            "CSV cannot include '\(name)', because '\(member.name)' and another sub-entity have different properties with this name. "
                + "Do not include '\(name)', export the sub-entities one by one, or write JSON.")
    }

    /// The to-one relationship of the key, or `nil` if the key is an attribute or a to-many relationship.
    private var toOne: Relationship? {
        guard case .end(let relationship, _) = content, !relationship.isToMany else { return nil }
        return relationship
    }
}
