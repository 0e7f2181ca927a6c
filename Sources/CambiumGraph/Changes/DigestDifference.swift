package import CambiumModel

extension Graph {
    /// Returns the digest of this graph, computed from the digest of an earlier moment of the same timeline and the changes since then.
    ///
    /// Complexity: O(pages that are not shared + values of the objects that differ + members that were added or removed). If the members of
    /// an ordered relationship differ, the cost includes all of its members. O(graph) if the schema has changed.
    ///
    /// - Parameter known: The digest of `older`.
    package func digest(after known: GraphDigest, of older: Graph) -> GraphDigest {
        if version === older.version { return known }
        guard layout === older.layout else { return digest() }
        var difference = DigestDifference(older.version, version)
        return difference.run(changes(since: older).events, known)
    }
}

/// Computes the digest of a graph from the digest of an earlier graph with the same layout. A digest is a sum of terms. This type adds the
/// terms that only the later graph has, and subtracts the terms that only the earlier graph has.
struct DigestDifference {
    private let old: Digester
    private let new: Digester
    private let layout: GraphLayout
    private var finder: ChangeFinder
    private var removed = DigestSum()
    private var added = DigestSum()

    init(_ old: Version, _ new: Version) {
        layout = new.layout
        self.old = Digester(reader: old.reader, layout: layout)
        self.new = Digester(reader: new.reader, layout: layout)
        finder = ChangeFinder(old, new)
    }

    mutating func run(_ events: [ChangeEvent], _ known: GraphDigest) -> GraphDigest {
        var replaced: [EntityNumber: Set<UInt64>] = [:]
        for table in layout.tables {
            guard let root = table.root?.number else { continue }
            let serials = serialsOfOtherEntities(table)
            for serial in serials { addWhole(table, root, serial) }
            replaced[root] = serials
        }
        var first = 0
        while first < events.count {
            let end = events[first...].firstIndex { !$0.isOfSameObject(as: events[first]) } ?? events.count
            let (root, serial) = (events[first].root, events[first].serial)
            if let table = layout.table(of: root), replaced[root]?.contains(serial) != true {
                add(table, root, serial, events[first..<end])
            }
            first = end
        }
        return known + added - removed
    }

    // MARK: Objects

    private mutating func add(_ table: TableLayout, _ root: EntityNumber, _ serial: UInt64, _ events: ArraySlice<ChangeEvent>) {
        // If only one graph has the object, all links of the object belong to the difference, but the events list only some of these links.
        if events.contains(where: { $0.kind == .inserted || $0.kind == .deleted }) { return addWhole(table, root, serial) }
        guard let before = old.reader.row(table.index, serial: serial), let after = new.reader.row(table.index, serial: serial) else {
            return addWhole(table, root, serial)
        }
        if events.contains(where: { $0.kind == .stub || $0.kind == .attribute }) {
            old.addObject(before, table, root, to: &removed)
            new.addObject(after, table, root, to: &added)
        }
        var last: UInt16 = 0
        for event in events where event.kind == .removed || event.kind == .added || event.kind == .moved {
            guard let relationship = layout.schema.relationship(PropertyNumber(rawValue: event.property), ofRoot: root),
                new.isListingEnd(relationship, layout.end(relationship))
            else { continue }
            if relationship.isOrdered {
                // At the first event of an ordered property, all old members of the property are subtracted, and all its new members are
                // added. The other events of the property follow directly, and are skipped.
                if event.property == last { continue }
                old.addMembers(of: before, serial, relationship, to: &removed)
                new.addMembers(of: after, serial, relationship, to: &added)
            } else if event.kind == .removed {
                removed.addMember(event.target, at: 0, of: serial, relationship)
            } else if event.kind == .added {
                added.addMember(event.target, at: 0, of: serial, relationship)
            }
            last = event.property
        }
    }

    /// Adds the terms of an object in the earlier graph to `removed`, and the terms of the object in the later graph to `added`.
    private mutating func addWhole(_ table: TableLayout, _ root: EntityNumber, _ serial: UInt64) {
        if let row = old.reader.row(table.index, serial: serial) { old.addWhole(row, table, root, serial, to: &removed) }
        if let row = new.reader.row(table.index, serial: serial) { new.addWhole(row, table, root, serial, to: &added) }
    }

    /// Returns the serials of objects whose concrete entity differs between the graphs. An object whose entity differs may have no event,
    /// because its values may be the same.
    private mutating func serialsOfOtherEntities(_ table: TableLayout) -> Set<UInt64> {
        guard let slot = table.entitySlot else { return [] }
        var pages = Set<UInt32>()
        finder.forEachGroup(table.index) { finder, before, after in
            if before.exists, after.exists, finder.leaves(before, after, slot) == nil, before.virtualPage == after.virtualPage { return }
            pages.formUnion(before.virtualPages)
            pages.formUnion(after.virtualPages)
        }
        var serials = Set<UInt64>()
        for page in pages {
            let first = UInt64(page) << UInt64(PageLayout.fanOutShift)
            for serial in first..<first + UInt64(PageLayout.fanOut) {
                guard let before = old.reader.row(table.index, serial: serial), let after = new.reader.row(table.index, serial: serial)
                else { continue }
                let isSame = old.reader.rows(table.index).entity(before, table) == new.reader.rows(table.index).entity(after, table)
                if !isSame { serials.insert(serial) }
            }
        }
        return serials
    }
}

extension Digester {
    fileprivate func addObject(_ row: UInt32, _ table: TableLayout, _ root: EntityNumber, to sum: inout DigestSum) {
        let rows = reader.rows(table.index)
        let entity = rows.entity(row, table)
        add(row, rows, table, root, entity, attributeSlots(of: entity, table), to: &sum)
    }

    fileprivate func addMembers(of row: UInt32, _ serial: UInt64, _ relationship: Relationship, to sum: inout DigestSum) {
        let targets = reader.rows(layout.tableIndex(ofKnown: relationship.destinationRoot))
        addMembers(of: row, serial, relationship, layout.end(relationship), targets, to: &sum)
    }

    /// Adds the terms of an object, of its values, and of the links that the digest counts at this object.
    fileprivate func addWhole(_ row: UInt32, _ table: TableLayout, _ root: EntityNumber, _ serial: UInt64, to sum: inout DigestSum) {
        addObject(row, table, root, to: &sum)
        let entity = layout.schema.entity(reader.rows(table.index).entity(row, table))
        for relationship in entity?.relationships ?? [] where isListingEnd(relationship, layout.end(relationship)) {
            addMembers(of: row, serial, relationship, to: &sum)
        }
    }
}

extension GraphDigest {
    fileprivate static func + (digest: Self, sum: DigestSum) -> Self { Self(digest.number &+ sum.number) }
    fileprivate static func - (digest: Self, sum: DigestSum) -> Self { Self(digest.number &- sum.number) }

    private var number: UInt128 { UInt128(high) << 64 | UInt128(low) }

    private init(_ number: UInt128) {
        self.init(high: UInt64(truncatingIfNeeded: number >> 64), low: UInt64(truncatingIfNeeded: number))
    }
}

extension DigestSum {
    fileprivate var number: UInt128 { UInt128(high) << 64 | UInt128(low) }
}
