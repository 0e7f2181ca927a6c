public import CambiumModel

/// A relationship of one graph, for loops over many objects: where its columns begin is looked up once.
public struct Relation {
    private enum Shape {
        /// To one: a column of the owner has the row at the other end.
        case one
        /// To many, without an order: a column of the owner has the first member, one of the members the next.
        case chain
        case other
    }

    private let shape: Shape
    private let owners: Rows
    private let ownerSlot: Int
    private let members: Rows
    private let nextSlot: Int
    private let end: EndLayout
    private let targetTable: Int
    /// Keeps the pages.
    private let version: Version

    init(_ handle: EndHandle, _ version: Version) {
        let reader = version.reader
        let place: (shape: Shape, ownerTable: Int, ownerSlot: Int, nextSlot: Int) =
            switch handle.end.layout {
            case .pair(let tables, let slots): (.one, tables[handle.end.end], slots[handle.end.end], 0)
            case .list(let list, let childEnd):
                if handle.end.end == childEnd {
                    (.one, list.memberTable, list.ownerSlot, 0)
                } else if case .chain(let first, _, _, _, let next) = list.shape {
                    (.chain, list.ownerTable, first, next)
                } else {
                    (.other, list.ownerTable, 0, 0)
                }
            case .edges: (.other, handle.targetTable, 0, 0)
            }
        shape = place.shape
        owners = reader.rows(place.ownerTable)
        ownerSlot = place.ownerSlot
        members = reader.rows(handle.targetTable)
        nextSlot = place.nextSlot
        end = handle.end
        targetTable = handle.targetTable
        self.version = version
    }

    /// Calls `body` with each object at the other end: in order where the relationship is ordered.
    public func forEach(of place: ObjectPlace, _ body: (ObjectPlace) -> Void) {
        switch shape {
        case .one:
            let row = owners.link(place.row, ownerSlot)
            if row != noRow { body(ObjectPlace(table: targetTable, row: row)) }
        case .chain:
            var chain = ChainRows(members, from: owners.link(place.row, ownerSlot), next: nextSlot)
            while let row = chain.next() { body(ObjectPlace(table: targetTable, row: row)) }
        case .other:
            version.reader.forEachMember(end, owner: place.row) { body(ObjectPlace(table: targetTable, row: $0)) }
        }
    }

    /// The object that a to-one relationship leads to.
    public func target(of place: ObjectPlace) -> ObjectPlace? {
        guard shape == .one else { return nil }
        let row = owners.link(place.row, ownerSlot)
        return row == noRow ? nil : ObjectPlace(table: targetTable, row: row)
    }

    /// Complexity: O(1).
    public func count(of place: ObjectPlace) -> Int { version.reader.memberCount(end, owner: place.row) }
}

extension Graph {
    public func relation(_ relationship: Relationship) -> Relation { Relation(end(relationship), version) }
}
