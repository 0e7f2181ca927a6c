import Cambium

/// The examples of the docstrings about changes and live queries, word for word. The code is compiled only.
enum DocstringChangesSnippets {
    static func printChanges(_ store: Store, _ note: ObjectID) throws {
        let before = store.graph
        try store.write { try $0.set(note, "title", to: "Paris") }
        for object in store.graph.changes(since: before) {
            for change in object.attributes { print(object.id, change.attribute.name, change.before, change.after) }
        }
    }

    static func printLabels(_ store: Store, _ earlier: Graph) {
        for label in store.graph.changes(since: earlier).labels {
            print(label.name, label.before?.description ?? "new", label.after?.description ?? "removed")
        }
    }

    static func changesSinceMonday(_ store: Store) throws -> Changes {
        let changes = store.graph.changes(since: try store.graph(at: .label("monday")))
        return changes
    }

    static func printInserted(_ graph: Graph, _ older: Graph) {
        for object in graph.changes(since: older) where object.kind == .inserted { print(object.entity.name, object.id) }
    }

    static func printAttributes(_ store: Store, _ earlier: Graph) {
        for object in store.graph.changes(since: earlier) {
            for change in object.attributes { print("\(change.attribute.name): \(change.before.text) -> \(change.after.text)") }
        }
    }

    static func printRelationships(_ store: Store, _ earlier: Graph) {
        for object in store.graph.changes(since: earlier) {
            for change in object.relationships { print(change.relationship.name, change.added, change.removed, change.isMoved) }
        }
    }

    static func printRecords(_ store: Store, _ earlier: Graph) throws {
        let notes = try store.graph.changes(since: earlier).records(of: Note.self)
        for note in notes.inserted { print("new:", note.title) }
        for (before, after) in notes.changed { print(before.title, "->", after.title) }
    }

    static func printNames(_ store: Store, _ earlier: Graph) throws {
        for change in try store.graph.changes(since: earlier).records(of: Person.self).changed { print(change.after.name) }
    }

    // MARK: Transactions of a store

    static func watch(_ store: Store) async throws {
        for try await committed in store.changes(.every) {
            print(committed.transaction, committed.author?.actor ?? "-", committed.changes.count)
        }
    }

    static func watchCoalesced(_ store: Store) async throws {
        for try await committed in store.changes(.coalesced) { print(committed.transactionCount, committed.changes.count) }
    }

    static func watch(_ store: Store, from last: inout TransactionNumber) async throws {
        for try await committed in store.changes(from: last) {
            for object in committed.changes { print(object.kind, object.id) }
            last = committed.transaction
        }
    }

    static func saveAndWait(_ store: Store, _ note: inout Note) async throws -> CommittedChanges? {
        var updates = store.changes().makeAsyncIterator()
        try store.save(&note)
        let committed = try await updates.next()
        return committed
    }

    static func count(_ store: Store, from last: TransactionNumber) async throws {
        let changes = store.changes(from: last)
        for try await committed in changes { print(committed.transaction, committed.changes.count) }
    }

    // MARK: Live queries

    static func follow(_ store: Store, _ ids: inout [ObjectID]) async throws {
        let query = try Query("Note", where: "rating > 3", sort: "title", limit: 50)
        for try await update in store.live(query) {
            update.apply(to: &ids)
        }
    }

    static func countUpdates(_ store: Store) async throws {
        let query = try Query("Note", where: "rating > 3", sort: "title")
        for try await update in store.live(query) { print(update.count, update.inserted.count, update.deleted.count) }
    }

    static func apply(_ store: Store, _ query: Query, _ ids: inout [ObjectID]) async throws {
        for try await update in store.live(query) {
            update.apply(to: &ids)
        }
    }

    static func printSections(_ store: Store) async throws {
        let people = store.live(try Query("Person", sort: "name"), sections: try SortKey(parsing: "city.name"))
        for try await update in people {
            for section in update.sections { print(section.value, section.range) }
        }
    }

    static func follow(_ store: Store, _ show: ([Person]) -> Void) async throws {
        for try await update in store.live(RecordQuery<Person> { $0.age > 30 }.sorted(by: \.name)) {
            show(try update.records())
        }
    }

    static func printUpdates(_ store: Store) async throws {
        for try await update in store.live(RecordQuery<Note> { $0.rating > 3 }.sorted(by: \.title)) {
            print(try update.records().map(\.title))
            for row in try update.inserted() { print("new at \(row.index):", row.record.title) }
        }
    }
}
