import CambiumModel

extension GraphLayout {
    /// Returns the table of the objects at an end of a link.
    @inline(__always) func startTable(_ end: EndLayout) -> Int {
        let link = schema.links[end.link]
        return tableIndex(ofKnown: end.end == 0 ? link.first.root : link.second.root)
    }
}

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
}

extension Rows {
    func isNullString(_ row: UInt32, _ slot: Int) -> Bool { StringLeaf(leaf(group(row), slot)).cell(row) == 0 }
}
