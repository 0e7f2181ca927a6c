import Cambium
import CambiumLog
import TestFixtures
import Testing

@Suite struct AbsentImportTests {
    /// Makes a store with `count` notes and syncs their feed. Returns the number of deleted notes, or `nil` if the import was refused.
    private func sync(_ count: Int, _ source: ImportSource, _ change: (inout ImportOptions) -> Void = { _ in }) throws -> (Store, Int?) {
        let store = try Store.notes()
        try store.importing("Note", (0..<count).map { "{\"id\":\($0 + 1)}" }.joined(separator: "\n"))
        var options = ImportOptions()
        options.absent = .delete
        change(&options)
        let before = store.graph.transaction
        do {
            let report = try store.importRows(try store.schema.required("Note"), from: [source], options)
            return (store, report.counts.deleted)
        } catch let error as CambiumError {
            #expect(error.code == .invalidInput || error.code == .limitExceeded)
            #expect(store.graph.transaction == before && store.graph.objectCount == count)
            return (store, nil)
        }
    }

    private func lines(_ text: String) -> ImportSource { .bytes(Array(text.utf8)) }

    @Test(arguments: ["", "[]", "\n\n", "{\"id\":\"x\"}\n{\"title\":\"a\"}", "{"])
    func `an input without a valid row deletes nothing and is an error`(text: String) throws {
        for percent in [nil, 100.0] {
            for onError in ImportOptions.RowError.allCases {
                for effect in [ImportOptions.Effect.commit, .dryRun] {
                    let (_, deleted) = try sync(3, lines(text)) { options in
                        if let percent { options.absentMax = .percent(percent) }
                        (options.onError, options.effect) = (onError, effect)
                    }
                    #expect(deleted == nil)
                }
            }
        }
    }

    @Test(arguments: ["id\n", "id,title\r\n", "", "id\r1\r2\r3\r", "id\rx"])
    func `a CSV input without a valid row deletes nothing and is an error`(text: String) throws {
        let (_, deleted) = try sync(3, .bytes(Array(text.utf8), format: .csv)) { $0.absentMax = .percent(100) }
        #expect(deleted == nil)
    }

    @Test func `the report of an input without a valid row has the rows that were left out`() throws {
        let store = try Store.notes()
        let error = store.refusal("Note", "{\"id\":\"x\"}") { ($0.absent, $0.onError) = (.delete, .skip) }
        #expect(error?.code == .typeMismatch && error?.row == 1)
    }

    @Test func `an input that mentions only objects of other entities deletes nothing and is an error`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Note", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("tag", to: "Tag", inverse: "notes")
                }
                EntityDefinition("Tag", identity: ["name"]) {
                    AttributeDefinition("name", .string)
                    RelationshipDefinition("notes", to: "Note", .toMany, inverse: "tag")
                }
            })
        let store = try Store.inMemory(schema: schema)
        func deleted(_ rows: String) throws -> Int {
            try store.importing("Note", rows) { ($0.absent, $0.absentMax) = (.delete, .percent(100)) }.counts.deleted
        }
        let tag = "{\"_entity\":\"Tag\",\"name\":\"a\"}"
        #expect(try deleted(tag) == 0)
        try store.importing("Note", "{\"id\":1}\n{\"id\":2}")
        #expect(code { _ = try deleted(tag) } == .invalidInput && store.graph.objectCount == 3)
        #expect(try deleted("{\"_entity\":\"Tag\",\"name\":\"a\",\"notes\":[1]}") == 1)
    }

    @Test(arguments: [
        #"{"id":1,"next":2}"#, #"{"id":1,"next":{"id":2}}"#, #"{"id":1,"next":{"id":9,"next":{"id":2,"title":"a"}}}"#,
    ])
    func `an object that a skipped row mentions is not deleted`(row: String) throws {
        let store = try pages()
        let report = try store.importing("Page", row) { ($0.absent, $0.existing) = (.delete, .skip) }
        #expect(report.counts.deleted == 1 && report.counts.unchanged == 1 && report.counts.repeated == 0)
        let beginnings = store.graph.export.split(separator: "\n").map { String($0.prefix(15)) }
        #expect(beginnings == [#"{"_id":"Page/1""#, #"{"_id":"Page/2""#])
    }

    @Test(arguments: [
        #"{"id":1,"next":[]}"#, #"{"id":1,"next":"x"}"#, #"{"id":1,"next":{"id":9,"title":7,"next":2}}"#,
        #"{"id":1,"next":{"id":9,"other":7,"next":2}}"#,
    ])
    func `nothing is deleted if a part of a skipped object cannot be read`(row: String) throws {
        let store = try pages()
        let error = store.refusal("Page", row) { ($0.absent, $0.existing, $0.unknown) = (.delete, .skip, .error) }
        #expect(error?.row == 1)
        let report = try store.importing("Page", row + "\n{\"id\":3}") {
            ($0.absent, $0.existing, $0.unknown, $0.onError) = (.delete, .skip, .error, .skip)
        }
        #expect(report.errors.count == 1 && report.counts.deleted == 0 && store.graph.objectCount == 3)
    }

    /// Returns a store with the pages 1, 2 and 3.
    private func pages() throws -> Store {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Page", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("title", .string, .optional)
                    RelationshipDefinition("next", to: "Page")
                }
            })
        let store = try Store.inMemory(schema: schema)
        try store.importing("Page", "{\"id\":1}\n{\"id\":2}\n{\"id\":3}")
        return store
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 100.5, -1])
    func `a limit that is not a percentage from 0 to 100 is refused`(percent: Double) throws {
        #expect(try sync(4, lines("{\"id\":9}")) { $0.absentMax = .percent(percent) }.1 == nil)
    }

    @Test(arguments: [AbsentLimit.count(-1), .count(.min), .percent(-1)])
    func `a limit that no text can state is invalid, and is not exceeded`(limit: AbsentLimit) throws {
        let store = try Store.notes()
        var options = ImportOptions()
        (options.absent, options.absentMax) = (.delete, limit)
        let error = #expect(throws: CambiumError.self) {
            try store.importRows(try store.schema.required("Note"), from: [lines("{\"id\":9}")], options)
        }
        #expect(error?.code == .invalidInput)
        #expect(AbsentLimit(limit.text) == nil)
    }

    @Test func `at most half of the objects are deleted unless another limit is set`() throws {
        #expect(ImportOptions().absentMax == .percent(50))
        #expect(try sync(4, lines("[{\"id\":1},{\"id\":2}]")).1 == 2)
        #expect(try sync(4, lines("{\"id\":1}")).1 == nil)
        #expect(try sync(4, lines("{\"id\":1}")) { $0.absentMax = .percent(75) }.1 == 3)
        #expect(try sync(4, lines("{\"id\":9}")) { $0.absentMax = .percent(100) }.1 == 4)
        #expect(try sync(4, lines("{\"id\":9}")).1 == nil)
        #expect(try sync(0, lines("{\"id\":9}")).1 == 0)
    }

    @Test func `a limit of any size can be written as a text`() {
        let limits: [AbsentLimit] = [.count(100), .percent(10), .percent(0.5), .percent(.infinity), .percent(1e300)]
        #expect(limits.map(\.text) == ["100", "10%", "0.5%", "inf%", "1e+300%"])
    }

    @Test func `objects of the entity that a cascade deletes count toward the limit`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Folder", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    RelationshipDefinition("parent", to: "Folder", inverse: "children")
                    RelationshipDefinition("children", to: "Folder", .toMany, inverse: "parent", onDelete: .cascade)
                }
            })
        let store = try Store.inMemory(schema: schema)
        try store.importing("Folder", "{\"id\":1,\"children\":[2,3]}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4}")
        let rows = "[{\"id\":2},{\"id\":3},{\"id\":4}]"
        #expect(code { try store.importing("Folder", rows) { $0.absent = .delete } } == .limitExceeded)
        #expect(store.graph.objectCount == 4)
    }
}
