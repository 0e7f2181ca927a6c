/// A schema whose every name is resolved and every rule checked: the value that the engine works with.
///
/// It is made from a `SchemaDefinition` (which has the three spellings: JSON, Swift, Core Data model) by `Schema.init(_:)`.
public final class Schema: Sendable {
    /// In declaration order.
    public let entities: [Entity]
    /// Each relationship with its inverse, hidden ones too.
    public let links: [Link]
    /// What the schema was made from, with the numbers that were given out.
    public let definition: SchemaDefinition

    private let byName: [String: Entity]
    private let byNumber: NumberTable<Entity>
    /// For each root the relationships of its hierarchy.
    private let relationships: [EntityNumber: NumberTable<Relationship>]

    package init(entities: [Entity], links: [Link], definition: SchemaDefinition) {
        self.entities = entities
        self.links = links
        roots = entities.filter { $0.parent == nil }
        self.definition = definition
        byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        byNumber = NumberTable(entities.map { ($0.number.rawValue, $0) })
        let declared = entities.flatMap { entity in entity.relationships.filter { $0.entity == entity.number } }
        relationships = Dictionary(grouping: declared, by: \.root).mapValues { NumberTable($0.map { ($0.number.rawValue, $0) }) }
    }

    public func entity(_ name: String) -> Entity? { byName[name] }
    public func entity(_ number: EntityNumber) -> Entity? { byNumber[number.rawValue] }
    /// The relationship with a number in the hierarchy of a root entity. Complexity: O(1).
    package func relationship(_ number: PropertyNumber, ofRoot root: EntityNumber) -> Relationship? {
        relationships[root]?[number.rawValue]
    }
    /// The root entities, in declaration order: one table each.
    public let roots: [Entity]
}

extension Schema {
    /// An id as people write it, such as `Note/42`, with the name of the object's concrete entity.
    public func text(of id: ObjectID, entity: Entity) -> String { "\(entity.name)/\(id.serial)" }

    /// Reads an id such as `Note/42`; nil where the text is none, or names an entity that the schema does not have.
    public func id(_ text: some StringProtocol) -> (id: ObjectID, entity: Entity)? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let entity = entity(String(parts[0])), let serial = UInt64(parts[1]), serial > 0,
            serial <= ObjectID.serialMax, parts[1].utf8.first != UInt8(ascii: "+")
        else { return nil }
        return (ObjectID(root: entity.root, serial: serial), entity)
    }
}
