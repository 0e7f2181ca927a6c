import Cambium
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumStore

/// The registry of live queries: how queries begin, and how they end after an error of the pump.
@Suite struct LiveRegistryTests {
    private struct Failure: Error {}
    private final class Scope: Sendable {}

    @TaskLocal private static var scope: Scope?

    @Test func `a query that an error ended gets no changes of a later pump`() async throws {
        let store = try Store.notes()
        let registry = LiveRegistry()
        func add() -> Int { registry.add({ store.graph }, { _, _ in Task {} }).number }
        func note(from pump: Int) throws {
            let before = store.graph
            _ = try store.addNote(Int(before.transaction.rawValue))
            registry.track(TouchedObjects(store.graph.changes(since: before)), store.graph, from: pump)
        }
        let first = add()
        try note(from: 1)
        #expect(registry.pendingCount == 1)
        registry.end(Failure(), from: 1)
        try store.addNote(-1)
        let second = add()
        try note(from: 2)
        #expect(registry.pendingCount == 1)
        #expect(try await registry.news(second)?.touched.count == 1)
        await #expect(throws: Failure.self) { try await registry.news(first) }
        try store.close()
    }

    @Test func `a query whose properties are set after a change of the schema misses no change`() async throws {
        let store = try Store.notes()
        let registry = LiveRegistry()
        let before = store.graph
        let number = registry.add({ before }, { _, _ in Task {} }).number
        func note(since graph: Graph) { registry.track(TouchedObjects(store.graph.changes(since: graph)), store.graph, from: 1) }
        var definition = Notes.definition
        definition.entities[1].attributes.append(AttributeDefinition("weight", .double, .optional))
        try store.migrate(to: definition)
        note(since: before)
        // The consumer ran the query on the graph before the change, so these are not the properties that it reads after the change.
        registry.set([], of: number)
        #expect(try await registry.news(number)?.touched.first?.changesSchema == true)
        let migrated = store.graph
        try store.addNote(1)
        note(since: migrated)
        #expect(registry.pendingCount == 1)
        registry.set([], of: number)
        let known = store.graph
        try store.addNote(2)
        note(since: known)
        #expect(registry.pendingCount == 1)
        try store.close()
    }

    @Test func `a closed store delivers its last changes`() async throws {
        let store = try Store.notes()
        let registry = LiveRegistry()
        let before = store.graph
        let number = registry.add({ before }, { _, _ in Task {} }).number
        try store.addNote(1)
        registry.track(TouchedObjects(store.graph.changes(since: before)), store.graph, from: 1)
        registry.end(nil, from: 1)
        #expect(try await registry.news(number)?.graph.transaction == store.graph.transaction)
        #expect(try await registry.news(number) == nil)
        try store.close()
    }

    @Test func `a query that begins between two reports of changes runs again`() async throws {
        let store = try Store.notes()
        let registry = LiveRegistry()
        let reported = store.graph
        _ = registry.add({ reported }, { _, _ in Task {} })
        try store.addNote(1)
        let within = registry.add({ store.graph }, { _, _ in Task {} }).number
        let note = try #require(try store.graph.find(Query("Note")).first)
        try store.commit { try $0.delete(note) }
        let after = registry.add({ store.graph }, { _, _ in Task {} }).number
        // The note was inserted and deleted between the reports. So the changes are empty, but the query `within` has seen the note.
        let touched = TouchedObjects(store.graph.changes(since: reported))
        #expect(touched.isEmpty)
        registry.track(touched, store.graph, from: 1)
        registry.end(nil, from: 1)
        #expect(try await registry.news(within)?.isWhole == true)
        #expect(try await registry.news(within) == nil)
        #expect(try await registry.news(after) == nil)
        try store.close()
    }

    @Test func `the changes after the first graph of a query need no replay`() async throws {
        let store = try Store.inMemory(schema: Notes.schema)
        let first = store.graph
        // A transaction arrives after the query has got its graph and before the pump begins.
        try store.addNote(1)
        let number = store.liveQueries.add({ first }, { store.pump(after: $0, number: $1) }).number
        #expect(try await store.liveQueries.news(number)?.touched.count == 1)
        store.liveQueries.remove(number)
        try store.close()
    }

    @Test func `the pump keeps no task-local value of the task that began the first query`() async throws {
        let store = try Store.inMemory(schema: Notes.schema)
        weak var kept: Scope?
        func begin() -> Int {
            let scope = Scope()
            kept = scope
            return Self.$scope.withValue(scope) {
                store.liveQueries.add({ store.graph }, { store.pump(after: $0, number: $1) }).number
            }
        }
        let number = begin()
        #expect(kept == nil)
        store.liveQueries.remove(number)
        try store.close()
    }
}

extension Store {
    /// Runs a transaction without a suspension. In an asynchronous test, the call `write` would mean the asynchronous method.
    fileprivate func commit(_ body: (inout WriteTransaction) throws -> Void) throws { try write { try body(&$0) } }
}
