import CambiumModel

/// Proves the rows, serials and values of a stored graph.
extension GraphProof {
    mutating func proveRows() {
        for number in tables.indices where isSound {
            let table = tables[number]
            proveLive(table)
            if table.isEdges { proveEdgeRows(table) } else { proveSerials(table) }
            guard isSound else { return }
            for case let group? in table.groups where !isFull { proveColumns(table, group) }
        }
    }

    /// Proves the live bits (which show the rows that contain an object), and the counts of live rows.
    private mutating func proveLive(_ table: ProvenTable) {
        var liveCount = 0
        var counts = [Int](repeating: 0, count: table.layout.entities.count)
        for (index, group) in table.groups.enumerated() {
            guard let group else { continue }
            let live = group.live.all
            let count = Int(group.liveCount)
            let stubs = group.stubs.all
            guard live.nonzeroBitCount == count, stubs & ~live == 0 else {
                return report("Row group \(index) of '\(table.name)' states a wrong number of rows.")
            }
            liveCount += count
            if !table.isEdges { proveEntities(table, index, group, live, &counts) }
        }
        guard liveCount == table.page.liveCount else {
            return report("'\(table.name)' has \(liveCount) rows, but its stored count differs.")
        }
        for (entity, count) in zip(table.layout.entities, counts) {
            guard count == table.layout.count(of: entity, in: table.page).pointee else {
                return report("'\(table.name)': the count of \(entity) is wrong.")
            }
        }
    }

    private mutating func proveEntities(
        _ table: ProvenTable, _ index: Int, _ group: GroupPage, _ live: UInt128, _ counts: inout [Int]
    ) {
        guard let slot = table.layout.entitySlot else {
            counts[0] += live.nonzeroBitCount
            return
        }
        let leaf = leaf(group, slot)
        var bits = live
        while bits != 0 {
            let place = UInt32(bits.trailingZeroBitCount)
            bits &= bits - 1
            let value = FixedLeaf(leaf).value(place, as: UInt16.self)
            let number = EntityNumber(rawValue: value)
            guard FixedLeaf(leaf).isPresent(place), let known = table.layout.place(of: number),
                layout.schema.entity(number)?.isAbstract == false
            else { return report("Row \(UInt32(index) << PageLayout.rowShift | place) of '\(table.name)' has no valid entity.") }
            counts[known] += 1
        }
    }

    func leaf(_ group: GroupPage, _ slot: Int) -> UnsafeMutableRawPointer {
        chunks[group[slot]]
    }

    // MARK: Serials

    /// Proves that each object is found by its serial, and that its serial was assigned. Also proves that the free list contains each free
    /// group exactly once.
    private mutating func proveSerials(_ table: ProvenTable) {
        let map = table.page.virtualPages
        let next = table.page.nextSerial
        var mapped = 0
        for (index, group) in table.groups.enumerated() {
            guard let group else { continue }
            var bits = group.live.all
            let own = group.virtualPage
            let isShared = reader.rows(table.layout.index).isShared(UInt32(index))
            let column = leaf(group, TableLayout.virtualPageSlot)
            var pages = Set<UInt32>()
            if !isShared { pages.insert(own) }
            while bits != 0 {
                let place = bits.trailingZeroBitCount
                bits &= bits - 1
                let page = isShared ? LinkLeaf(column).values[place] : own
                if isShared { pages.insert(page) }
                let serial = UInt64(page) << UInt64(PageLayout.fanOutShift) | UInt64(place)
                guard serial > 0, serial < next else { return report("'\(table.name)' has an object whose serial was never assigned.") }
            }
            for page in pages where map.get(Int(page), chunks) != UInt32(index) + 1 {
                return report("Row group \(index) of '\(table.name)' is not found by its serials.")
            }
            // Packing moves a row into a shared group only after all serials of its virtual page have been assigned. Otherwise, a clone
            // could put a new object into the row of another object.
            if isShared, pages.contains(where: { UInt64($0) >= next >> UInt64(PageLayout.fanOutShift) }) {
                return report("Row group \(index) of '\(table.name)' is shared, although some of its serials are not assigned yet.")
            }
            mapped += pages.count
        }
        guard mapped == count(map) else { return report("'\(table.name)' has serials that lead to no group of rows.") }
        proveFree(table, countMax: table.groups.count) { index in index < table.groups.count && table.groups[index] == nil }
        let inUse = table.groups.count { $0 != nil }
        if inUse + Int(table.page.freeCount) != table.groups.count {
            report("'\(table.name)' has groups of rows that are neither in use nor free.")
        }
    }

    /// Returns the number of elements that are not 0 in a vector whose nodes are proven.
    private func count(_ vector: RadixVector) -> Int {
        var (count, next) = (0, 0)
        while let index = vector.firstIndex(from: next, chunks) { (count, next) = (count + 1, index + 1) }
        return count
    }

    private mutating func proveEdgeRows(_ table: ProvenTable) {
        let next = Int(table.page.nextSerial)
        guard table.groups.count == (next + PageLayout.fanOut - 1) / PageLayout.fanOut, table.groups.allSatisfy({ $0 != nil }) else {
            return report("The links of a relationship do not have the groups of rows that their count requires.")
        }
        var last = -1
        table.forEachRow { last = Int($0) }
        guard last < next else { return report("A table of links has a link beyond its last row.") }
        proveFree(table, countMax: next) { row in row < next && !table.isLive(UInt32(row)) }
        if table.page.liveCount + Int(table.page.freeCount) != next {
            report("A relationship has rows for links that are neither in use nor free.")
        }
    }

    /// Proves that the list of free places (groups of rows, or rows of edges) contains no place twice, and no place that is in use.
    private mutating func proveFree(_ table: ProvenTable, countMax: Int, where isFree: (Int) -> Bool) {
        let freeCount = Int(table.page.freeCount)
        let free = table.page.free
        guard freeCount <= countMax else { return report("'\(table.name)' states more free places for rows than it has.") }
        var seen = RowSet()
        for place in 0..<freeCount {
            let element = free.get(place, chunks)
            guard isFree(Int(element)), seen.insert(element) else {
                return report("The free list of '\(table.name)' names a place that is in use, or a place twice.")
            }
        }
    }

    // MARK: Columns

    private mutating func proveColumns(_ table: ProvenTable, _ group: GroupPage) {
        let live = group.live.all
        for (slot, kind) in table.layout.columns.enumerated() {
            let leaf = leaf(group, slot)
            if leaf == chunks[kind.emptyLeaf(space.constants)] { continue }
            switch kind {
            case .fixed(let width): if slot != table.layout.entitySlot { proveFixed(table, slot, width, leaf, live, group) }
            case .string: proveStrings(table, slot, leaf, live, group)
            case .rows, .numbers: proveNumbers(table, slot, kind, leaf, live, group)
            }
        }
    }

    private mutating func proveFixed(
        _ table: ProvenTable, _ slot: Int, _ width: Int, _ leaf: UnsafeMutableRawPointer, _ live: UInt128, _ group: GroupPage
    ) {
        let present = FixedLeaf(leaf).presence.all
        guard present & ~live == 0 else { return report("'\(table.name)' has a value of an object that does not exist.") }
        // The column with the serial of a copy's original belongs to no attribute. So the values of this column are checked as whole
        // numbers here, and as serials below.
        let check = StoredValueCheck(table.types[slot] ?? .int64)
        if table.types[slot] == .uuid { return }
        var bits = present
        while bits != 0 {
            let place = bits.trailingZeroBitCount
            bits &= bits - 1
            let value: UInt64
            let address = FixedLeaf(leaf).address(UInt32(place), width: width)
            switch width {
            case 1: value = UInt64(address.load(as: UInt8.self))
            case 2: value = UInt64(address.load(as: UInt16.self))
            case 4: value = UInt64(address.load(as: UInt32.self))
            default: value = address.load(as: UInt64.self)
            }
            if let flaw = check.flaw(fixed: value, 0) {
                return report("\(object(table, group, place)): '\(attribute(table, slot))' \(flaw).")
            }
            if table.types[slot] == nil, value > ObjectID.serialMax {
                return report("\(object(table, group, place)) names an original that cannot exist.")
            }
        }
    }

    /// Proves a column of links or numbers. A row without an object must have no links, because the next object in this row must begin
    /// without links.
    private mutating func proveNumbers(
        _ table: ProvenTable, _ slot: Int, _ kind: ColumnKind, _ leaf: UnsafeMutableRawPointer, _ live: UInt128,
        _ group: GroupPage
    ) {
        if !table.isEdges, slot <= TableLayout.changedSlot { return proveProvenance(table, leaf, live, group) }
        if !table.isEdges, slot == TableLayout.virtualPageSlot { return }
        let empty: UInt32 = kind == .rows ? noRow : 0
        for place in 0..<PageLayout.fanOut where live >> UInt128(place) & 1 == 0 {
            guard LinkLeaf(leaf).values[place] == empty else {
                return report("'\(table.name)' has a link of an object that does not exist.")
            }
        }
    }

    private mutating func proveProvenance(
        _ table: ProvenTable, _ leaf: UnsafeMutableRawPointer, _ live: UInt128, _ group: GroupPage
    ) {
        let base = group.provenance
        let isWide = PageHeader(leaf).kind == PageKind.wideLeaf
        var bits = live
        while bits != 0 {
            let place = bits.trailingZeroBitCount
            bits &= bits - 1
            let offset =
                isWide
                ? WideLeaf(leaf).values[place]
                : UInt64(LinkLeaf(leaf).values[place])
            guard base &+ offset <= reader.transaction else {
                return report("\(object(table, group, place)) was made or changed by a transaction that does not exist.")
            }
        }
    }

    // MARK: Names

    /// Returns the name of an object for a message.
    func object(_ table: ProvenTable, _ group: GroupPage, _ place: Int) -> String {
        guard let index = table.groups.firstIndex(of: group) else { return table.name }
        let row = UInt32(index) << PageLayout.rowShift | UInt32(place)
        return "\(table.name)/\(reader.rows(table.layout.index).serial(row))"
    }

    func attribute(_ table: ProvenTable, _ slot: Int) -> String {
        for number in table.layout.entities {
            for attribute in layout.schema.entity(number)?.attributes ?? [] where table.layout.slot(of: attribute.number) == slot {
                return attribute.name
            }
        }
        return "source"
    }
}
