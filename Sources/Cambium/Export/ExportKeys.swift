import CambiumGraph
import CambiumJSON
import CambiumModel

/// The keys of one entity's objects: what each is called, and what it leads to.
struct ExportKeys {
    enum Content {
        case field(Field)
        case end(Relationship, EndHandle)
    }

    struct Key {
        let name: String
        /// In quotes, with its colon, behind the prefix of the object.
        let quoted: [UInt8]
        let content: Content
    }

    let entity: Entity
    /// The attributes by which objects are named, and their fields.
    let identityAttributes: [Attribute]
    let identity: [Field]
    /// Attributes, then relationships, in declaration order.
    let keys: [Key]
    let quotedID: [UInt8]
    let quotedEntity: [UInt8]
    let quotedStub: [UInt8]

    fileprivate init(_ entity: Entity, identity attributes: [Attribute], prefix: String, _ graph: Graph) {
        func quoted(_ name: String) -> [UInt8] {
            var writer = JSONWriter()
            writer.key(prefix + name)
            return writer.bytes
        }
        self.entity = entity
        identityAttributes = attributes
        identity = attributes.map(graph.field)
        keys =
            entity.attributes.map { Key(name: $0.name, quoted: quoted($0.name), content: .field(graph.field($0))) }
            + entity.relationships.map { Key(name: $0.name, quoted: quoted($0.name), content: .end($0, graph.end($0))) }
        quotedID = quoted(ExportTable.idKey)
        quotedEntity = quoted(ExportTable.entityKey)
        quotedStub = quoted("_stub")
    }

    func isIdentity(_ name: String) -> Bool { identityAttributes.contains { $0.name == name } }

    func content(_ name: String) -> Content? { keys.first { $0.name == name }?.content }
}

/// The keys of all entities, made when they are wanted. Not for several threads at once.
final class ExportTable {
    static let idKey = "_id"
    /// Tells the entity of an object where it may be one of several; imports take it for what tells that.
    static let entityKey = "_entity"

    private struct Place: Hashable {
        let entity: EntityNumber
        let prefix: String
    }

    let graph: Graph
    private let identityAttributes: (Entity) -> [Attribute]
    private var made: [Place: ExportKeys] = [:]

    /// - Parameter identity: the attributes by which objects of an entity are named.
    init(_ graph: Graph, identity: @escaping (Entity) -> [Attribute] = { $0.identity }) {
        self.graph = graph
        identityAttributes = identity
    }

    /// - Parameter prefix: what the keys of the object begin with.
    func keys(_ entity: Entity, prefix: String = "") -> ExportKeys {
        let place = Place(entity: entity.number, prefix: prefix)
        if let keys = made[place] { return keys }
        let keys = ExportKeys(entity, identity: identityAttributes(entity), prefix: prefix, graph)
        made[place] = keys
        return keys
    }

    func keys(of place: ObjectPlace, prefix: String = "") -> ExportKeys { keys(graph.entity(of: place), prefix: prefix) }

    /// The identity values of an object.
    func identity(of place: ObjectPlace) -> [Value] { keys(of: place).identity.map { graph.value(of: $0, at: place) } }

    /// Whether a nested object lacks a relationship, as it leads back to the object that it is in. One with an id has all of them.
    static func isLeftOut(_ relationship: Relationship, of arrival: Relationship?, _ tree: IncludeTree, _ options: ExportOptions) -> Bool {
        guard let arrival, options.references == .identity, !tree.names(relationship.name) else { return false }
        return arrival.inverse == relationship.number && arrival.destinationRoot == relationship.root
    }
}
