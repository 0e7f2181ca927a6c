import CambiumModel

/// For each table, the columns that contain data of objects, and the meaning of their values. Columns for bookkeeping are omitted: for
/// example, the transactions that changed a row, and the counts of members.
///
/// A comparison of two graphs looks only at these columns. Layouts with equal meanings may differ in names, rules and indexes.
final class ColumnMeanings: Sendable, Equatable {
    /// One end of a link. Ends are numbered as in `GraphLayout.ends`, so the two ends of a link have consecutive numbers.
    struct End: Sendable, Equatable {
        /// The table of the objects at this end of the link.
        let table: Int
        /// The table of the objects at the other end of the link.
        let targetTable: Int
        let root: EntityNumber
        /// The number of the relationship; `nil` if the schema has no relationship for this end.
        let property: PropertyNumber?
        let isOrdered: Bool
        /// The number of the list that stores the order of this end's members. If a relationship is its own inverse, both ends have one
        /// list, with the number of the first end.
        let list: Int
    }

    enum Meaning: Sendable, Equatable {
        case attribute(PropertyNumber, AttributeType)
        /// The row at the other end of a one-to-one link. `end` is the end of the link whose objects have the column.
        case partner(end: Int)
        /// The row of the owner, in a one-to-many link. `end` is the end of the link whose objects are the members.
        case owner(end: Int)
        /// A link between two nodes of the tree of an ordered list, or a link from the owner to the root of the tree. `end` is the end of
        /// the owner. If the link is in the owner's own row, `ownerSlot` is `nil`. Otherwise, the column `ownerSlot` contains the owner's
        /// row.
        case order(end: Int, ownerSlot: Int?)
    }

    struct Column: Sendable, Equatable {
        let slot: Int
        let kind: ColumnKind
        let meaning: Meaning
    }

    /// A table of edges. The columns `ownerSlots` contain the rows of the owners at the two ends of the link. `firstEnd` is the index in
    /// `ends` of the first end of the link.
    struct Edges: Sendable, Equatable {
        let firstEnd: Int
        let ownerSlots: Pair<Int>
        let isSymmetric: Bool
    }

    /// The root entity of each table of objects. Tables of objects precede tables of edges.
    let roots: [EntityNumber]
    /// The layout of each link, which determines how members are found.
    let links: [LinkLayout]
    let ends: [End]
    /// For each table, the columns that contain data of objects, by ascending slot.
    let columns: [[Column]]
    /// For each table of edges (many-to-many links), its ends and columns; `nil` for a table of objects.
    let edges: [Edges?]

    init(_ layout: GraphLayout) {
        roots = layout.schema.roots.map(\.number)
        links = layout.links
        ends = layout.ends.map { end in
            let link = layout.schema.links[end.link]
            let side = end.end == 0 ? link.first : link.second
            return End(
                table: layout.startTable(end), targetTable: layout.startTable(layout.end(end.link, 1 - end.end)), root: side.root,
                property: side.property, isOrdered: side.isOrdered, list: 2 * end.link + (link.isSymmetric ? 0 : end.end))
        }
        var collection = ColumnCollection(layout.tables)
        collection.addAttributes(layout)
        for (number, link) in layout.links.enumerated() { collection.add(link, firstEnd: 2 * number) }
        columns = collection.columns.map { $0.sorted { $0.slot < $1.slot } }
        edges = collection.edges
    }

    static func == (left: ColumnMeanings, right: ColumnMeanings) -> Bool {
        left === right
            || left.roots == right.roots && left.ends == right.ends && left.columns == right.columns && left.edges == right.edges
                && left.links == right.links
    }
}

/// Collects the columns that contain data of objects.
private struct ColumnCollection {
    private let tables: [TableLayout]
    var columns: [[ColumnMeanings.Column]]
    var edges: [ColumnMeanings.Edges?]

    init(_ tables: [TableLayout]) {
        self.tables = tables
        columns = tables.map { _ in [] }
        edges = tables.map { _ in nil }
    }

    mutating func addAttributes(_ layout: GraphLayout) {
        var known = Set<[UInt16]>()
        for entity in layout.schema.entities {
            guard let table = layout.table(of: entity.root) else { continue }
            // Sub-entities inherit attributes, so the same attribute occurs several times. It is added only once.
            for attribute in entity.attributes where known.insert([entity.root.rawValue, attribute.number.rawValue]).inserted {
                add(.attribute(attribute.number, attribute.type), table.index, table.slot(of: attribute.number))
            }
        }
    }

    mutating func add(_ link: LinkLayout, firstEnd: Int) {
        switch link {
        case .pair(let tables, let slots):
            let isOneColumn = tables[0] == tables[1] && slots[0] == slots[1]
            for side in 0..<(isOneColumn ? 1 : 2) { add(.partner(end: firstEnd + side), tables[side], slots[side]) }
        case .list(let list, let childEnd):
            add(.owner(end: firstEnd + childEnd), list.memberTable, list.ownerSlot)
            addOrder(list, end: firstEnd + 1 - childEnd)
        case .edges(let table, let lists, let isSymmetric):
            let slots = Pair(lists[0].ownerSlot, lists[1].ownerSlot)
            edges[table] = ColumnMeanings.Edges(firstEnd: firstEnd, ownerSlots: slots, isSymmetric: isSymmetric)
            for side in 0...1 { addOrder(lists[side], end: firstEnd + side) }
        }
    }

    private mutating func addOrder(_ list: ListLayout, end: Int) {
        // Only the columns of the root and the two children are compared, because they determine all other columns of a tree.
        guard case .tree(let root, let left, let right, _, _) = list.shape else { return }
        add(.order(end: end, ownerSlot: nil), list.ownerTable, root)
        for slot in [left, right] { add(.order(end: end, ownerSlot: list.ownerSlot), list.memberTable, slot) }
    }

    private mutating func add(_ meaning: ColumnMeanings.Meaning, _ table: Int, _ slot: Int) {
        columns[table].append(ColumnMeanings.Column(slot: slot, kind: tables[table].columns[slot], meaning: meaning))
    }
}
