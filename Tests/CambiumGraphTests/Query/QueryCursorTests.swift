import Cambium
import TestFixtures
import Testing

/// Cursors of queries whose sort keys have another type after a migration.
@Suite struct QueryCursorTests {
    @Test func `a cursor belongs to the types of its sort keys`() throws {
        var definition = SchemaDefinition { EntityDefinition("Note") { AttributeDefinition("rank", .int32) } }
        let store = try Store.inMemory(schema: Schema(definition))
        try store.write { transaction in for rank in 1...3 { try transaction.insert("Note", ["rank": .int(Int64(rank))]) } }
        var query = try Query("Note", sort: "rank", limit: 1)
        query.cursor = try store.graph.answer(query).cursor
        #expect(try store.graph.find(query).map(\.serial) == [2])
        definition.entities[0].attributes[0].type = .int64
        try store.migrate(to: definition)
        #expect(code(of: { _ = try store.graph.find(query) }) == .invalidInput)
    }

    @Test func `a cursor belongs to the type at the end of the path of a sort key`() throws {
        var definition = SchemaDefinition {
            EntityDefinition("Note") {
                AttributeDefinition("rank", .int32)
                RelationshipDefinition("items", to: "Item", .toMany, inverse: "note")
            }
            EntityDefinition("Item") { RelationshipDefinition("note", to: "Note", inverse: "items") }
        }
        let store = try Store.inMemory(schema: Schema(definition))
        try store.write { transaction in
            for rank in 1...3 {
                let note = try transaction.insert("Note", ["rank": .int(Int64(rank))])
                try transaction.insert("Item", links: ["note": [note]])
            }
        }
        var query = try Query("Item", sort: "note.rank", limit: 1)
        query.cursor = try store.graph.answer(query).cursor
        #expect(try store.graph.find(query).map(\.serial) == [2])
        definition.entities[0].attributes[0].type = .double
        try store.migrate(to: definition)
        #expect(code(of: { _ = try store.graph.find(query) }) == .invalidInput)
    }

    @Test func `a cursor by a number of members still fits after a migration orders the members`() throws {
        var definition = SchemaDefinition {
            EntityDefinition("Note") { RelationshipDefinition("items", to: "Item", .toMany, inverse: "note") }
            EntityDefinition("Item") { RelationshipDefinition("note", to: "Note", inverse: "items") }
        }
        let store = try Store.inMemory(schema: Schema(definition))
        try store.write { transaction in
            for count in 1...3 {
                let note = try transaction.insert("Note")
                for _ in 0..<count { try transaction.insert("Item", links: ["note": [note]]) }
            }
        }
        var query = try Query("Note", sort: "items.@count", limit: 1)
        query.cursor = try store.graph.answer(query).cursor
        definition.entities[0].relationships[0].cardinality = .orderedToMany
        try store.migrate(to: definition)
        #expect(try store.graph.find(query).map(\.serial) == [2])
    }

    /// Returns a graph of 400 notes.
    private func notes() throws -> Graph {
        let definition = SchemaDefinition { EntityDefinition("Note") { AttributeDefinition("rank", .int32) } }
        let store = try Store.inMemory(schema: Schema(definition))
        try store.write { transaction in for rank in 1...400 { try transaction.insert("Note", ["rank": .int(Int64(rank))]) } }
        return store.graph
    }

    @Test func `a cancelled task gets no answer that continues after a cursor`() async throws {
        let graph = try notes()
        let beginning = try Query("Note", limit: 200)
        let cursor = try graph.answer(beginning).cursor
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var query = try Query("Note")
            query.cursor = cursor
            return try graph.find(query)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: ["name", "-name", "name,rank", "-rank,name"])
    func `pages in the order of an index are the pages of a scan`(sort: String) throws {
        let definition = SchemaDefinition {
            EntityDefinition("Note", indexes: [["name", "rank"], ["-rank", "name"]]) {
                AttributeDefinition("name", .string, .optional)
                AttributeDefinition("rank", .int32)
            }
        }
        let store = try Store.inMemory(schema: Schema(definition))
        // A key of an index has at most 256 bytes, so several of these texts have the same key.
        let names = ["", "a"] + [254, 300].flatMap { count in ["z", "b", "c"].map { String(repeating: "x", count: count) + $0 } }
        try store.write { transaction in
            for number in 0..<45 {
                let name = number % 9 < names.count ? Value.string(names[number % 9]) : .null
                try transaction.insert("Note", ["name": name, "rank": .int(Int64(number % 7))])
            }
        }
        var whole = try Query("Note", where: "rank != 3", sort: sort)
        whole.accesses = .scan
        var (page, found) = (try Query("Note", where: "rank != 3", sort: sort, limit: 3), [ObjectID]())
        repeat {
            let answer = try store.graph.answer(page)
            #expect(answer.plan.steps.first?.kind == .index)
            found += answer.ids
            page.cursor = answer.cursor
        } while page.cursor != nil
        #expect(try found == store.graph.find(whole))
    }

    @Test func `a cursor with a long key can be parsed again`() throws {
        let store = try Store.inMemory(schema: Schema { EntityDefinition("Note") { AttributeDefinition("title", .string) } })
        try store.write { transaction in
            try transaction.insert("Note", ["title": .string(String(repeating: "a", count: 530_000))])
            try transaction.insert("Note", ["title": "b"])
        }
        var query = try Query("Note", sort: "title", limit: 1)
        let cursor = try #require(try store.graph.answer(query).cursor)
        query.cursor = try QueryCursor(parsing: cursor.description)
        #expect(query.cursor == cursor)
        #expect(try store.graph.find(query).map(\.serial) == [2])
    }
}
