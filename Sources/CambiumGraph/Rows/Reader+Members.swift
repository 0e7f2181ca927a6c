import CambiumModel

extension Reader {
    /// Returns the id of the object at a place.
    func id(_ place: ObjectPlace, _ layout: GraphLayout) -> ObjectID {
        ObjectID(root: layout.root(ofTable: Int(place.table)), serial: rows(Int(place.table)).serial(place.row))
    }

    /// Calls `body` with the row of each object at the other end of the link. The objects come in order if the end is ordered, otherwise in
    /// the order of the linked list that contains them.
    @inline(__always)
    func forEachMember(_ end: EndLayout, owner: UInt32, _ body: (UInt32) -> Void) {
        switch end.layout {
        case .pair(let tables, let slots):
            let target = rows(tables[end.end]).link(owner, slots[end.end])
            if target != noRow { body(target) }
        case .list(let list, let childEnd):
            if end.end == childEnd {
                let parent = rows(list.memberTable).link(owner, list.ownerSlot)
                if parent != noRow { body(parent) }
            } else {
                for row in ListRows(self, list, owner: owner) { body(row) }
            }
        case .edges(let table, let lists, let isSymmetric):
            let edges = rows(table)
            for edge in ListRows(self, lists[end.end], owner: owner) {
                body(edges.link(edge, lists[1 - end.end].ownerSlot))
            }
            guard isSymmetric else { return }
            for edge in ListRows(self, lists[1 - end.end], owner: owner) {
                body(edges.link(edge, lists[end.end].ownerSlot))
            }
        }
    }

    /// Calls `body` with each object at the other end of the link until `body` returns `false`. Returns whether `body` always returned
    /// `true`.
    @inline(__always)
    func visitMembers(_ end: EndLayout, owner: UInt32, _ body: (UInt32) -> Bool) -> Bool {
        switch end.layout {
        case .pair(let tables, let slots):
            let target = rows(tables[end.end]).link(owner, slots[end.end])
            return target == noRow || body(target)
        case .list(let list, let childEnd):
            if end.end == childEnd {
                let parent = rows(list.memberTable).link(owner, list.ownerSlot)
                return parent == noRow || body(parent)
            }
            for row in ListRows(self, list, owner: owner) where !body(row) { return false }
            return true
        case .edges(let table, let lists, let isSymmetric):
            let edges = rows(table)
            for edge in ListRows(self, lists[end.end], owner: owner) where !body(edges.link(edge, lists[1 - end.end].ownerSlot)) {
                return false
            }
            if !isSymmetric { return true }
            for edge in ListRows(self, lists[1 - end.end], owner: owner) where !body(edges.link(edge, lists[end.end].ownerSlot)) {
                return false
            }
            return true
        }
    }

    func place(of id: ObjectID, _ layout: GraphLayout) -> ObjectPlace? {
        guard let table = layout.table(of: id.root), let row = row(table.index, serial: id.serial) else { return nil }
        return ObjectPlace(table: table.index, row: row)
    }

    /// Returns the number of members that `owner` has in a relationship; `end` is the owner's end of the link. Complexity: O(1).
    func memberCount(_ end: EndLayout, owner: UInt32) -> Int {
        switch end.layout {
        case .pair(let tables, let slots):
            return rows(tables[end.end]).link(owner, slots[end.end]) == noRow ? 0 : 1
        case .list(let list, let childEnd):
            if end.end != childEnd { return memberCount(list, owner: owner) }
            return rows(list.memberTable).link(owner, list.ownerSlot) == noRow ? 0 : 1
        case .edges(_, let lists, let isSymmetric):
            let count = memberCount(lists[end.end], owner: owner)
            return isSymmetric ? count + memberCount(lists[1 - end.end], owner: owner) : count
        }
    }

    func forEachRow(of table: TableLayout, groups: Range<Int>? = nil, _ body: (UInt32) -> Void) {
        let rows = rows(table.index)
        for index in groups ?? 0..<groupCount(table.index) {
            guard let group = rows.group(at: index) else { continue }
            for half in 0..<PageLayout.fanOut / 64 {
                var bits = group.live.word(half)
                while bits != 0 {
                    body(UInt32(index << PageLayout.fanOutShift + half << 6 + bits.trailingZeroBitCount))
                    bits &= bits - 1
                }
            }
        }
    }

    /// Returns the next serial of a table, or 1 if the graph does not have the table yet.
    func nextSerialOrOne(_ table: Int, of layout: GraphLayout) -> UInt64 {
        table < layout.tables.count ? nextSerial(table) : 1
    }
}

extension Rows {
    func isNullString(_ row: UInt32, _ slot: Int) -> Bool { StringLeaf(leaf(group(row), slot)).cell(row) == 0 }
}
