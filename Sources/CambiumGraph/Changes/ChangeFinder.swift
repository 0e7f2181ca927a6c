import CambiumModel

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
