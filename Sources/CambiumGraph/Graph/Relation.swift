public import CambiumModel

/// A relationship of one graph. Its columns are already looked up, so a loop over many objects need not look them up for each object.
///
/// ```swift
/// let note = try graph.schema.required("Note")
/// let items = graph.relation(try note.requiredRelationship("items"))
/// for place in graph.places(of: note) { print(items.count(of: place)) }
/// ```
public struct Relation {
    private enum Shape {
        /// To one: a column of the owner contains the row of the related object.
        case one
        /// To many, unordered: a column of the owner contains the first member, and a column of the members contains the next member.
        case chain
        /// Many to many, unordered: a column of the owner contains the first edge, and columns of the edges contain the next edge and the
        /// target.
        case edges
        case other
    }

    @usableFromInline let owners: LeafDirectory
    @usableFromInline let members: LeafDirectory
    /// The column in which each edge contains the row of its target. If the relationship is not stored in a table of edges, `targets`
    /// equals `owners` and is not read.
    @usableFromInline let targets: LeafDirectory
    private let end: EndLayout?
    /// The table of the objects that have the relationship. No other object has members.
    private let ownerTable: UInt32
    /// `oneTable` is `ownerTable` if the relationship has the shape `one`, and otherwise `ObjectPlace.noTable`. By the same rule,
    /// `chainTable` and `edgesTable` belong to the shapes `chain` and `edges`. So a single comparison checks both the table and the shape.
    @usableFromInline let oneTable, chainTable, edgesTable: UInt32
    @usableFromInline let targetTable: Int
    /// Keeps alive the pages to which the addresses in the directories point.
    private let version: Version

    init(_ handle: EndHandle, _ version: Version) {
        let directory = { (table: Int, slot: Int) in
            LeafDirectory(version.reader, table, slot, .rows, version.space.constants)
        }
        self.version = version
        ownerTable = UInt32(truncatingIfNeeded: handle.ownerTable)
        targetTable = handle.targetTable
        if handle.ownerTable < 0 {
            (oneTable, chainTable, edgesTable) = (ObjectPlace.noTable, ObjectPlace.noTable, ObjectPlace.noTable)
            end = nil
            owners = LeafDirectory(emptyOf: version.reader)
            (members, targets) = (owners, owners)
            return
        }
        let shape: Shape
        switch handle.end.layout {
        case .pair(let tables, let slots):
            shape = .one
            owners = directory(tables[handle.end.end], slots[handle.end.end])
            (members, targets) = (owners, owners)
        case .list(let list, let childEnd) where handle.end.end == childEnd:
            shape = .one
            owners = directory(list.memberTable, list.ownerSlot)
            (members, targets) = (owners, owners)
        case .list(let list, _):
            if case .chain(let first, _, _, _, let next) = list.shape {
                shape = .chain
                owners = directory(list.ownerTable, first)
                members = directory(list.memberTable, next)
                targets = owners
            } else {
                shape = .other
                owners = directory(list.memberTable, list.ownerSlot)
                (members, targets) = (owners, owners)
            }
        case .edges(let table, let lists, let isSymmetric):
            let list = lists[handle.end.end]
            targets = directory(table, lists[1 - handle.end.end].ownerSlot)
            if case .chain(let first, _, _, _, let next) = list.shape, !isSymmetric {
                shape = .edges
                owners = directory(list.ownerTable, first)
                members = directory(table, next)
            } else {
                shape = .other
                (owners, members) = (targets, targets)
            }
        }
        end = handle.end
        oneTable = shape == .one ? ownerTable : ObjectPlace.noTable
        chainTable = shape == .chain ? ownerTable : ObjectPlace.noTable
        edgesTable = shape == .edges ? ownerTable : ObjectPlace.noTable
    }

    /// Calls `body` with each object to which the relationship leads. If the relationship is ordered, the objects come in its order.
    /// Otherwise, they come in no particular order. Complexity: O(members).
    @inlinable public func forEach(of place: ObjectPlace, _ body: (ObjectPlace) -> Void) {
        if chainTable == place.table {
            let targetTable = targetTable
            var row = owners.link(place.row)
            var restCount = members.rowCountEnd
            while row != noRow {
                restCount &-= 1
                if restCount < 0 { refuseCycle() }
                body(ObjectPlace(table: targetTable, row: row))
                row = members.link(row)
            }
        } else if oneTable == place.table {
            let row = owners.link(place.row)
            if row != noRow { body(ObjectPlace(table: targetTable, row: row)) }
        } else if edgesTable == place.table {
            let targetTable = targetTable
            var edge = owners.link(place.row)
            var restCount = members.rowCountEnd
            while edge != noRow {
                restCount &-= 1
                if restCount < 0 { refuseCycle() }
                body(ObjectPlace(table: targetTable, row: targets.link(edge)))
                edge = members.link(edge)
            }
        } else {
            forEachOther(of: place, body)
        }
    }

    @usableFromInline @inline(never) func refuseCycle() -> Never { version.space.refuse("a list has a cycle") }

    /// Calls `body` with each related object, for the shapes of relationships that `forEach` does not handle itself. This function is
    /// separate, so that it takes no registers from the loops in `forEach`.
    @usableFromInline @inline(never)
    func forEachOther(of place: ObjectPlace, _ body: (ObjectPlace) -> Void) {
        guard let end, ownerTable == place.table else { return }
        version.reader.forEachMember(end, owner: place.row) { body(ObjectPlace(table: targetTable, row: $0)) }
    }

    /// Returns the object that a to-one relationship leads to. Returns `nil` if there is no link, and for a to-many relationship.
    /// Complexity: O(1).
    @inlinable public func target(of place: ObjectPlace) -> ObjectPlace? {
        guard oneTable == place.table else { return nil }
        let row = owners.link(place.row)
        return row == noRow ? nil : ObjectPlace(table: targetTable, row: row)
    }

    /// Returns the number of objects to which the relationship leads. Complexity: O(1).
    public func count(of place: ObjectPlace) -> Int {
        guard let end, ownerTable == place.table else { return 0 }
        return version.reader.memberCount(end, owner: place.row)
    }
}

extension Graph {
    /// Looks up the columns of a relationship, so that a loop over many objects need not look them up for each object. Complexity:
    /// O(objects of both hierarchies / 128).
    public func relation(_ relationship: Relationship) -> Relation { Relation(end(relationship), version) }
}
