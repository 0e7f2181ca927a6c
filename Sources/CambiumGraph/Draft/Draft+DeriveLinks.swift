import CambiumModel

extension Draft {
    /// Emits what changed at one end of a link, where this is the end that tells it: each ordered end tells its own order;
    /// else the to-one end, or the first one, tells for both.
    borrowing func emitLinks(
        _ relationship: Relationship, _ touched: TouchedRows, _ emit: (Op) throws(CambiumError) -> Void
    ) throws(CambiumError) {
        let end = layout.end(relationship)
        guard tells(end, relationship) else { return }
        let table = layout.tableIndex(ofKnown: relationship.root)
        let rows = reader.rows(table)
        var changed: [UInt32] = []
        touched.ends[2 * end.link + end.end].forEach { if rows.isLive($0) { changed.append($0) } }
        changed.sort { rows.serial($0) < rows.serial($1) }
        var builder = LinkBlockBuilder(relationship: relationship, kind: kind(relationship))
        for row in changed {
            add(row, end, relationship, rows.serial(row), to: &builder)
            if let block = builder.takeFull() { try emit(.relink(block)) }
        }
        if let block = builder.take() { try emit(.relink(block)) }
    }

    private borrowing func tells(_ end: EndLayout, _ relationship: Relationship) -> Bool {
        if relationship.isOrdered { return true }
        switch end.layout {
        case .pair: return end.end == 0
        case .list(let list, let childEnd): return end.end == childEnd && !list.isOrdered
        case .edges(_, let lists, _): return end.end == 0 && !lists[1].isOrdered
        }
    }

    private borrowing func kind(_ relationship: Relationship) -> LinkBlockBuilder.Kind {
        relationship.isOrdered ? .ordered : relationship.isToMany ? .unordered : .toOne
    }

    private borrowing func add(
        _ row: UInt32, _ end: EndLayout, _ relationship: Relationship, _ serial: UInt64, to builder: inout LinkBlockBuilder
    ) {
        let targets = layout.tableIndex(ofKnown: relationship.destinationRoot)
        let existed =
            base.layout.tables.count > targets
            && base.reader.rows(layout.tableIndex(ofKnown: relationship.root)).isLive(row)
        if builder.kind == .toOne {
            let after = target(reader, targets, end, row)
            if after != (existed ? target(base.reader, targets, end, row) : 0) { builder.addToOne(serial, after) }
            return
        }
        if !existed, builder.kind == .unordered {
            return builder.addUnordered(serial) { appendMembers(reader, targets, end, row, to: &$0) }
        }
        let after = members(reader, targets, end, row)
        let before = existed ? members(base.reader, targets, end, row) : []
        if before == after { return }
        switch builder.kind {
        case .toOne: break
        case .ordered:
            let kept = zip(before, after).prefix { $0 == $1 }.count
            builder.addOrdered(serial, kept: kept, suffix: after[kept...])
        case .unordered:
            let old = Set(before)
            let new = Set(after)
            let removed = before.filter { !new.contains($0) }.sorted()
            let added = after.filter { !old.contains($0) }.sorted()
            if !removed.isEmpty || !added.isEmpty { builder.addUnordered(serial, removed, added) }
        }
    }

    /// The serial at the other end of a to-one relationship; 0 where there is none.
    private borrowing func target(_ reader: Reader, _ table: Int, _ end: EndLayout, _ row: UInt32) -> UInt64 {
        var serial: UInt64 = 0
        reader.forEachMember(end, owner: row) { serial = reader.rows(table).serial($0) }
        return serial
    }

    /// The serials at the other end. Of a link that is its own inverse, those that the object comes first with.
    private borrowing func members(_ reader: Reader, _ table: Int, _ end: EndLayout, _ row: UInt32) -> [UInt64] {
        var serials: [UInt64] = []
        appendMembers(reader, table, end, row, to: &serials)
        return serials
    }

    private borrowing func appendMembers(
        _ reader: Reader, _ table: Int, _ end: EndLayout, _ row: UInt32, to serials: inout [UInt64]
    ) {
        let rows = reader.rows(table)
        if case .edges(let edgeTable, let lists, true) = end.layout {
            let edges = reader.rows(edgeTable)
            for edge in ListRows(reader, lists[0], owner: row) { serials.append(rows.serial(edges.link(edge, 1))) }
        } else {
            reader.forEachMember(end, owner: row) { serials.append(rows.serial($0)) }
        }
    }
}

/// Collects the changed members of one relationship until a block is full.
struct LinkBlockBuilder {
    enum Kind { case toOne, unordered, ordered }

    let relationship: Relationship
    let kind: Kind
    private var serials = SerialRuns()
    private var targets: [UInt64] = []
    private var removedCounts: [UInt32] = []
    private var removed: [UInt64] = []
    private var addedCounts: [UInt32] = []
    private var added: [UInt64] = []

    init(relationship: Relationship, kind: Kind) {
        self.relationship = relationship
        self.kind = kind
    }

    mutating func addToOne(_ serial: UInt64, _ target: UInt64) {
        serials.append(serial)
        targets.append(target)
    }

    mutating func addOrdered(_ serial: UInt64, kept: Int, suffix: ArraySlice<UInt64>) {
        serials.append(serial)
        removedCounts.append(UInt32(kept))
        addedCounts.append(UInt32(suffix.count))
        added.append(contentsOf: suffix)
    }

    mutating func addUnordered(_ serial: UInt64, _ removedSerials: [UInt64], _ addedSerials: [UInt64]) {
        serials.append(serial)
        removedCounts.append(UInt32(removedSerials.count))
        removed.append(contentsOf: removedSerials)
        addedCounts.append(UInt32(addedSerials.count))
        added.append(contentsOf: addedSerials)
    }

    /// Adds the members of an object that had none, if there are any.
    ///
    /// - Parameter append: appends their serials.
    mutating func addUnordered(_ serial: UInt64, _ append: (inout [UInt64]) -> Void) {
        let start = added.count
        append(&added)
        if added.count == start { return }
        added.withUnsafeMutableBufferPointer { added in
            var members = UnsafeMutableBufferPointer(rebasing: added[start...])
            members.sort()
        }
        serials.append(serial)
        removedCounts.append(0)
        addedCounts.append(UInt32(added.count - start))
    }

    mutating func takeFull() -> LinkBlock? {
        serials.count >= BlockBuilder.objectCountMax || added.count >= 8 * BlockBuilder.objectCountMax ? take() : nil
    }

    mutating func take() -> LinkBlock? {
        guard serials.count > 0 else { return nil }
        let content: LinkBlock.Content =
            switch kind {
            case .toOne: .toOne(targets)
            case .ordered: .ordered(keptCounts: removedCounts, suffixCounts: addedCounts, suffixes: added)
            case .unordered:
                .unordered(removedCounts: removedCounts, removed: removed, addedCounts: addedCounts, added: added)
            }
        defer { self = LinkBlockBuilder(relationship: relationship, kind: kind) }
        return LinkBlock(root: relationship.root, property: relationship.number, serials: serials, content: content)
    }
}
