import CambiumBytes
import CambiumModel

/// The layout of an ordered index over objects of one table: the columns of its keys, and the way in which each column is compared.
final class OrderedIndexLayout: Sendable {
    struct Component: Sendable {
        let slot: Int
        let kind: ColumnKind
        let type: AttributeType
        let isDescending: Bool
        let isFolded: Bool
    }

    /// The position of this index in `GraphLayout.ordered`.
    let number: Int
    let table: Int
    let root: EntityNumber
    let index: EntityIndex
    let components: [Component]
    /// The entity and the attributes of the index, such as `Person.city,-born`. The minus means descending order.
    let name: String
    /// The entities whose objects are in the index.
    let family: Set<EntityNumber>
    let coversTable: Bool
    /// A hash of everything that determines the keys. Pages with another hash do not belong to this index.
    let specification: UInt64

    init(number: Int, table: TableLayout, entity: Entity, index: EntityIndex) {
        self.number = number
        self.table = table.index
        root = entity.root
        self.index = index
        components = index.components.map { component in
            let slot = table.slot(of: component.attribute)
            return Component(
                slot: slot, kind: table.columns[slot], type: table.type(of: component.attribute),
                isDescending: component.direction == .descending, isFolded: component.comparison == .folded)
        }
        let names = index.components.map { component in
            let name = entity.attribute(component.attribute)?.name ?? "?"
            return (component.direction == .descending ? "-" : "") + name + (component.comparison == .folded ? "[c]" : "")
        }
        name = "\(entity.name).\(names.joined(separator: ","))"
        family = entity.family
        coversTable = entity.number == entity.root
        var parts = ["\(Self.version) \(root.rawValue) \(index.entity.rawValue)"]
        for (component, column) in zip(index.components, components) {
            parts.append("\(component.attribute.rawValue) \(column.type.rawValue) \(column.isDescending) \(column.isFolded)")
        }
        if components.contains(where: \.isFolded) { parts.append("\(CaseFolding.fingerprint)") }
        specification = Array(parts.joined(separator: "\n").utf8).withUnsafeBytes { XXH3.hash64($0, seed: 0) }
    }

    /// The version of the key encoding and of the node layout.
    private static let version = "1 \(OrderedNode.byteCount) \(OrderedNode.keyByteCountMax)"

    /// The maximum number of ordered indexes that a store builds for its schema. If the schema has more indexes, the store does not build
    /// the remaining indexes.
    static let countMax = 2000

    /// Returns the indexes of a schema: the declared indexes, and one for each unique set that is not an identity. Omits an index that has
    /// the same components as an earlier index of the same entity.
    static func all(of schema: Schema, tables: [TableLayout], table: (EntityNumber) -> TableLayout?) -> [OrderedIndexLayout] {
        var made: [OrderedIndexLayout] = []
        for entity in schema.entities {
            guard let table = table(entity.root) else { continue }
            var known: Set<[EntityIndex.Component]> = []
            let unique = entity.uniqueSets.filter { !$0.isIdentity }.map { set in
                EntityIndex(entity: set.entity, components: set.attributes.map { EntityIndex.Component($0) })
            }
            for index in entity.indexes + unique where index.entity == entity.number {
                guard made.count < countMax, known.insert(index.components).inserted else { continue }
                made.append(OrderedIndexLayout(number: made.count, table: table, entity: entity, index: index))
            }
        }
        return made
    }

    /// Returns whether both indexes create the same keys, from the same attributes with the same types.
    func hasSameKeys(as other: OrderedIndexLayout) -> Bool { specification == other.specification }
}
