import CambiumModel
import Glibc

/// Finds the differences between two graphs page by page. The columns of both graphs must have the same meanings.
///
/// If a group contains the rows of the same virtual page (a range of consecutive serials) in both graphs, the rows are compared in place.
/// If packing has moved rows, objects are compared by their serials. Links contain row numbers. If `keepsRows` is true for the linked
/// table, the row numbers are compared. Otherwise, the serials of the linked objects are compared.
struct ChangeFinder {
    let old: Reader
    let new: Reader
    let layout: GraphLayout
    let meanings: ColumnMeanings
    let sharing: PageSharing
    private(set) var events: [ChangeEvent] = []
    /// The ordered lists whose order may differ between the graphs.
    private(set) var reordered = Set<OrderedList>()
    /// For each table, whether a row number refers to the same object in both graphs (`keepsRows`); `nil` if this is not known yet.
    private var keepsRows: [Bool?] = []

    struct OrderedList: Hashable {
        /// The number of the owner's end (side of the relationship). If a relationship is its own inverse, the number of the first end.
        let end: Int
        let owner: UInt64
    }

    init(_ old: Version, _ new: Version) {
        self.old = old.reader
        self.new = new.reader
        layout = new.layout
        meanings = new.layout.meanings
        sharing = PageSharing(old.space, new.space)
    }

    /// Returns all differences, in order. Complexity: O(pages that are not shared + events x log events).
    mutating func run() -> [ChangeEvent] {
        for table in layout.tables.indices {
            if sharing.isOnePage(old.tableReference(table), new.tableReference(table)) { continue }
            if let edges = meanings.edges[table] { compareEdges(table, edges) } else { compareObjects(table) }
        }
        compareOrders()
        if !isSorted { events.sort() }
        return events
    }

    private var isSorted: Bool {
        for place in events.indices.dropFirst() where events[place] < events[place - 1] { return false }
        return true
    }

    // MARK: Groups and rows

    /// Calls `body` with each group of rows whose page differs between the graphs.
    mutating func forEachGroup(_ table: Int, _ body: (inout Self, _ old: RowGroup, _ new: RowGroup) -> Void) {
        let (old, new) = (self.old, self.new)
        RadixVector.forEachDifference(
            (old.tablePage(table).rows, old.chunks), (new.tablePage(table).rows, new.chunks), sharing
        ) { index, before, after in
            body(&self, RowGroup(before, index, table, old), RowGroup(after, index, table, new))
        }
    }

    /// Returns whether each row number refers to the same object in both graphs, if both graphs have an object in the row.
    mutating func keepsRows(_ table: Int) -> Bool {
        if keepsRows.isEmpty { keepsRows = [Bool?](repeating: nil, count: layout.tables.count) }
        if let known = keepsRows[table] { return known }
        var keeps = true
        forEachGroup(table) { _, before, after in
            guard keeps, before.exists, after.exists else { return }
            keeps = before.virtualPage != nil && before.virtualPage == after.virtualPage
        }
        keepsRows[table] = keeps
        return keeps
    }

    /// Returns the leaves of one column in the two groups. Returns `nil` if both leaves are the same page, or if one of the graphs does not
    /// have the group.
    func leaves(_ before: RowGroup, _ after: RowGroup, _ slot: Int) -> LeafPair? {
        let (leaf, other) = (before.leaf(slot), after.leaf(slot))
        if leaf == 0 || other == 0 || sharing.isOnePage(leaf, other) { return nil }
        return LeafPair(old.chunks[leaf], new.chunks[other])
    }

    /// Returns the serial of a row, or 0 for no row.
    func serial(_ reader: Reader, _ table: Int, _ row: UInt32) -> UInt64 { row == noRow ? 0 : reader.rows(table).serial(row) }

    // MARK: Events

    mutating func track(_ event: ChangeEvent) { events.append(event) }

    /// Records that a to-one relationship leads from the object `serial` to different targets in the two graphs. Target 0 means no object.
    mutating func trackTarget(_ end: Int, of serial: UInt64, before: UInt64, after: UInt64) {
        let end = meanings.ends[end]
        guard let property = end.property else { return }
        if before != 0 { events.append(ChangeEvent(.removed, end.root, serial, property, target: before)) }
        if after != 0 { events.append(ChangeEvent(.added, end.root, serial, property, target: after)) }
    }

    /// Records that a member of a list has different owners in the two graphs. Owner 0 means no owner. `end` is the member's end of the
    /// link.
    mutating func trackOwner(_ end: Int, of member: UInt64, before: UInt64, after: UInt64) {
        let owner = meanings.ends[end ^ 1]
        guard let property = owner.property else { return }
        if before != 0 { events.append(ChangeEvent(.removed, owner.root, before, property, target: member)) }
        if after != 0 { events.append(ChangeEvent(.added, owner.root, after, property, target: member)) }
    }

    /// Records that the order of a list may differ between the graphs. Does nothing if the list has no order.
    mutating func trackReordered(_ end: Int, owner: UInt64) {
        let end = meanings.ends[end]
        if end.isOrdered { reordered.insert(OrderedList(end: end.list, owner: owner)) }
    }
}

extension ChangeFinder {
    /// An edge of a many-to-many link, identified by the serials of the objects at its two ends.
    private struct Edge: Hashable {
        let first: UInt64
        let second: UInt64
    }

    /// Compares the edges in each group of rows whose page differs between the graphs. An edge is identified by the serials of its ends, so
    /// an edge that only moved to another row counts as unchanged.
    mutating func compareEdges(_ table: Int, _ layout: ColumnMeanings.Edges) {
        let keepsEnds = keepsRows(meanings.ends[layout.firstEnd].table) && keepsRows(meanings.ends[layout.firstEnd + 1].table)
        var (removed, added): ([Edge], [Edge]) = ([], [])
        forEachGroup(table) { finder, before, after in
            let leaves = [0, 1].map { finder.leaves(before, after, layout.ownerSlots[$0]) }
            for word in 0..<RowGroup.wordCount {
                let (oldLive, newLive) = (before.live(word), after.live(word))
                let common = oldLive & newLive
                var differing = common
                if keepsEnds { differing = leaves.reduce(0) { $0 | ($1?.differingRows(.rows, common, word) ?? 0) } }
                before.forEachRow(oldLive & ~newLive, word) { removed.append(finder.edge(finder.old, table, layout, $0)) }
                after.forEachRow(newLive & ~oldLive, word) { added.append(finder.edge(finder.new, table, layout, $0)) }
                var other: UInt64 = 0
                after.forEachRow(differing, word) { row in
                    let (was, now) = (finder.edge(finder.old, table, layout, row), finder.edge(finder.new, table, layout, row))
                    if was == now { return }
                    removed.append(was)
                    added.append(now)
                    other |= 1 << UInt64(row & 63)
                }
                finder.trackReorderedEdges(table, layout, before, after, common & ~other, word)
            }
        }
        trackEdges(layout, removed, added)
    }

    private func edge(_ reader: Reader, _ table: Int, _ layout: ColumnMeanings.Edges, _ row: UInt32) -> Edge {
        let rows = reader.rows(table)
        let first = serial(reader, meanings.ends[layout.firstEnd].table, rows.link(row, layout.ownerSlots[0]))
        let second = serial(reader, meanings.ends[layout.firstEnd + 1].table, rows.link(row, layout.ownerSlots[1]))
        // The row numbers of the two objects decide which end of a symmetric edge is stored first, and these numbers may differ between the
        // graphs. Serials are the same in both graphs, so the ends are ordered by serial here.
        return layout.isSymmetric && first > second ? Edge(first: second, second: first) : Edge(first: first, second: second)
    }

    /// Records the ordered lists in which an edge may have different positions in the two graphs. `rows` has a bit for each edge to
    /// compare.
    private mutating func trackReorderedEdges(
        _ table: Int, _ layout: ColumnMeanings.Edges, _ before: RowGroup, _ after: RowGroup, _ rows: UInt64, _ word: Int
    ) {
        for column in meanings.columns[table] {
            guard case .order(let end, _) = column.meaning, let pair = leaves(before, after, column.slot) else { continue }
            let slot = layout.ownerSlots[end & 1]
            after.forEachRow(pair.differingRows(column.kind, rows, word), word) {
                trackReordered(end, owner: serial(new, meanings.ends[end].table, new.rows(table).link($0, slot)))
            }
        }
    }

    private mutating func trackEdges(_ layout: ColumnMeanings.Edges, _ removed: [Edge], _ added: [Edge]) {
        let kept = removed.isEmpty || added.isEmpty ? [] : Set(removed).intersection(added)
        for edge in kept {
            // The edge was removed and added again, or it moved to another row. In both cases, its position in the lists of the objects at
            // its ends may differ.
            trackReordered(layout.firstEnd, owner: edge.first)
            trackReordered(layout.firstEnd + 1, owner: edge.second)
        }
        for edge in removed where !kept.contains(edge) { track(.removed, edge, layout) }
        for edge in added where !kept.contains(edge) { track(.added, edge, layout) }
    }

    private mutating func track(_ kind: ChangeEvent.Kind, _ edge: Edge, _ layout: ColumnMeanings.Edges) {
        for side in 0...1 {
            let end = meanings.ends[layout.firstEnd + side]
            // A symmetric edge from an object to itself is one member, so it is reported for one side only.
            guard let property = end.property, side == 0 || !layout.isSymmetric || edge.first != edge.second else { continue }
            let (owner, member) = side == 0 ? (edge.first, edge.second) : (edge.second, edge.first)
            track(ChangeEvent(kind, end.root, owner, property, target: member))
        }
    }

    /// Records the ordered lists that have the same members in both graphs, but in different orders.
    mutating func compareOrders() {
        if reordered.isEmpty { return }
        let changed = listsWithOtherMembers()
        for list in reordered where !changed.contains(list) {
            let end = meanings.ends[list.end]
            guard let property = end.property, let before = old.row(end.table, serial: list.owner),
                let after = new.row(end.table, serial: list.owner)
            else { continue }
            let link = layout.ends[list.end]
            if members(old, link, before, end.targetTable) != members(new, link, after, end.targetTable) {
                track(ChangeEvent(.moved, end.root, list.owner, property))
            }
        }
    }

    private func listsWithOtherMembers() -> Set<OrderedList> {
        var lists = Set<OrderedList>()
        for event in events where event.kind == .removed || event.kind == .added {
            let number = PropertyNumber(rawValue: event.property)
            guard let relationship = layout.schema.relationship(number, ofRoot: event.root) else { continue }
            lists.insert(OrderedList(end: meanings.ends[2 * relationship.link + relationship.end].list, owner: event.serial))
        }
        return lists
    }

    private func members(_ reader: Reader, _ end: EndLayout, _ owner: UInt32, _ table: Int) -> [UInt64] {
        var serials: [UInt64] = []
        let rows = reader.rows(table)
        reader.forEachMember(end, owner: owner) { serials.append(rows.serial($0)) }
        return serials
    }

    /// Returns whether an attribute has the same value in a row of each graph. Two values are the same if they have the same bits, so 0.0
    /// and -0.0 differ.
    func isEqual(
        _ column: ColumnMeanings.Column, _ before: (rows: Rows, row: UInt32), _ after: (rows: Rows, row: UInt32)
    ) -> Bool {
        guard case .string = column.kind else {
            return before.rows.withCell(before.row, column.slot, column.kind) {
                after.rows.equals(after.row, column.slot, column.kind, $0)
            }
        }
        let old = before.rows.leaf(before.rows.group(before.row), column.slot)
        let new = after.rows.leaf(after.rows.group(after.row), column.slot)
        let (cell, other) = (StringLeaf(old).cell(before.row), StringLeaf(new).cell(after.row))
        if cell == 0 || other == 0 { return cell == other }
        if StringLeaf.isBlob(cell), StringLeaf.isBlob(other) {
            return isEqualBlob(StringLeaf(old).blob(cell).page, StringLeaf(new).blob(other).page)
        }
        if StringLeaf.isBlob(cell) || StringLeaf.isBlob(other) { return false }
        return StringLeaf(old).inlineBytes(cell).isEqual(to: StringLeaf(new).inlineBytes(other))
    }

    /// Returns whether two blobs (values of more than 255 bytes) are equal. Complexity: O(1) if both references mean the same page,
    /// otherwise O(bytes).
    private func isEqualBlob(_ before: PageRef, _ after: PageRef) -> Bool {
        if sharing.isOnePage(before, after) { return true }
        let (old, new) = (Blob.head(before, self.old.chunks), Blob.head(after, self.new.chunks))
        guard old.byteCount == new.byteCount else { return false }
        return (0..<old.head.extentCount).allSatisfy { index in
            let (extent, other) = (old.head[index], new.head[index])
            if sharing.isOnePage(extent, other) { return true }
            let byteCount = min(Blob.extentByteCountMax, old.byteCount - index * Blob.extentByteCountMax)
            // SAFETY: both extents have at least `byteCount` bytes.
            return memcmp(self.old.chunks[extent] + PageLayout.header, self.new.chunks[other] + PageLayout.header, byteCount) == 0
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func isEqual(to other: UnsafeRawBufferPointer) -> Bool {
        guard count == other.count, let start = baseAddress, let otherStart = other.baseAddress else { return count == other.count }
        // SAFETY: both buffers have `count` bytes.
        return memcmp(start, otherStart, count) == 0
    }
}
