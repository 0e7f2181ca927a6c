package import CambiumModel

/// A relationship, resolved once by a caller that reads the members of many objects. A handle can be used for any graph, and is fastest for
/// graphs with the same schema.
package struct EndHandle: Sendable {
    /// The resolved end; `nil` if the graph for which the handle was resolved has no such relationship.
    private let resolved: EndLayout?
    /// The table of the objects that have the relationship; -1 if there is no such relationship.
    let ownerTable: Int
    let targetTable: Int
    let isOrdered: Bool
    /// The root entity of the hierarchy that has the relationship.
    let root: EntityNumber
    /// The number of the relationship, which is unique in its hierarchy.
    let property: PropertyNumber
    /// The name of the relationship. In another schema, a relationship with the same number but another name is a different relationship.
    let name: SchemaName
    /// The number of the layout to which the tables and the end belong.
    let layout: UInt64

    init(
        _ end: EndLayout?, ownerTable: Int, targetTable: Int, isOrdered: Bool, root: EntityNumber, property: PropertyNumber,
        name: SchemaName, layout: UInt64
    ) {
        resolved = end
        self.ownerTable = ownerTable
        self.targetTable = targetTable
        self.isOrdered = isOrdered
        self.root = root
        self.property = property
        self.name = name
        self.layout = layout
    }

    /// Whether the object at a place may have the relationship. If the object's entity lacks the relationship, the object has no members.
    @inline(__always) func isIn(_ place: ObjectPlace) -> Bool { ownerTable == Int(place.table) }

    var end: EndLayout {
        guard let resolved else { preconditionFailure("A caller must follow a relationship only from objects that may have it.") }
        return resolved
    }
}

extension Graph {
    /// Resolves a relationship for reading. If the graph does not have the relationship, because the relationship belongs to an earlier or
    /// later schema, no object has members.
    package func end(_ relationship: Relationship) -> EndHandle {
        layout.handle(relationship)
    }

    /// Returns the object that a to-one relationship leads to, or `nil` if there is no link. Complexity: O(1).
    @inline(__always)
    package func target(_ handle: EndHandle, of place: ObjectPlace) -> ObjectPlace? {
        // If the handle belongs to this layout, it is used directly. The result of `current` would be a copy, which retains each part of
        // the handle.
        if handle.layout != layout.number { return reader.target(layout.current(handle), of: place) }
        return reader.target(handle, of: place)
    }

    /// Returns the objects that a relationship leads to. If the relationship is ordered, the objects are in its order. Otherwise, they are
    /// in no particular order.
    package func members(_ handle: EndHandle, of place: ObjectPlace) -> MemberSequence {
        MemberSequence(reader: reader, handle: layout.current(handle), owner: place, version: version)
    }

    /// Returns the number of objects that a relationship leads to. Complexity: O(1).
    package func memberCount(_ handle: EndHandle, of place: ObjectPlace) -> Int {
        let handle = layout.current(handle)
        return handle.isIn(place) ? reader.memberCount(handle.end, owner: place.row) : 0
    }

    /// Returns the member at an index of an ordered relationship, or `nil` if there is no such member. Complexity: O(log n) expected.
    package func member(_ handle: EndHandle, of place: ObjectPlace, at index: Int) -> ObjectPlace? {
        let handle = layout.current(handle)
        if !handle.isIn(place) { return nil }
        switch handle.end.layout {
        case .list(let list, let childEnd) where handle.end.end != childEnd:
            return reader.member(list, owner: place.row, at: index).map { ObjectPlace(table: handle.targetTable, row: $0) }
        case .edges(let table, let lists, _):
            let side = handle.end.end
            return reader.member(lists[side], owner: place.row, at: index).map {
                ObjectPlace(table: handle.targetTable, row: reader.rows(table).link($0, lists[1 - side].ownerSlot))
            }
        default:
            return nil
        }
    }

    /// Returns the ids of the objects that a relationship leads to. The ids are in the order of the relationship if it is ordered, and
    /// otherwise in ascending order. Returns `nil` if the object is not in this graph. Returns no ids if the object's entity does not have
    /// the relationship. Complexity: O(members), and O(members x log members) for an unordered relationship.
    package func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]? {
        place(of: id).map { memberIDs(end(relationship), of: $0) }
    }

    package func memberIDs(_ handle: EndHandle, of place: ObjectPlace) -> [ObjectID] {
        reader.memberIDs(layout.current(handle), of: place, layout)
    }

    /// Returns whether two objects are linked. Complexity: O(1) expected.
    package func isLinked(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        let handle = end(relationship)
        guard let owner = place(of: id), let row = place(of: target), handle.isIn(owner), handle.targetTable == Int(row.table)
        else { return false }
        return reader.isLinked(handle.end, owner: owner.row, target: row.row)
    }
}

extension GraphLayout {
    func handle(_ relationship: Relationship) -> EndHandle {
        handle(relationship.root, relationship.number, relationship.schemaName, own(relationship))
    }

    private func handle(_ root: EntityNumber, _ property: PropertyNumber, _ name: SchemaName, _ own: Relationship?) -> EndHandle {
        EndHandle(
            own.map { end($0) }, ownerTable: own.map { tableIndex(ofKnown: $0.root) } ?? -1,
            targetTable: own.map { tableIndex(ofKnown: $0.destinationRoot) } ?? -1, isOrdered: own?.isOrdered ?? false, root: root,
            property: property, name: name, layout: number)
    }

    /// Returns the entity of this schema that corresponds to an entity of an earlier or later schema, or `nil` if there is no such entity.
    func own(_ entity: Entity) -> Entity? {
        guard let found = schema.successor(of: entity) else { return nil }
        return found === entity || found.schemaName.isSame(as: entity.schemaName) ? found : nil
    }

    /// Returns the relationship of this schema that corresponds to a relationship of an earlier or later schema, or `nil` if there is no
    /// such relationship.
    func own(_ relationship: Relationship) -> Relationship? {
        let found = schema.entity(relationship.entity)?.relationship(relationship.number)
        if let found, found === relationship { return found }
        if let found, found.root == relationship.root { return found.schemaName.isSame(as: relationship.schemaName) ? found : nil }
        return own(relationship.number, relationship.schemaName, ofRoot: relationship.root)
    }

    private func own(_ property: PropertyNumber, _ name: SchemaName, ofRoot root: EntityNumber) -> Relationship? {
        guard let found = schema.relationship(property, ofRoot: root), found.schemaName.isSame(as: name) else { return nil }
        return found
    }

    /// Returns the handle for this layout: the same handle if it was resolved for this layout, otherwise a new one.
    @inline(__always) func current(_ handle: EndHandle) -> EndHandle {
        handle.layout == number
            ? handle
            : self.handle(handle.root, handle.property, handle.name, own(handle.property, handle.name, ofRoot: handle.root))
    }
}

extension Reader {
    @inline(__always)
    func target(_ handle: EndHandle, of place: ObjectPlace) -> ObjectPlace? {
        if !handle.isIn(place) { return nil }
        var found: ObjectPlace?
        forEachMember(handle.end, owner: place.row) { found = ObjectPlace(table: handle.targetTable, row: $0) }
        return found
    }

    func memberIDs(_ handle: EndHandle, of place: ObjectPlace, _ layout: GraphLayout) -> [ObjectID] {
        if !handle.isIn(place) { return [] }
        var ids: [ObjectID] = []
        var isAscending = true
        forEachMember(handle.end, owner: place.row) { row in
            let id = id(ObjectPlace(table: handle.targetTable, row: row), layout)
            if let last = ids.last, last > id { isAscending = false }
            ids.append(id)
        }
        if !handle.isOrdered, !isAscending { ids.sort() }
        return ids
    }

    func isLinked(_ end: EndLayout, owner: UInt32, target: UInt32) -> Bool {
        switch end.layout {
        case .pair(let tables, let slots):
            return rows(tables[end.end]).link(owner, slots[end.end]) == target
        case .list(let list, let childEnd):
            let (child, parent) = end.end == childEnd ? (owner, target) : (target, owner)
            return rows(list.memberTable).link(child, list.ownerSlot) == parent
        case .edges(let table, _, let isSymmetric):
            let (first, second) = EndLayout.pair(end.end, isSymmetric, owner, target)
            return edge(table, first, second) != noRow
        }
    }
}

/// The objects to which a relationship leads.
package struct MemberSequence: Sequence {
    let reader: Reader
    let handle: EndHandle
    let owner: ObjectPlace
    let version: Version

    package struct Iterator: IteratorProtocol {
        private var single: UInt32 = noRow
        private var lists: ListRows?
        private var more: ListRows?
        private var edges: (rows: Rows, slot: Int, otherSlot: Int)?
        private let targetTable: Int
        private let version: Version

        init(_ sequence: MemberSequence) {
            targetTable = sequence.handle.targetTable
            version = sequence.version
            if !sequence.handle.isIn(sequence.owner) { return }
            let owner = sequence.owner.row
            let reader = sequence.reader
            let end = sequence.handle.end
            switch end.layout {
            case .pair(let tables, let slots):
                single = reader.rows(tables[end.end]).link(owner, slots[end.end])
            case .list(let list, let childEnd):
                if end.end == childEnd {
                    single = reader.rows(list.memberTable).link(owner, list.ownerSlot)
                } else {
                    lists = ListRows(reader, list, owner: owner)
                }
            case .edges(let table, let both, let isSymmetric):
                lists = ListRows(reader, both[end.end], owner: owner)
                if isSymmetric { more = ListRows(reader, both[1 - end.end], owner: owner) }
                edges = (reader.rows(table), both[1 - end.end].ownerSlot, both[end.end].ownerSlot)
            }
        }

        @inline(__always)
        package mutating func next() -> ObjectPlace? {
            if let row = lists?.next() {
                return ObjectPlace(table: targetTable, row: edges.map { $0.rows.link(row, $0.slot) } ?? row)
            }
            return nextOfFew()
        }

        private mutating func nextOfFew() -> ObjectPlace? {
            if let edge = more?.next(), let edges {
                return ObjectPlace(table: targetTable, row: edges.rows.link(edge, edges.otherSlot))
            }
            guard single != noRow else { return nil }
            defer { single = noRow }
            return ObjectPlace(table: targetTable, row: single)
        }
    }

    package func makeIterator() -> Iterator { Iterator(self) }
}
