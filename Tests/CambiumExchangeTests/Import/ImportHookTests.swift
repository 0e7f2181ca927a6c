import Cambium
import CambiumJSON
import CambiumLog
import TestFixtures
import Testing

@Suite struct ImportHookTests {
    private func run(
        _ store: Store, _ rows: String, _ hooks: ImportHooks, _ change: (inout ImportOptions) -> Void = { _ in },
        reached: (ImportReport) -> Void = { _ in }
    ) throws -> ImportReport {
        var options = ImportOptions()
        change(&options)
        let note = try store.schema.required("Note")
        return try store.importRows(note, from: [.bytes(Array(rows.utf8))], options, hooks: hooks, reached: reached)
    }

    @Test func `prepare changes a row before its identity is looked up`() throws {
        let store = try Store.notes()
        let hooks = ImportHooks(prepare: { row in row = .object([.init("id", row["number"] ?? .null), .init("title", .string("t"))]) })
        _ = try run(store, #"{"number":7}"#, hooks)
        let again = try run(store, #"{"number":7}"#, hooks)
        #expect(again.counts.unchanged == 1 && again.transaction == nil)
        #expect(try store.graph.json("Note/1").contains(#""id":7,"title":"t""#))
    }

    @Test func `finish changes the object of a row in the same transaction, and its changes are in the log`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        let hooks = ImportHooks(finish: { transaction, id, row in
            try transaction.set(id, "title", to: .string(row["raw"]?.text ?? ""))
            let item = try transaction.insert("Item", ["key": .string("of \(id.serial)")])
            try transaction.link(id, "items", item)
        })
        let report = try run(store, #"{"id":1,"raw":[1,2.50]}"#, hooks)
        #expect(report.counts.inserted == 1 && report.entities["Item"]?.inserted == 1)
        #expect(try store.graph.json("Note/1").contains(#""title":"[1,2.50]""#))
        #expect(try Store.reopened(volume).graph.digest() == store.graph.digest())
    }

    @Test(arguments: [ImportOptions.MissingKey.keep, .clear])
    func `finish supplies a mandatory value that the row lacks`(missing: ImportOptions.MissingKey) throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Note", identity: ["id"]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("source", .string)
                    RelationshipDefinition("next", to: "Note")
                }
            })
        let hooks = ImportHooks(finish: { transaction, id, row in
            if row["id"] != .number("2") { try transaction.set(id, "source", to: "feed") }
        })
        let rows = #"[{"id":1},{"id":2},{"id":3,"next":{"id":4}},{"id":5,"next":6},{"id":6}]"#
        for isFirst in [true, false] {
            let report = try run(store, rows, hooks) {
                $0.missing = missing
                $0.onError = .skip
            }
            #expect(report.errors.map(\.row) == [2, 3] && report.errors.map(\.pointer) == ["", "/next"], "\(report.errors)")
            let messages = [
                "'source' must have a value",
                "'source' must have a value, because there is no 'Note' with this identity; import its row first",
            ]
            #expect(report.errors.map(\.message) == messages && report.errors.allSatisfy { $0.code == .missingMandatory })
            #expect(report.counts.inserted == (isFirst ? 3 : 0) && report.counts.unchanged == (isFirst ? 0 : 3))
        }
        #expect(try store.graph.count(Query("Note", where: "source == 'feed'")) == 3)
    }

    @Test func `finish is not called for a skipped object`() throws {
        let store = try Store.notes()
        try store.importing("Note", #"{"id":1}"#)
        let hooks = ImportHooks(finish: { transaction, id, _ in try transaction.set(id, "title", to: .string("met")) })
        _ = try run(store, #"[{"id":1},{"id":2}]"#, hooks) { $0.existing = .skip }
        #expect(try store.graph.json("Note/1").contains(#""title":"""#))
        #expect(try store.graph.json("Note/2").contains(#""title":"met""#))
    }

    @Test(arguments: [true, false]) func `a row whose hook throws is a bad row`(isPrepare: Bool) throws {
        let store = try Store.notes()
        @Sendable func refuse(_ row: JSONValue) throws {
            if row["id"] == .number("2") { throw CambiumError(.invalidInput, "no twos") }
        }
        let hooks = isPrepare ? ImportHooks(prepare: { try refuse($0) }) : ImportHooks(finish: { try refuse($2) })
        let rows = #"[{"id":1},{"id":2,"items":["a"]},{"id":3}]"#
        var reached = ImportReport()
        #expect(throws: CambiumError.self) { try run(store, rows, hooks, reached: { reached = $0 }) }
        #expect(reached.errors.map(\.code) == [.hookFailed] && store.graph.objectCount == 0)
        let report = try run(store, rows, hooks) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [2] && report.errors[0].message == "the program's hook refused the row: no twos")
        #expect(store.graph.objectCount == 2)
    }

    @Test func `a hook can neither delete nor clone`() throws {
        let store = try Store.notes()
        for verb in ["delete", "clone"] {
            let hooks = ImportHooks(finish: { transaction, id, _ in
                if verb == "delete" { try transaction.delete(id) } else { _ = try transaction.clone(id) }
            })
            var reached = ImportReport()
            #expect(throws: CambiumError.self) { try run(store, #"{"id":1}"#, hooks, reached: { reached = $0 }) }
            #expect(reached.errors.first?.message.contains(verb) == true)
        }
    }

    @Test func `a row finds the object of a hook by attributes without an index`() throws {
        let store = try Store.notes()
        let hooks = ImportHooks(finish: { transaction, _, row in
            if row["title"] == .string("a") { try transaction.insert("Note", ["id": 2, "title": "b"]) }
        })
        _ = try run(store, #"[{"id":1,"title":"a"},{"title":"b","rating":4}]"#, hooks) {
            $0.mapping = ImportMapping(entity: "Note", identity: ["title"])
        }
        #expect(try store.graph.count(of: "Note") == 2)
        let found = try #require(try store.graph.find("Note", identity: [2]))
        #expect(try store.graph[found, "rating"] == 4.0)
    }

    @Test func `a row finds the next object with its identity if a hook has changed the oldest one`() throws {
        let store = try Store.notes()
        try store.importing("Note", #"[{"id":1,"title":"a"},{"id":2,"title":"a"},{"id":3,"title":"a"}]"#)
        let hooks = ImportHooks(finish: { transaction, id, row in
            if row["rating"] != .number("9") { try transaction.set(id, "title", to: "old") }
        })
        _ = try run(store, #"[{"title":"a","rating":1},{"title":"a","rating":2},{"title":"a","rating":9}]"#, hooks) {
            $0.mapping = ImportMapping(entity: "Note", identity: ["title"])
        }
        let ratings = try store.graph.objects(of: "Note").map { try store.graph[$0, "rating"] }
        #expect(ratings == [1.0, 2.0, 9.0])
    }

    @Test func `a rule that a hook breaks is an error of its row`() throws {
        let store = try Store.notes()
        let hooks = ImportHooks(finish: { transaction, id, row in
            if row["id"] == .number("2") { try transaction.set(id, "id", to: .int(1)) }
        })
        let report = try run(store, #"[{"id":1},{"id":2},{"id":3}]"#, hooks) { $0.onError = .skip }
        #expect(report.errors.map(\.row) == [2] && report.errors.map(\.code) == [.duplicate])
        #expect(report.counts.inserted == 2)
    }

    @Test func `a row stays if its hook breaks a rule only because of an object of another bad row`() throws {
        let store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("Account", identity: ["id"], unique: [["mail"]]) {
                    AttributeDefinition("id", .int64)
                    AttributeDefinition("mail", .string, .optional)
                }
            })
        try store.importing("Account", #"{"id":1,"mail":"a"}"#)
        let hooks = ImportHooks(finish: { transaction, id, row in
            guard row["id"] == .number("3"), try transaction.find("Account", identity: [2]) != nil else { return }
            try transaction.set(id, "mail", to: "a")
        })
        var options = ImportOptions()
        options.onError = .skip
        let rows = Array(#"[{"id":2,"mail":"a"},{"id":3},{"id":4,"mail":"a"}]"#.utf8)
        let report = try store.importRows(try store.schema.required("Account"), from: [.bytes(rows)], options, hooks: hooks)
        #expect(report.errors.map(\.row) == [1, 3])
        #expect(try store.graph.count(of: "Account") == 2)
    }

    @Test func `the report lists the object of each row, and each distinct object once`() throws {
        let store = try Store.notes()
        try store.importing("Note", #"{"id":9}"#)
        let report = try store.importing("Note", #"[{"id":1},{"id":"x"},{"id":9},{"id":1}]"#) {
            $0.rowObjects = .report
            $0.onError = .skip
        }
        #expect(report.rowObjects.map { $0?.serial } == [2, nil, 1, 2])
        #expect(report.distinctObjects.map(\.serial) == [2, 1])
        #expect(try store.importing("Note", #"{"id":1}"#).rowObjects.isEmpty)
    }

    @Test func `each preset of options behaves like the library that names it`() {
        #expect(
            ImportOptions.clearingUnusableValues.missing == .clear && ImportOptions.clearingUnusableValues.null == .clear
                && ImportOptions.clearingUnusableValues.mismatch == .null)
        let keeping = ImportOptions.keepingUnusableValues
        #expect(keeping.missing == .keep && keeping.null == .keep && keeping.mismatch == .keep)
        #expect(ImportOptions.clearingMismatches.mismatch == .null && ImportOptions.clearingMismatches.missing == .keep)
        #expect(
            ImportOptions.ignoringUnknownKeys.mismatch == .error && ImportOptions.ignoringUnknownKeys.null == .clear
                && ImportOptions.ignoringUnknownKeys.unknown == .ignore)
    }
}
