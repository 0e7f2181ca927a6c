import CambiumBytes
public import CambiumModel

/// The state of a store at one moment: a value that never changes and costs nothing to copy.
///
/// Reading never waits for a writer or for a disk. As long as a program keeps a graph, the store keeps all pages of the graph, even if
/// later versions replaced them.
///
/// ```swift
/// let graph = store.graph
/// for id in try graph.objects(of: "Note") { print(try graph[id, "title"]) }
/// ```
///
/// The subscripts read by id. A loop over many objects uses a `Column` for each attribute and a `Relation` for each relationship.
public struct Graph: Sendable {
    let version: Version

    init(version: Version) { self.version = version }

    var reader: Reader { version.reader }
    /// Whether a check has proved that the pages form a valid graph. If not, each value must be checked when it is read.
    package var isProven: Bool { version.space.isProven }
    /// Ends the process because the content of a stored page is impossible.
    package func refuse(_ reason: String) -> Never { version.space.refuse(reason) }
    package var layout: GraphLayout { version.layout }

    /// The schema of the store at this moment.
    public var schema: Schema { version.layout.schema }

    /// The number of the last transaction that this graph contains.
    public var transaction: TransactionNumber { TransactionNumber(rawValue: reader.transaction) }

    /// The last transaction that changed the schema. A migration may change objects without recording itself in their provenance.
    package var schemaTransaction: TransactionNumber { TransactionNumber(rawValue: reader.schemaTransaction) }

    /// The number of objects. Complexity: O(root entities).
    public var objectCount: Int {
        layout.tables.filter { $0.root != nil }.reduce(0) { $0 + reader.liveCount($1.index) }
    }

    /// Returns the number of objects of an entity and its sub-entities. Complexity: O(sub-entities).
    package func count(of entity: Entity) -> Int {
        guard let entity = layout.own(entity), let table = layout.table(of: entity.root) else { return 0 }
        return entity.family.reduce(0) { $0 + reader.count(of: $1, in: table) }
    }

    /// The number of links. A relationship and its inverse count once. Complexity: O(objects that have to-one ends).
    package var linkCount: Int {
        layout.links.indices.reduce(0) { $0 + linkCount(layout.links[$1]) }
    }

    private func linkCount(_ link: LinkLayout) -> Int {
        let (table, slot): (Int, Int)
        switch link {
        case .edges(let table, _, _): return reader.liveCount(table)
        case .list(let list, _): (table, slot) = (list.memberTable, list.ownerSlot)
        case .pair(let tables, let slots): (table, slot) = (tables[0], slots[0])
        }
        let rows = reader.rows(table)
        var count = 0
        reader.forEachRow(of: layout.tables[table]) { if rows.link($0, slot) != noRow { count += 1 } }
        return count
    }

    // MARK: Objects

    /// Returns the place (the table and the row) of an object in this graph, or `nil` if the graph does not have the object. Complexity:
    /// O(log serials), which is a few loads.
    public func place(of id: ObjectID) -> ObjectPlace? { reader.place(of: id, layout) }

    /// Returns the id of the object at a place of this graph. Complexity: O(1). Ends the process if the place belongs to another graph and
    /// this graph has no such row.
    public func id(of place: ObjectPlace) -> ObjectID { reader.id(checked(place), layout) }

    /// Returns whether this graph has an object with this id. Complexity: O(log serials).
    public func contains(_ id: ObjectID) -> Bool { place(of: id) != nil }

    /// Returns the concrete entity of an object. Complexity: O(1). Ends the process if the place belongs to another graph and this graph
    /// has no such row.
    public func entity(of place: ObjectPlace) -> Entity {
        guard let entity = schema.entity(entityNumber(of: checked(place))) else {
            reader.chunks.refuse("row \(place.row) of table \(place.table) has no valid entity")
        }
        return entity
    }

    package func entityNumber(of place: ObjectPlace) -> EntityNumber {
        let table = layout.tables[Int(place.table)]
        return reader.rows(table.index).entity(place.row, table)
    }

    /// Whether all objects in the table of this object have the same concrete entity.
    package func hasOneEntity(_ place: ObjectPlace) -> Bool {
        layout.tables[Int(place.table)].entities.count { schema.entity($0)?.isAbstract == false } == 1
    }

    /// Returns the concrete entity of an object, or `nil` if the object is not in this graph. Complexity: O(log serials).
    public func entity(of id: ObjectID) -> Entity? { place(of: id).map(entity(of:)) }

    /// Whether an object is a stub: only its identity is known.
    package func isStub(_ place: ObjectPlace) -> Bool { reader.rows(Int(place.table)).isStub(place.row) }

    /// Returns the object of which a clone made this object, or `nil` if the object is not a copy. The source may have been deleted.
    package func source(of place: ObjectPlace) -> ObjectID? {
        reader.rows(Int(place.table)).source(place.row).map { ObjectID(root: layout.root(ofTable: Int(place.table)), serial: $0) }
    }

    /// Returns the transaction that created an object, and the last transaction that changed it. A transaction changes an object if it
    /// changes an attribute or a link of the object. Complexity: O(1). Ends the process as `entity(of:)` does.
    public func provenance(of place: ObjectPlace) -> (created: TransactionNumber, changed: TransactionNumber) {
        let rows = reader.rows(Int(checked(place).table))
        return (
            TransactionNumber(rawValue: rows.provenance(place.row, TableLayout.createdSlot)),
            TransactionNumber(rawValue: rows.provenance(place.row, TableLayout.changedSlot))
        )
    }

    /// Returns the ids of the objects of an entity and its sub-entities, in ascending order. Complexity: O(1); a loop over all ids takes
    /// O(serials of the hierarchy).
    package func objects(of entity: Entity) -> ObjectSequence { ObjectSequence(graph: self, entity: entity) }

    /// Returns the places of the objects of an entity and its sub-entities, by ascending id. A loop reads attributes and relationships at a
    /// place through a `Column` and a `Relation`. Complexity: O(1); a loop over all places takes O(serials of the hierarchy).
    public func places(of entity: Entity) -> PlaceSequence { PlaceSequence(objects: objects(of: entity)) }

    /// Calls `body` with the places of the objects of an entity and its sub-entities, by ascending id.
    package func forEachPlace(of entity: Entity, _ body: (ObjectPlace) throws -> Void) rethrows {
        var objects = objects(of: entity).makeIterator()
        while let found = objects.nextRow() { try body(found.place) }
    }
}

/// The ids of the objects of an entity and its sub-entities, in ascending order.
///
/// ```swift
/// for id in try graph.objects(of: "Note") { print(graph.name(of: id) ?? "") }
/// ```
public struct ObjectSequence: Sequence, Sendable {
    let graph: Graph
    let entity: Entity

    /// Returns the ids one by one. Keeps the pages of the graph alive.
    public struct Iterator: IteratorProtocol {
        private let reader: Reader
        /// Keeps the pages of the graph alive.
        private let graph: Graph
        private let entity: Entity
        private let table: TableLayout?
        private let isWholeTable: Bool
        private var serial: UInt64 = 1
        private let end: UInt64

        init(graph: Graph, entity: Entity) {
            let own = graph.layout.own(entity)
            let entity = own ?? entity
            self.graph = graph
            reader = graph.reader
            self.entity = entity
            table = own.flatMap { graph.layout.table(of: $0.root) }
            isWholeTable = table.map { $0.entities.allSatisfy(entity.family.contains) } ?? true
            end = table.map { graph.reader.nextSerial($0.index) } ?? 0
        }

        /// Returns the next id, or `nil` at the end.
        public mutating func next() -> ObjectID? { nextRow().map { ObjectID(root: entity.root, serial: $0.serial) } }

        mutating func nextRow() -> (serial: UInt64, place: ObjectPlace)? {
            guard let table else { return nil }
            while serial < end {
                let candidate = serial
                guard let row = reader.row(table.index, serial: candidate) else {
                    skip(table)
                    continue
                }
                serial += 1
                if isWholeTable || entity.family.contains(reader.rows(table.index).entity(row, table)) {
                    return (candidate, ObjectPlace(table: table.index, row: row))
                }
            }
            return nil
        }

        /// Skips a serial without an object. A virtual page is a range of consecutive serials. If the virtual page of the serial has no
        /// group, continues at the next virtual page that has a group.
        private mutating func skip(_ table: TableLayout) {
            let map = reader.tablePage(table.index).virtualPages
            let page = Int(serial >> PageLayout.fanOutShift)
            let next = map.firstIndex(from: page, reader.chunks)
            serial = next.map { $0 == page ? serial + 1 : UInt64($0) << PageLayout.fanOutShift } ?? end
        }
    }

    /// Returns an iterator that begins with the least id. Complexity: O(1).
    public func makeIterator() -> Iterator { Iterator(graph: graph, entity: entity) }

    /// The least id, or `nil` if there are no objects.
    public var first: ObjectID? {
        var iterator = makeIterator()
        return iterator.next()
    }
}

/// The places of the objects of an entity and its sub-entities, by ascending id.
///
/// ```swift
/// let note = try graph.schema.required("Note")
/// let titles = graph.column(try note.requiredAttribute("title"))
/// for place in graph.places(of: note) { print(titles.string(at: place) ?? "") }
/// ```
public struct PlaceSequence: Sequence, Sendable {
    let objects: ObjectSequence

    /// Returns the places one by one. Keeps the pages of the graph alive.
    public struct Iterator: IteratorProtocol {
        var objects: ObjectSequence.Iterator

        /// Returns the next place, or `nil` at the end.
        public mutating func next() -> ObjectPlace? { objects.nextRow()?.place }
    }

    /// Returns an iterator that begins with the place of the least id. Complexity: O(1).
    public func makeIterator() -> Iterator { Iterator(objects: objects.makeIterator()) }
}

extension Graph {
    /// Returns the ids of the objects from which a relationship without an inverse in the schema leads to an object. The ids are in no
    /// particular order. Returns no ids if the object is not in this graph. Complexity: O(links of the object).
    package func ownersWithoutInverse(of id: ObjectID) -> [ObjectID] {
        guard let place = place(of: id) else { return [] }
        let reader = reader
        var owners: [ObjectID] = []
        for end in layout.endsByTable[Int(place.table)] {
            let link = schema.links[end.link]
            if (end.end == 0 ? link.first : link.second).property != nil { continue }
            let table = layout.startTable(layout.end(end.link, 1 - end.end))
            reader.forEachMember(end, owner: place.row) { owners.append(reader.id(ObjectPlace(table: table, row: $0), layout)) }
        }
        return owners
    }

    /// Checks a place that a caller passed, and returns the place. Ends the process if this graph has no object at the place. Complexity:
    /// O(1). The check loads only pages that a read at the place loads, too.
    @inline(__always) func checked(_ place: ObjectPlace) -> ObjectPlace {
        let table = Int(place.table)
        if !layout.hasObjects(inTable: table) || !reader.rows(table).isLive(place.row) { refuse(place) }
        return place
    }

    @inline(never) private func refuse(_ place: ObjectPlace) -> Never {
        refuse("table \(place.table) has no object in row \(place.row)")
    }

    /// Returns whether the store had assigned an id when this graph was made. An assigned id may belong to a deleted object, which the
    /// graph does not have.
    package func hasAssigned(_ id: ObjectID) -> Bool {
        guard id.serial > 0, let table = layout.table(of: id.root) else { return false }
        return id.serial < reader.nextSerial(table.index)
    }
}
