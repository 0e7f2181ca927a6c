/// The updates of a live query: the records of its result after each change, and the differences.
struct LiveRecords<Record: EntityRecord>: AsyncSequence, Sendable {
    let query: LiveQuery

    struct Iterator: AsyncIteratorProtocol {
        var updates: LiveQuery.Iterator
        private var ids: [ObjectID] = []

        init(_ updates: LiveQuery.Iterator) { self.updates = updates }

        /// Returns the next update. Throws as `LiveQuery.Iterator.next()` does.
        mutating func next() async throws -> RecordUpdate<Record>? {
            guard let update = try await updates.next() else { return nil }
            update.apply(to: &ids)
            return RecordUpdate(update: update, ids: ids)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(query.makeAsyncIterator()) }
}

/// The records of a live query after a commit, and the differences from the previous update.
///
/// ```swift
/// for try await update in store.live(RecordQuery<Note> { $0.rating > 3 }.sorted(by: \.title)) {
///     print(try update.records().map(\.title))
///     for row in try update.inserted() { print("new at \(row.index):", row.record.title) }
/// }
/// ```
public struct RecordUpdate<Record: EntityRecord>: Sendable {
    /// The differences from the previous update, as indexes and ids.
    public let update: LiveUpdate
    /// The ids of all records after the update, in the order of the query.
    public let ids: [ObjectID]

    /// Returns all records, in the order of the query. Throws as `Graph.load(_:)` does. Complexity: O(records).
    public func records() throws -> [Record] { try update.graph.load(ids) }

    /// Returns the records that were inserted, with their indexes. Throws as `Graph.load(_:)` does.
    public func inserted() throws -> [(index: Int, record: Record)] { try load(update.inserted) }

    /// Returns the records that changed but did not move, with their indexes. Throws as `Graph.load(_:)` does.
    public func updated() throws -> [(index: Int, record: Record)] { try load(update.updated) }

    private func load(_ places: [LiveUpdate.Place]) throws -> [(index: Int, record: Record)] {
        Array(zip(places.map(\.index), try update.graph.load(places.map(\.id))))
    }
}

extension Store {
    /// Returns the records of a query's answer and their changes: first all records, then the differences after each commit that concerns
    /// the query. See `live(_:sections:)`.
    ///
    /// ```swift
    /// for try await update in store.live(RecordQuery<Person> { $0.age > 30 }.sorted(by: \.name)) {
    ///     show(try update.records())
    /// }
    /// ```
    ///
    /// Docs/Use/LIVE.md states what an update contains, and how a slow consumer catches up.
    public func live<Record: EntityRecord>(
        _ query: RecordQuery<Record>
    ) -> some AsyncSequence<RecordUpdate<Record>, any Error> & Sendable {
        LiveRecords(query: LiveQuery(store: self, query: query.query, sections: nil))
    }
}

/// The objects of one record type that differ between two graphs, as records.
///
/// ```swift
/// let notes = try store.graph.changes(since: earlier).records(of: Note.self)
/// for note in notes.inserted { print("new:", note.title) }
/// for (before, after) in notes.changed { print(before.title, "->", after.title) }
/// ```
public struct RecordChanges<Record: EntityRecord>: Sendable {
    /// The records that only the later graph has.
    public let inserted: [Record]
    /// The records that differ, as read from each of the two graphs.
    public let changed: [(before: Record, after: Record)]
    /// The records that only the earlier graph has.
    public let deleted: [Record]
}

extension Changes {
    /// Returns the changed objects of a record type's entity, as records.
    ///
    /// ```swift
    /// for change in try store.graph.changes(since: earlier).records(of: Person.self).changed { print(change.after.name) }
    /// ```
    ///
    /// An object counts as changed if any of its properties changed, even one that the record does not have. The deleted records include
    /// the objects of a sub-entity that a migration removed. Throws as `Graph.load(_:)` does. The record must fit the schema of the later
    /// graph. It must fit the schema of the earlier graph only if there are changed or deleted records. Complexity: O(changed objects), and
    /// that of `Graph.load(_:)` for each of them.
    public func records<Record: EntityRecord>(of type: Record.Type) throws -> RecordChanges<Record> {
        let entity = try after.binding(type).entity
        // A migration may have removed sub-entities, together with their objects. It may also have renamed the entity, which then keeps its
        // number, or replaced it with a new entity of the same name.
        let earlier = before.schema.entity(entity.number) ?? before.schema.entity(entity.name)
        let earlierFamily = earlier?.family ?? []
        var ids: [ObjectChange.Kind: [ObjectID]] = [:]
        for change in self {
            let (kind, number) = (change.kind, change.entity.number)
            guard entity.family.contains(number) || kind == .deleted && earlierFamily.contains(number) else { continue }
            ids[kind, default: []].append(change.id)
        }
        let changed = ids[.changed] ?? []
        return RecordChanges(
            inserted: try Self.records(ids[.inserted], after),
            changed: Array(zip(try Self.records(changed, before), try Self.records(changed, after))),
            deleted: try Self.records(ids[.deleted], before))
    }

    /// Returns the records of objects. If there are no objects, the record need not fit the graph's schema. For example, the schema before
    /// the first transaction is empty, and a migration may have added properties of the record.
    private static func records<Record: EntityRecord>(_ ids: [ObjectID]?, _ graph: Graph) throws -> [Record] {
        guard let ids, !ids.isEmpty else { return [] }
        return try graph.load(ids)
    }
}
