/// A schema whose every name is resolved and every rule checked: the value that the engine works with.
///
/// It is made from a `SchemaDefinition` (which has the three spellings: JSON, Swift, Core Data model) by `Schema.init(_:)`.
public final class Schema: Sendable {
    /// In declaration order.
    public let entities: [Entity]
    /// Each relationship with its inverse, hidden ones too.
    public let links: [Link]
    /// What the schema was made from, with the numbers that were given out; `Schema(catalog:)` reads it back.
    public let catalog: SchemaCatalog

    private let byName: [String: Entity]
    private let byNumber: [EntityNumber: Entity]

    package init(entities: [Entity], links: [Link], catalog: SchemaCatalog) {
        self.entities = entities
        self.links = links
        self.catalog = catalog
        byName = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
        byNumber = Dictionary(uniqueKeysWithValues: entities.map { ($0.number, $0) })
    }

    public func entity(_ name: String) -> Entity? { byName[name] }
    public func entity(_ number: EntityNumber) -> Entity? { byNumber[number] }
    /// The root entities, in declaration order: one table each.
    public var roots: [Entity] { entities.filter { $0.parent == nil } }
}
