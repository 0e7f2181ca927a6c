import CambiumModel

extension Graph {
    /// Returns the violations of the graph's invariants as sentences, or an empty array. The invariants: both sides of each link agree, and
    /// counts are right. Each index contains each of its objects exactly once and nothing else. No two objects have the same unique value.
    /// Each derived attribute has the value of its expression.
    ///
    /// Complexity: O(graph).
    package func invariantFindings() -> [String] {
        var findings: [String] = []
        for table in layout.tables {
            check(table, &findings)
        }
        for index in layout.ordered { check(index, &findings) }
        checkDerived(&findings)
        for (number, link) in layout.links.enumerated() {
            switch link {
            case .pair(let tables, let slots): checkPair(number, tables, slots, &findings)
            case .list(let list, _): check(list, number, &findings)
            case .edges(_, let lists, let isSymmetric):
                check(lists[0], number, &findings)
                check(lists[1], number, isSymmetric: isSymmetric, &findings)
            }
        }
        return findings
    }

    private func check(_ table: TableLayout, _ findings: inout [String]) {
        let name = table.root?.name ?? "edges"
        var rows: [UInt32] = []
        reader.forEachRow(of: table) { rows.append($0) }
        if rows.count != reader.liveCount(table.index) {
            findings.append("\(name): \(rows.count) rows are live, but the count is \(reader.liveCount(table.index)).")
        }
        for index in table.indexes { check(index, table, rows, name, &findings) }
        guard table.root != nil else { return }
        let tableRows = reader.rows(table.index)
        for row in rows where reader.row(table.index, serial: tableRows.serial(row)) != row {
            findings.append("\(name)/\(tableRows.serial(row)) is not found by its serial.")
        }
        var counts: [EntityNumber: Int] = [:]
        for row in rows { counts[tableRows.entity(row, table), default: 0] += 1 }
        for entity in table.entities {
            let count = counts[entity] ?? 0
            if count != reader.count(of: entity, in: table) { findings.append("\(name): the count of \(entity) is wrong.") }
        }
    }

    /// The number of rows whose index entries are prefetched together.
    private static let stepCount = 64

    private func check(
        _ index: IndexLayout, _ table: TableLayout, _ rows: [UInt32], _ name: String, _ findings: inout [String]
    ) {
        let tableRows = reader.rows(table.index)
        var expected = 0
        // The buckets are scattered in memory, so those of several rows are prefetched together.
        var step: [(row: UInt32, hash: UInt64)] = []
        for start in stride(from: 0, to: rows.count, by: Self.stepCount) {
            step.removeAll(keepingCapacity: true)
            for row in rows[start..<min(start + Self.stepCount, rows.count)] {
                guard index.coversTable || index.family.contains(tableRows.entity(row, table)),
                    let hash = reader.keyHash(index, tableRows, row)
                else { continue }
                reader.prefetchBlock(table.index, index.number, hash)
                step.append((row, hash))
            }
            expected += step.count
            for (row, hash) in step {
                let entry = reader.entry(of: row, hash: hash, table.index, index, comparesKeys: table.root != nil)
                if !entry.isListed { findings.append("\(name): row \(row) is missing from index \(index.number).") }
                if entry.hasDuplicate { findings.append("\(name)/\(tableRows.serial(row)) is a duplicate.") }
            }
        }
        if expected != reader.entryCount(table.index, index.number) {
            let count = reader.entryCount(table.index, index.number)
            findings.append("\(name): index \(index.number) has \(count) entries instead of \(expected).")
        }
    }

    private func checkPair(_ link: Int, _ tables: Pair<Int>, _ slots: Pair<Int>, _ findings: inout [String]) {
        for side in 0...1 {
            let rows = reader.rows(tables[side])
            let others = reader.rows(tables[1 - side])
            reader.forEachRow(of: layout.tables[tables[side]]) { row in
                let partner = rows.link(row, slots[side])
                if partner == noRow { return }
                if !others.isLive(partner) || others.link(partner, slots[1 - side]) != row {
                    findings.append("Link \(link): row \(row) has a link, but the row at the other end does not link back.")
                }
            }
        }
    }

    /// Checks that each member is exactly once in the list of its owner, and that no list contains other members.
    private func check(_ list: ListLayout, _ link: Int, isSymmetric: Bool = false, _ findings: inout [String]) {
        let owners = reader.rows(list.ownerTable)
        let members = reader.rows(list.memberTable)
        var seen = RowSet()
        var listed = 0
        reader.forEachRow(of: layout.tables[list.ownerTable]) { owner in
            var count = 0
            for member in ListRows(reader, list, owner: owner) {
                count += 1
                if !seen.insert(member) { findings.append("Link \(link): member \(member) is in two lists, or twice in a list.") }
                if !members.isLive(member) || members.link(member, list.ownerSlot) != owner {
                    findings.append("Link \(link): member \(member) is in the list of \(owner), but does not name this owner.")
                }
                if case .tree(_, let left, let right, let up, let size) = list.shape {
                    // If each member has the right size and is the parent of its children, each index that the sizes determine is right.
                    var below = 0
                    for child in [members.link(member, left), members.link(member, right)] where child != noRow {
                        below += members.isLive(child) ? Int(members.link(child, size)) : 0
                        if !members.isLive(child) || members.link(child, up) != member {
                            findings.append("Link \(link): member \(member) has a child with another parent.")
                        }
                    }
                    if Int(members.link(member, size)) != below + 1 {
                        findings.append("Link \(link): member \(member) states a wrong number of members below it.")
                    }
                }
            }
            if count != reader.memberCount(list, owner: owner) {
                findings.append("Link \(link): the member count of owner \(owner) is wrong.")
            }
            listed += count
        }
        var expected = 0
        reader.forEachRow(of: layout.tables[list.memberTable]) { member in
            let owner = members.link(member, list.ownerSlot)
            if owner == noRow { return }
            if !owners.isLive(owner) { findings.append("Link \(link): member \(member) names an owner that does not exist.") }
            // A symmetric edge from an object to itself is in the first list only.
            if isSymmetric, members.link(member, 0) == members.link(member, 1) { return }
            expected += 1
        }
        if expected != listed { findings.append("Link \(link): the lists have \(listed) members, but \(expected) members name an owner.") }
    }
}

extension Graph {
    /// Checks that each derived attribute has the value of its expression. Complexity: O(objects and members that the expressions read).
    func checkDerived(_ findings: inout [String]) {
        for column in layout.derived.columns {
            let table = layout.tables[column.table]
            let rows = reader.rows(column.table)
            reader.forEachRow(of: table) { row in
                guard column.coversTable || column.family.contains(rows.entity(row, table)), isComparable(column, row) else { return }
                let isRight = rows.withCell(row, column.slot, column.kind) { hasDerivedValue(column, row, $0) }
                if !isRight {
                    let name = table.root?.name ?? ""
                    findings.append("\(name)/\(rows.serial(row)): '\(column.attribute.name)' does not have the value of its expression.")
                }
            }
        }
    }

    private func hasDerivedValue(_ column: DerivedColumn, _ row: UInt32, _ stored: Cell) -> Bool {
        do {
            let derived = try reader.readAll(column, row)
            let isRight = try StoredCell(try reader.value(derived, column), column.attribute).withCell { $0.equals(stored) }
            guard let slot = column.exactSlot, isRight else { return isRight }
            let rows = reader.rows(column.table)
            // A migration can leave an exact sum out. The next change of the members then reads all of them.
            return rows.isNullString(row, slot) || reader.exactCell(derived, column, row).withCell { rows.equals(row, slot, .string, $0) }
        } catch {
            return false  // The attribute cannot hold the value. No commit accepts such an object.
        }
    }

    /// Returns whether the stored value must be the value that this program computes. A folded text may differ, because another version of
    /// Unicode or of this program may have folded some of its characters differently.
    private func isComparable(_ column: DerivedColumn, _ row: UInt32) -> Bool {
        guard column.function == .folded, let source = column.source else { return true }
        return reader.rows(source.table).withCell(row, source.slot, source.kind) { cell in
            cell.kind != .bytes || cell.bytes.allSatisfy { $0 < 0x80 }
        }
    }
}
