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

        /// A component that orders members by the rows of their owners. Members without an owner are not in the index.
        static func owner(_ slot: Int) -> Component {
            Component(slot: slot, kind: .rows, type: .int32, isDescending: false, isFolded: false)
        }
    }

    /// The position of this index in `GraphLayout.ordered`.
    let number: Int
    let table: Int
    let root: EntityNumber
    /// The index in the schema; `nil` for an index that only derived attributes use.
    let index: EntityIndex?
    let components: [Component]
    /// The entity and the attributes of the index, such as `Person.city,-born`. The minus means descending order.
    let name: String
    /// The entities whose objects are in the index.
    let family: Set<EntityNumber>
    let coversTable: Bool
    /// The column with the owner of each member, if only members with an owner are in the index.
    let ownerSlot: Int?
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
        ownerSlot = nil
        var parts = ["\(Self.version) \(root.rawValue) \(index.entity.rawValue)"]
        for (component, column) in zip(index.components, components) {
            parts.append("\(component.attribute.rawValue) \(column.type.rawValue) \(column.isDescending) \(column.isFolded)")
        }
        if components.contains(where: \.isFolded) { parts.append("\(CaseFolding.fingerprint)") }
        specification = Self.hash(parts)
    }

    /// Creates the index of a minimum or a maximum: the members of each owner, by the attribute that the expression reads. Returns `nil`
    /// for an attribute that needs no index.
    init?(number: Int, of column: DerivedColumn, member table: TableLayout) {
        guard column.needsIndex, let components = column.memberComponents, let root = table.root,
            let derivation = column.attribute.derivation
        else { return nil }
        self.number = number
        self.table = table.index
        self.root = root.number
        self.components = components
        index = nil
        name = "the members of '\(column.attribute.name)'"
        family = Set(table.entities)
        coversTable = true
        ownerSlot = components[0].slot
        let numbers = [column.attribute.root.rawValue, derivation.relationship?.rawValue ?? 0, derivation.attribute?.rawValue ?? 0]
        specification = Self.hash(["\(Self.version) members", "\(root.number.rawValue) \(numbers) \(components[1].type.rawValue)"])
    }

    private static func hash(_ parts: [String]) -> UInt64 {
        Array(parts.joined(separator: "\n").utf8).withUnsafeBytes { XXH3.hash64($0, seed: 0) }
    }

    /// The version of the key encoding and of the node layout.
    private static let version = "2 \(OrderedNode.byteCount) \(OrderedNode.keyByteCountMax)"

    /// The maximum number of ordered indexes that a store builds for its schema. If the schema has more indexes, the store does not build
    /// the remaining indexes.
    static let countMax = 2000

    /// Returns the indexes of a schema: the declared indexes, and one for each unique set of attributes that is not an identity. Omits an
    /// index that has the same components as an earlier index of the same entity.
    static func all(of schema: Schema, table: (EntityNumber) -> TableLayout?) -> [OrderedIndexLayout] {
        var made: [OrderedIndexLayout] = []
        for entity in schema.entities {
            guard let table = table(entity.root) else { continue }
            var known: Set<[EntityIndex.Component]> = []
            let unique = entity.uniqueSets.filter { !$0.isIdentity && !entity.hasRelationship(in: $0) }.map { set in
                EntityIndex(entity: set.entity, components: set.properties.map { EntityIndex.Component($0) })
            }
            for index in entity.indexes + unique where index.entity == entity.number {
                guard made.count < countMax, known.insert(index.components).inserted else { continue }
                made.append(OrderedIndexLayout(number: made.count, table: table, entity: entity, index: index))
            }
        }
        return made
    }

    /// Adds the indexes of derived attributes to those of a schema. Attributes that read the same values share an index.
    ///
    /// - Returns: For each derived column, its index; `nil` if the column needs no index, or if there are too many indexes.
    static func addMembers(_ derived: DerivedLayout, tables: [TableLayout], to made: inout [OrderedIndexLayout]) -> [OrderedIndexLayout?] {
        var known: [UInt64: OrderedIndexLayout] = [:]
        return derived.columns.map { column in
            guard let list = column.list,
                let index = OrderedIndexLayout(number: made.count, of: column, member: tables[list.memberTable])
            else { return nil }
            if let same = known[index.specification] { return same }
            if made.count >= countMax { return nil }
            known[index.specification] = index
            made.append(index)
            return index
        }
    }

    /// Returns whether both indexes create the same keys, from the same attributes with the same types.
    func hasSameKeys(as other: OrderedIndexLayout) -> Bool { specification == other.specification }
}
