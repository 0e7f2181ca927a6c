/// The records that a query asks for, as they change. `Store.live(_:)` makes the sequence.
///
///     for try await update in store.live(RecordQuery<Person> { $0.age > 30 }.sorted(by: \.name)) {
///         show(try update.records())
///     }
///
/// Docs/LIVE.md states what an update contains, and how a slow consumer catches up.
public struct LiveRecords<Record: EntityRecord>: AsyncSequence, Sendable {
    public typealias Element = RecordUpdate<Record>

    let query: LiveQuery

    public struct Iterator: AsyncIteratorProtocol {
        var updates: LiveQuery.Iterator
        private var ids: [ObjectID] = []

        init(_ updates: LiveQuery.Iterator) { self.updates = updates }

        /// Returns the next update. Throws as `LiveQuery.Iterator.next()` does.
        public mutating func next() async throws -> RecordUpdate<Record>? {
            guard let update = try await updates.next() else { return nil }
            update.apply(to: &ids)
            return RecordUpdate(update: update, ids: ids)
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(query.makeAsyncIterator()) }
}

/// The records of a live query after a commit, and the differences from the update before.
public struct RecordUpdate<Record: EntityRecord>: Sendable {
    /// The differences, as indexes and ids.
    public let update: LiveUpdate
    /// The objects of all records after the update, in the order of the query.
    public let ids: [ObjectID]

    /// Returns all records, in the order of the query. Throws as `Graph.load(_:)` does. Complexity: O(records).
    public func records() throws -> [Record] { try update.graph.load(ids) }

    /// Returns the records that were inserted, with their indexes. Throws as `Graph.load(_:)` does.
    public func inserted() throws -> [(index: Int, record: Record)] { try load(update.inserted) }

    /// Returns the records that changed and kept their places, with their indexes. Throws as `Graph.load(_:)` does.
    public func updated() throws -> [(index: Int, record: Record)] { try load(update.updated) }

    private func load(_ places: [LiveUpdate.Place]) throws -> [(index: Int, record: Record)] {
        Array(zip(places.map(\.index), try update.graph.load(places.map(\.id))))
    }
}

extension Store {
    /// Returns the records that a query asks for, as they change: first all of them, then the differences after each commit that concerns
    /// the query. See `live(_:sections:)`.
    public func live<Record: EntityRecord>(_ query: RecordQuery<Record>) -> LiveRecords<Record> { LiveRecords(query: live(query.query)) }
}

/// The changes of one kind of record between two graphs.
public struct RecordChanges<Record: EntityRecord>: Sendable {
    /// The records that only the later graph has.
    public let inserted: [Record]
    /// The records that differ, as both graphs have them.
    public let changed: [(before: Record, after: Record)]
    /// The records that only the earlier graph has.
    public let deleted: [Record]
}

extension Changes {
    /// Returns the changes of the objects that a record is a view of, as records.
    ///
    ///     for change in try store.graph.changes(since: earlier).records(of: Person.self).changed { print(change.after.name) }
    ///
    /// An object is changed if any of its properties changed, whether the record has this property or not. Throws as `Graph.load(_:)`
    /// does. Complexity: O(changed objects), and as `Graph.load(_:)` for each of them.
    public func records<Record: EntityRecord>(of type: Record.Type) throws -> RecordChanges<Record> {
        let family = try after.binding(type).entity.family
        var ids: [ObjectChange.Kind: [ObjectID]] = [:]
        for change in self where family.contains(change.entity.number) { ids[change.kind, default: []].append(change.id) }
        let changed = ids[.changed] ?? []
        return RecordChanges(
            inserted: try after.load(ids[.inserted] ?? []), changed: Array(zip(try before.load(changed), try after.load(changed))),
            deleted: try before.load(ids[.deleted] ?? []))
    }
}
