import CambiumModel

extension ChangeFinder {
    /// Compares each group of rows whose page differs between the graphs. Compares row by row if the group belongs to the same virtual page
    /// (a range of consecutive serials) in both graphs, otherwise serial by serial.
    mutating func compareObjects(_ table: Int) {
        var scattered = Set<UInt32>()
        forEachGroup(table) { finder, before, after in
            if finder.areSameRows(table, before, after) {
                finder.compareRows(table, before, after)
            } else {
                scattered.formUnion(before.virtualPages)
                scattered.formUnion(after.virtualPages)
            }
        }
        for page in scattered.sorted() { compareSerials(table, page) }
    }

    /// Returns whether both groups contain the objects of the same virtual page (a range of consecutive serials). A graph that does not
    /// have the group must also have no other group for the virtual page.
    private func areSameRows(_ table: Int, _ before: RowGroup, _ after: RowGroup) -> Bool {
        switch (before.virtualPage, after.virtualPage) {
        case (let page?, let other?): page == other
        case (nil, let page?): !before.exists && group(old, table, page) == 0
        case (let page?, nil): !after.exists && group(new, table, page) == 0
        case (nil, nil): false
        }
    }

    /// Returns the number of the group of a virtual page (a range of consecutive serials), counted from 1. Returns 0 if the virtual page
    /// has no group.
    private func group(_ reader: Reader, _ table: Int, _ virtualPage: UInt32) -> UInt32 {
        reader.tablePage(table).virtualPages.get(Int(virtualPage), reader.chunks)
    }

    private mutating func compareRows(_ table: Int, _ before: RowGroup, _ after: RowGroup) {
        let root = meanings.roots[table]
        for word in 0..<RowGroup.wordCount {
            let (oldLive, newLive) = (before.live(word), after.live(word))
            after.forEachRow(newLive & ~oldLive, word) { trackInserted(table, $0) }
            before.forEachRow(oldLive & ~newLive, word) { trackDeleted(table, $0) }
            let common = oldLive & newLive
            after.forEachRow(common & (before.stubs(word) ^ after.stubs(word)), word) {
                track(ChangeEvent(.stub, root, serial(new, table, $0)))
            }
        }
        guard before.exists, after.exists else { return }
        for column in meanings.columns[table] {
            guard let pair = leaves(before, after, column.slot) else { continue }
            let comparesAll = meansOtherRows(column)
            for word in 0..<RowGroup.wordCount {
                let common = before.live(word) & after.live(word)
                let differing = comparesAll ? common : pair.differingRows(column.kind, common, word)
                after.forEachRow(differing, word) { compareCell(table, column, before: $0, after: $0) }
            }
        }
    }

    /// Returns whether a row number in this column may refer to different objects in the two graphs.
    private mutating func meansOtherRows(_ column: ColumnMeanings.Column) -> Bool {
        switch column.meaning {
        case .partner(let end), .owner(let end): !keepsRows(meanings.ends[end].targetTable)
        case .attribute, .order: false
        }
    }

    /// Compares the objects of a virtual page, a range of consecutive serials. Finds each object by its serial, because its row may differ
    /// between the graphs.
    private mutating func compareSerials(_ table: Int, _ virtualPage: UInt32) {
        let first = UInt64(virtualPage) << UInt64(PageLayout.fanOutShift)
        for serial in first..<first + UInt64(PageLayout.fanOut) {
            switch (old.row(table, serial: serial), new.row(table, serial: serial)) {
            case (nil, nil): continue
            case (nil, let row?): trackInserted(table, row)
            case (let row?, nil): trackDeleted(table, row)
            case (let before?, let after?):
                if old.rows(table).isStub(before) != new.rows(table).isStub(after) {
                    track(ChangeEvent(.stub, meanings.roots[table], serial))
                }
                for column in meanings.columns[table] { compareCell(table, column, before: before, after: after) }
            }
        }
    }

    /// Compares the contents of a column for one object. The rows of the object in the two graphs are `before` and `after`.
    private mutating func compareCell(_ table: Int, _ column: ColumnMeanings.Column, before: UInt32, after: UInt32) {
        let (oldRows, newRows) = (old.rows(table), new.rows(table))
        switch column.meaning {
        case .attribute(let number, _):
            if isEqual(column, (oldRows, before), (newRows, after)) { return }
            track(ChangeEvent(.attribute, meanings.roots[table], newRows.serial(after), number))
        case .partner(let end), .owner(let end):
            let target = meanings.ends[end].targetTable
            let was = serial(old, target, oldRows.link(before, column.slot))
            let now = serial(new, target, newRows.link(after, column.slot))
            if was == now { return }
            let id = newRows.serial(after)
            trackTarget(end, of: id, before: was, after: now)
            if case .owner = column.meaning { trackOwner(end, of: id, before: was, after: now) }
        case .order(let end, let ownerSlot):
            let owner = ownerSlot.map { newRows.link(after, $0) } ?? after
            if owner != noRow { trackReordered(end, owner: serial(new, meanings.ends[end].table, owner)) }
        }
    }

    private mutating func trackInserted(_ table: Int, _ row: UInt32) {
        let id = serial(new, table, row)
        track(ChangeEvent(.inserted, meanings.roots[table], id))
        for column in meanings.columns[table] {
            guard case .owner(let end) = column.meaning else { continue }
            let owner = serial(new, meanings.ends[end].targetTable, new.rows(table).link(row, column.slot))
            trackOwner(end, of: id, before: 0, after: owner)
        }
    }

    private mutating func trackDeleted(_ table: Int, _ row: UInt32) {
        let id = serial(old, table, row)
        track(ChangeEvent(.deleted, meanings.roots[table], id))
        for column in meanings.columns[table] {
            guard case .owner(let end) = column.meaning else { continue }
            let owner = serial(old, meanings.ends[end].targetTable, old.rows(table).link(row, column.slot))
            trackOwner(end, of: id, before: owner, after: 0)
        }
    }
}
