import CambiumModel

/// The old table from which a table of a new layout gets its content, and the source of each part of the new table.
struct TableMigration {
    let new: TableLayout
    /// The old table that becomes this table, or `nil` if the table begins empty.
    let old: TableLayout?
    /// For each column, the old columns from which it gets its values.
    let columns: [ColumnMigration]
    /// The columns of the old table that no new column uses.
    let droppedSlots: [Int]
    /// For each index, the old index whose entries the new index keeps, or `nil` if the index must be built.
    let indexes: [Int?]
    let droppedIndexes: [Int]

    /// - Parameters:
    ///   - before: The old layout, and the links of each of its tables.
    ///   - after: The new layout, and the links of each of its tables.
    init(
        _ table: TableLayout, from before: (layout: GraphLayout, links: [[Int]]), to after: (layout: GraphLayout, links: [[Int]]),
        _ links: [LinkSource], _ succession: SchemaSuccession
    ) throws(CambiumError) {
        let (old, new) = (before.layout, after.layout)
        self.new = table
        let places = ColumnRole.roles(in: new, of: table.index, links: after.links[table.index])
        guard let source = Self.source(of: table, old, new, links, after.links[table.index]) else {
            self.old = nil
            (columns, droppedSlots, droppedIndexes) = ([], [], [])
            indexes = table.indexes.map { _ in nil }
            return
        }
        self.old = source
        let oldRoles = ColumnRole.roles(in: old, of: source.index, links: before.links[source.index])
        let oldSlots = Dictionary(oldRoles.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
        var columns: [ColumnMigration] = []
        for role in places {
            columns.append(try ColumnMigration(role, role.inOld(links), oldSlots, table, succession))
        }
        self.columns = columns
        let kept = Set(columns.compactMap(\.keptSlot))
        droppedSlots = source.columns.indices.filter { !kept.contains($0) }
        indexes = Self.indexes(table, source, columns)
        let keptIndexes = Set(indexes.compactMap(\.self))
        droppedIndexes = source.indexes.indices.filter { !keptIndexes.contains($0) }
    }

    private static func source(
        of table: TableLayout, _ old: GraphLayout, _ new: GraphLayout, _ links: [LinkSource], _ own: [Int]
    ) -> TableLayout? {
        if let root = table.root { return old.table(of: root.number) }
        for number in own {
            guard case .edges(table.index, _, _) = new.links[number], links[number].isKept, let before = links[number].old,
                case .edges(let index, _, _) = old.links[before]
            else { continue }
            return old.tables[index]
        }
        return nil
    }

    /// Returns, for each index, the old index whose entries the new index keeps. The entries can be kept if the index has the same
    /// entities, and no value in it changes.
    private static func indexes(_ table: TableLayout, _ old: TableLayout, _ columns: [ColumnMigration]) -> [Int?] {
        var free = Dictionary(grouping: old.indexes.indices, by: { old.indexes[$0].slots })
        let staying = Set(old.entities).intersection(table.entities)
        return table.indexes.map { index in
            let slots = index.slots.map { columns[$0].isUntouched ? columns[$0].keptSlot : nil }
            guard !slots.contains(nil) else { return nil }
            let wanted = slots.compactMap(\.self)
            let place = free[wanted]?.firstIndex { number in
                let before = old.indexes[number]
                // A table of edges has only one index. The `family` of this index is empty in both layouts, so the index stays.
                let hasSameRows = before.family.intersection(staying) == index.family.intersection(staying)
                return hasSameRows && before.coversTable == index.coversTable
            }
            return place.flatMap { free[wanted]?.remove(at: $0) }
        }
    }

    /// Whether objects of the table get an entity of another number.
    var isRenumbered: Bool {
        columns.contains {
            guard case .renumbered = $0.entities else { return false }
            return true
        }
    }

    /// Whether the pages of the table's groups of rows can stay unchanged.
    var hasSameColumns: Bool {
        old?.columns.count == columns.count && columns.enumerated().allSatisfy { $0.element.keptSlot == $0.offset }
    }

    /// Whether the page of the table can stay unchanged.
    var hasSamePage: Bool {
        guard let old, hasSameColumns, droppedIndexes.isEmpty, old.entities == new.entities else { return false }
        return indexes.enumerated().allSatisfy { $0.element == $0.offset }
    }
}

/// The contents of a column, without its position in a layout, so that the columns of two layouts can be compared.
enum ColumnRole: Hashable {
    case created, changed, source, virtualPage, entity
    case attribute(PropertyNumber)
    /// The exact sum of a derived attribute.
    case exactSum(PropertyNumber)
    case link(Int, LinkPart)

    enum LinkPart: Hashable {
        /// The row at the other end of a one-to-one link. `end` is the end of the link whose objects have the column.
        case partner(end: Int)
        /// The owner of a member. `end` is the owner's end of the link.
        case owner(end: Int)
        case first(end: Int), last(end: Int), count(end: Int), previous(end: Int), next(end: Int)
        case root(end: Int), left(end: Int), right(end: Int), up(end: Int), size(end: Int)

        var swapped: LinkPart {
            switch self {
            case .partner(let end): .partner(end: 1 - end)
            case .owner(let end): .owner(end: 1 - end)
            case .first(let end): .first(end: 1 - end)
            case .last(let end): .last(end: 1 - end)
            case .count(let end): .count(end: 1 - end)
            case .previous(let end): .previous(end: 1 - end)
            case .next(let end): .next(end: 1 - end)
            case .root(let end): .root(end: 1 - end)
            case .left(let end): .left(end: 1 - end)
            case .right(let end): .right(end: 1 - end)
            case .up(let end): .up(end: 1 - end)
            case .size(let end): .size(end: 1 - end)
            }
        }
    }

    /// Returns the role that a column with this role had in the old layout, or `nil` if no old column had the same contents.
    func inOld(_ links: [LinkSource]) -> ColumnRole? {
        guard case .link(let link, let part) = self else { return self }
        guard links[link].isKept, let old = links[link].old else { return nil }
        return .link(old, links[link].isSwapped ? part.swapped : part)
    }
}

extension ColumnRole {
    /// Returns, for each table, the links that have columns in the table.
    static func linksOfTables(_ layout: GraphLayout) -> [[Int]] {
        var found = [[Int]](repeating: [], count: layout.tables.count)
        for (number, link) in layout.links.enumerated() {
            let holders: Set<Int> =
                switch link {
                case .pair(let tables, _): [tables[0], tables[1]]
                case .list(let list, _): [list.ownerTable, list.memberTable]
                case .edges(let table, let lists, _): [table, lists[0].ownerTable, lists[1].ownerTable]
                }
            for table in holders { found[table].append(number) }
        }
        return found
    }

    /// Returns the role of each column of a table, such as an attribute or a part of a link.
    ///
    /// - Parameter own: The links that have columns in the table.
    static func roles(in graph: GraphLayout, of table: Int, links own: [Int]) -> [ColumnRole] {
        let layout = graph.tables[table]
        var roles = [ColumnRole](repeating: .created, count: layout.columns.count)
        if layout.root != nil {
            (roles[TableLayout.changedSlot], roles[TableLayout.sourceSlot]) = (.changed, .source)
            roles[TableLayout.virtualPageSlot] = .virtualPage
            if let slot = layout.entitySlot { roles[slot] = .entity }
            for entity in layout.entities {
                for attribute in graph.schema.entity(entity)?.attributes ?? [] {
                    roles[layout.slot(of: attribute.number)] = .attribute(attribute.number)
                }
            }
            for (property, slot) in layout.exactSlots { roles[slot] = .exactSum(property) }
        }
        for number in own {
            switch graph.links[number] {
            case .pair(let tables, let slots):
                for end in [1, 0] where tables[end] == table { roles[slots[end]] = .link(number, .partner(end: end)) }
            case .list(let list, let childEnd): list.setRoles(&roles, table, number, end: 1 - childEnd)
            case .edges(_, let lists, _):
                for end in 0...1 { lists[end].setRoles(&roles, table, number, end: end) }
            }
        }
        return roles
    }
}

extension ListLayout {
    fileprivate func setRoles(_ roles: inout [ColumnRole], _ table: Int, _ link: Int, end: Int) {
        func set(_ holder: Int, _ slot: Int, _ part: ColumnRole.LinkPart) {
            if holder == table { roles[slot] = .link(link, part) }
        }
        set(memberTable, ownerSlot, .owner(end: end))
        switch shape {
        case .chain(let first, let last, let count, let previous, let next):
            set(ownerTable, first, .first(end: end))
            set(ownerTable, last, .last(end: end))
            set(ownerTable, count, .count(end: end))
            set(memberTable, previous, .previous(end: end))
            set(memberTable, next, .next(end: end))
        case .tree(let root, let left, let right, let up, let size):
            set(ownerTable, root, .root(end: end))
            set(memberTable, left, .left(end: end))
            set(memberTable, right, .right(end: end))
            set(memberTable, up, .up(end: end))
            set(memberTable, size, .size(end: end))
        }
    }
}
