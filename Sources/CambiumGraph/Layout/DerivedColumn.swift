import CambiumModel

/// The column of a derived attribute, and the columns and links from which its values are computed.
final class DerivedColumn: Sendable {
    /// The index of this column in `DerivedLayout.columns`.
    let number: Int
    let attribute: Attribute
    let function: ResolvedDerivation.Function
    let table: Int
    let slot: Int
    let kind: ColumnKind
    /// The entities whose objects have the attribute.
    let family: Set<EntityNumber>
    let coversTable: Bool
    /// The end of the link from an object to the members that the attribute counts or reads; `nil` if the attribute is a folded text.
    let members: EndLayout?
    /// The end of the link from a member to the objects that have this member; `nil` if the attribute is a folded text.
    let owners: EndLayout?
    /// The attribute that the expression reads, and its column; `nil` if the attribute counts members.
    let source: Source?
    /// The column with the exact sum, if the attribute is a sum of floating-point numbers.
    let exactSlot: Int?
    /// The list of the members that a sum, a minimum or a maximum reads, or of the edges to them; `nil` for other attributes and for a
    /// relationship to many that is its own inverse.
    let list: ListLayout?
    /// The column of an edge with its member; `nil` if `list` contains the members themselves.
    let memberSlot: Int?

    /// The members of an owner with at most this many members are all read. The exact sum of such an owner is not stored.
    static let readCountMax = 32

    struct Source: Sendable {
        let table: Int
        let slot: Int
        let kind: ColumnKind
        let type: AttributeType
    }

    init(
        number: Int, attribute: Attribute, _ derivation: ResolvedDerivation, table: TableLayout, family: Set<EntityNumber>,
        members: EndLayout?, owners: EndLayout?, source: Source?
    ) {
        self.number = number
        self.attribute = attribute
        function = derivation.function
        self.table = table.index
        slot = table.slot(of: attribute.number)
        kind = table.columns[slot]
        self.family = family
        coversTable = attribute.entity == attribute.root
        self.members = members
        self.owners = owners
        self.source = source
        exactSlot = table.exactSlots[attribute.number]
        switch members?.layout {
        case .list(let list, _)? where source != nil: (self.list, memberSlot) = (list, nil)
        case .edges(_, let lists, isSymmetric: false)? where source != nil:
            let end = members?.end ?? 0
            (list, memberSlot) = (lists[end], lists[1 - end].ownerSlot)
        default: (list, memberSlot) = (nil, nil)
        }
    }

    /// The columns of a member that determine its part in the value: its owner, and the attribute that the expression reads. `nil` if
    /// `list` does not contain members.
    var memberComponents: [OrderedIndexLayout.Component]? {
        guard let list, let valueComponent, memberSlot == nil else { return nil }
        return [.owner(list.ownerSlot), valueComponent]
    }

    /// The columns of an edge; `nil` if `list` does not contain edges.
    var edgeComponents: [OrderedIndexLayout.Component]? {
        guard let list, let memberSlot else { return nil }
        return [.owner(list.ownerSlot), .owner(memberSlot)]
    }

    /// The column that the expression reads.
    var valueComponent: OrderedIndexLayout.Component? {
        source.map { OrderedIndexLayout.Component(slot: $0.slot, kind: $0.kind, type: $0.type, isDescending: false, isFolded: false) }
    }

    /// Whether an ordered index over `memberComponents` serves the attribute: a minimum or a maximum.
    var needsIndex: Bool { list != nil && memberSlot == nil && (function == .min || function == .max) }

    /// Returns whether the column of another layout contains the same values, if both graphs have the same objects, values and links.
    func hasSameValues(as other: DerivedColumn) -> Bool {
        attribute.root == other.attribute.root && attribute.number == other.attribute.number && attribute.type == other.attribute.type
            && attribute.derivation == other.attribute.derivation && family == other.family && source?.type == other.source?.type
    }
}

/// The derived attributes of a schema, grouped by the changes that affect them.
struct DerivedLayout: Sendable {
    let columns: [DerivedColumn]
    /// For each table, the derived columns that it has.
    let ofTable: [[DerivedColumn]]
    /// For each end of each link, the derived columns that are computed from the members of the objects at this end.
    let ofEnd: [[DerivedColumn]]
    /// For each table, the derived columns that read one of its columns.
    let readingTable: [[DerivedColumn]]

    let isEmpty: Bool

    init(_ schema: Schema, tables: [TableLayout], ends: [EndLayout], tableOf: (EntityNumber) -> Int) {
        var columns: [DerivedColumn] = []
        for entity in schema.entities {
            for attribute in entity.attributes where attribute.entity == entity.number {
                guard let derivation = attribute.derivation else { continue }
                let relationship = derivation.relationship.flatMap { entity.relationship($0) }
                let holder = tableOf(relationship?.destinationRoot ?? entity.root)
                let source = derivation.attribute.map { number in
                    let slot = tables[holder].slot(of: number)
                    return DerivedColumn.Source(
                        table: holder, slot: slot, kind: tables[holder].columns[slot], type: tables[holder].type(of: number))
                }
                columns.append(
                    DerivedColumn(
                        number: columns.count, attribute: attribute, derivation, table: tables[tableOf(entity.root)], family: entity.family,
                        members: relationship.map { ends[2 * $0.link + $0.end] },
                        owners: relationship.map { ends[2 * $0.link + 1 - $0.end] },
                        source: source))
            }
        }
        self.columns = columns
        isEmpty = columns.isEmpty
        var ofTable = [[DerivedColumn]](repeating: [], count: columns.isEmpty ? 0 : tables.count)
        var readingTable = ofTable
        var ofEnd = [[DerivedColumn]](repeating: [], count: columns.isEmpty ? 0 : ends.count)
        for column in columns {
            ofTable[column.table].append(column)
            if let source = column.source { readingTable[source.table].append(column) }
            guard let members = column.members else { continue }
            ofEnd[2 * members.link + members.end].append(column)
            if schema.links[members.link].isSymmetric { ofEnd[2 * members.link + 1 - members.end].append(column) }
        }
        (self.ofTable, self.readingTable, self.ofEnd) = (ofTable, readingTable, ofEnd)
    }
}
