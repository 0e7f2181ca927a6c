import Cambium
import TestFixtures
import Testing

@testable import CambiumLog

@Suite struct MigrationTests {
    func count(_ report: MigrationReport, _ subject: String) -> [Int]? {
        report.entries.first { $0.change.subject == subject }.map { [$0.objectCount, $0.lostCount] }
    }

    // MARK: Attributes

    @Test func `a new attribute has its default or null`() throws {
        let notes = try MigratedNotes()
        let report = try notes.migrate {
            $0["Note"].attributes.append(AttributeDefinition("done", .bool, default: false))
            $0["Note"].attributes.append(AttributeDefinition("link", .uri, .optional))
        }
        #expect(try notes.values("Note", "done") == [.bool(false), .bool(false), .bool(false)])
        #expect(try notes.values("Note", "link") == [.null, .null, .null])
        #expect(try notes.values("Note", "title") == [.string("Paris"), .string("12"), .string("12")])
        #expect(count(report, "Note.done") == [3, 0] && count(report, "Note.link") == [0, 0])
        #expect(report.transaction == notes.store.graph.transaction && report.logByteCount > 0)
    }

    @Test func `a stub gets no default`() throws {
        let notes = try MigratedNotes()
        try notes.store.importing("Note", #"{"id":1,"related":[77]}"#)
        try notes.migrate { $0["Note"].attributes.append(AttributeDefinition("done", .bool, default: false)) }
        #expect(try notes.values("Note", "done") == [.bool(false), .bool(false), .bool(false), .null])
    }

    @Test func `a removed attribute is gone, including its long values`() throws {
        let notes = try MigratedNotes()
        let long = String(repeating: "long ", count: 40_000)
        try notes.store.write { transaction in
            let note = try transaction.schema.required("Note")
            let found = transaction.find(note, identity: [.int(2)])
            let id = try #require(found)
            try transaction.set(id, "title", to: .string(long))
        }
        let bytes = notes.store.memory.pageByteCount
        let report = try notes.migrate { $0["Note"].remove("title") }
        #expect(count(report, "Note.title") == [0, 3])
        #expect(notes.store.memory.pageByteCount < bytes - 190_000)
        #expect(notes.store.schema.entity("Note")?.attribute("title") == nil)
        try notes.migrate { $0["Note"].attributes.append(AttributeDefinition("title", .string, .optional)) }
        #expect(try notes.values("Note", "title") == [.null, .null, .null])
        #expect(notes.store.schema.entity("Note")?.attribute("title")?.number.rawValue == 8)
    }

    @Test func `long defaults that do not fit into the graph are refused`() throws {
        var tuning = LogTuning()
        (tuning.chunkCountMax, tuning.checkpointsInBackground) = (200, false)
        let store = try Store.create(
            MemoryVolume(), schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: tuning)
        try store.write { transaction in
            for number in 0..<40 { try transaction.insert("Tag", ["name": .string("\(number)")]) }
        }
        let digest = store.graph.digest()
        let text = Value.string(String(repeating: "a", count: 655_000))
        let definition = SchemaDefinition.notes { $0["Tag"].attributes.append(AttributeDefinition("text", .string, default: text)) }
        #expect(code { _ = try store.migrate(to: definition) } == .limitExceeded)
        #expect(store.graph.digest() == digest && store.schema.entity("Tag")?.attribute("text") == nil)
    }

    @Test func `a rename changes no value`() throws {
        let notes = try MigratedNotes()
        let report = try notes.migrate {
            $0["Note"][attribute: "title"].formerName = "title"
            $0["Note"][attribute: "title"].name = "name"
            $0["Note"].identity = ["number"]
            $0["Note"][attribute: "id"].formerName = "id"
            $0["Note"][attribute: "id"].name = "number"
        }
        #expect(report.entries.map(\.change.kind) == [.renamed, .renamed])
        #expect(try notes.values("Note", "name") == [.string("Paris"), .string("12"), .string("12")])
        let graph = notes.store.graph
        #expect(graph.place(try graph.schema.required("Note"), identity: [.int(3)]) != nil)
    }

    @Test func `a wider type keeps the values`() throws {
        let notes = try MigratedNotes()
        try notes.migrate { $0["Item"][attribute: "count"].type = .decimal }
        #expect(try notes.values("Item", "count") == [.decimal(DecimalNumber(1)), .null, .decimal(DecimalNumber(3))])
        let report = try notes.migrate { $0["Note"][attribute: "id"].type = .decimal }
        #expect(count(report, "Note.id") == [3, 0])
        let note = try notes.store.schema.required("Note")
        #expect(notes.store.graph.place(note, identity: [.decimal(DecimalNumber(2))]) != nil)
    }

    /// Sets `x` of the first tag.
    private static func setFirst(_ notes: MigratedNotes, _ value: Value) throws {
        for id in try notes.store.graph.objects(of: "Tag").prefix(1) { try notes.store.write { try $0.set(id, "x", to: value) } }
    }

    private static func decimal(_ text: String) -> Value { DecimalNumber(text).map { .decimal($0) } ?? .null }

    @Test(
        arguments: [
            (AttributeType.bool, Value.bool(true), AttributeType.int16, Value.int(1)), (.bool, .bool(false), .int64, .int(0)),
            (.int32, .int(1), .bool, .bool(true)), (.int64, .int(-9_007_199_254_740_992), .double, .double(-9_007_199_254_740_992)),
            (.int64, .int(16_777_216), .float, .float(16_777_216)), (.float, .float(0.1), .decimal, MigrationTests.decimal("0.1")),
            (.double, .double(-2.5e-7), .decimal, MigrationTests.decimal("-0.00000025")),
            (.decimal, MigrationTests.decimal("0.1"), .double, .double(0.1)), (.decimal, .decimal(.zero), .double, .double(0)),
            (.decimal, MigrationTests.decimal("0.1"), .float, .float(0.1)), (.double, .double(-3), .int16, .int(-3)),
            (.int64, .int(-32768), .int16, .int(-32768)), (.double, .double(0.5), .float, .float(0.5)),
            (.bool, .bool(true), .double, .double(1)),
            (.decimal, MigrationTests.decimal("9223372036854775807"), .int64, .int(.max)), (.float, .float(1), .bool, .bool(true)),
        ] as [(AttributeType, Value, AttributeType, Value)])
    func `a value with an exact equivalent in another type is converted`(
        from: AttributeType, value: Value, to: AttributeType, wanted: Value
    ) throws {
        let notes = try MigratedNotes()
        try notes.migrate { $0["Tag"][attribute: "x"] = AttributeDefinition("x", from, .optional) }
        try Self.setFirst(notes, value)
        try notes.migrate { $0["Tag"][attribute: "x"].type = to }
        #expect(try notes.values("Tag", "x") == [wanted, .null])
    }

    @Test(
        arguments: [
            (AttributeType.int16, Value.int(7), AttributeType.bool, Value.bool(true)), (.int32, .int(-1), .bool, .bool(true)),
            (.int64, .int(9_007_199_254_740_993), .double, .double(9_007_199_254_740_992)),
            (.int64, .int(.max), .double, .double(9_223_372_036_854_775_808)), (.int32, .int(16_777_217), .float, .float(16_777_216)),
            (.decimal, MigrationTests.decimal("0.12345678901234567890"), .double, .double(0.12345678901234567890)),
            (.decimal, MigrationTests.decimal("16777217"), .float, .float(16_777_216)), (.double, .double(0.1), .float, .float(0.1)),
            (.double, .double(-2.5), .int64, .int(-3)), (.decimal, MigrationTests.decimal("2.49"), .int16, .int(2)),
            (.float, .float(0.5), .bool, .bool(true)),
        ] as [(AttributeType, Value, AttributeType, Value)])
    func `a value without an exact equivalent is refused, unless the nearest one is accepted or a closure sets another`(
        from: AttributeType, value: Value, to: AttributeType, nearest: Value
    ) throws {
        let notes = try MigratedNotes()
        try notes.migrate { $0["Tag"][attribute: "x"] = AttributeDefinition("x", from, .optional) }
        try Self.setFirst(notes, value)
        let error = try notes.refusal { $0["Tag"][attribute: "x"].type = to }
        #expect(error?.description.contains("'x' is \(value.text), which has no exact equivalent of type \(to.rawValue)") == true)
        var definition = notes.store.schema.definition
        definition["Tag"][attribute: "x"].type = to
        #expect(try notes.store.previewMigration(to: definition).violations.count == 1)
        #expect(try notes.store.previewMigration(to: definition, conversion: .nearest).violations.isEmpty)
        try notes.store.migrate(to: definition, conversion: .nearest)
        try notes.migrate { _ in }
        #expect(try notes.values("Tag", "x") == [nearest, .null])
    }

    @Test(
        arguments: [
            (AttributeType.double, Value.double(1e300), AttributeType.decimal, Value.decimal(.zero)),
            (.int64, .int(32_768), .int16, .int(0)), (.double, .double(1e39), .float, .float(0)),
            (.decimal, MigrationTests.decimal("1e39"), .float, .float(0)), (.float, .float(9.3e18), .int64, .int(0)),
            (.decimal, MigrationTests.decimal("9223372036854775807.5"), .int64, .int(0)),
        ] as [(AttributeType, Value, AttributeType, Value)])
    func `a value beyond the range of a type is refused even if the nearest values are accepted`(
        from: AttributeType, value: Value, to: AttributeType, other: Value
    ) throws {
        let notes = try MigratedNotes()
        try notes.migrate { $0["Tag"][attribute: "x"] = AttributeDefinition("x", from, .optional) }
        try Self.setFirst(notes, value)
        var definition = notes.store.schema.definition
        definition["Tag"][attribute: "x"].type = to
        #expect(code { try notes.store.migrate(to: definition, conversion: .nearest) } == .ruleViolated)
        try notes.migrate({ $0["Tag"][attribute: "x"].type = to }) { before, transaction in
            for id in try before.objects(of: "Tag").prefix(1) { try transaction.set(id, "x", to: other) }
        }
        #expect(try notes.values("Tag", "x") == [other, .null])
    }

    @Test func `a replacement without content is automatic, and one with content is refused`() throws {
        let notes = try MigratedNotes()
        try notes.migrate { $0["Tag"][attribute: "x"] = AttributeDefinition("x", .string, .optional) }
        try notes.migrate { $0["Tag"][attribute: "x"].type = .int64 }
        try Self.setFirst(notes, .int(3))
        let error = try notes.refusal { $0["Tag"][attribute: "x"].type = .uuid }
        #expect(error?.code == .ruleViolated)
        #expect(try notes.values("Tag", "x") == [.int(3), .null])
    }

    @Test func `nulls of an attribute that becomes mandatory get its default or are refused`() throws {
        let notes = try MigratedNotes()
        let error = try notes.refusal { $0["Item"][attribute: "count"].presence = .mandatory }
        #expect(error?.code == .ruleViolated && error?.description.contains("Item/2 (b): 'count' must have a value") == true)
        let report = try notes.migrate {
            $0["Item"][attribute: "count"].presence = .mandatory
            $0["Item"][attribute: "count"].defaultValue = .number("7")
        }
        #expect(try notes.values("Item", "count") == [.int(1), .int(7), .int(3)])
        #expect(report.entries.contains { $0.change.aspect == "optional" && $0.objectCount == 1 })
        #expect(code { try notes.store.write { try $0.insert("Item", ["key": .string("d"), "count": .null]) } } == .ruleViolated)
    }

    @Test func `values that break the new rules are reported`() throws {
        let notes = try MigratedNotes()
        let error = try notes.refusal { $0["Note"][attribute: "title"].maxLength = 2 }
        #expect(error?.description.contains("Note/1 (1): 'title' is \"Paris\", which has a length of 5") == true)
        try notes.migrate { $0["Note"][attribute: "title"].maxLength = 5 }
    }

    @Test func `values are checked if only the encoding of the characters of a rule changes`() throws {
        let notes = try MigratedNotes()
        let id = try #require(try notes.store.graph.find("Note", identity: [.int(1)]))
        try notes.store.write { try $0.set(id, "title", to: .string("\u{E9}")) }
        try notes.migrate { $0["Note"][attribute: "title"].regex = "[0-9]*|\u{E9}" }
        let error = try notes.refusal { $0["Note"][attribute: "title"].regex = "[0-9]*|e\u{301}" }
        #expect(error?.code == .ruleViolated)
    }

    // MARK: Unique sets

    @Test func `a unique set is built, or its duplicates are reported`() throws {
        let notes = try MigratedNotes()
        let error = try notes.refusal { $0["Note"].unique = [["title"]] }
        #expect(error?.description.contains("'title' must be unique") == true)
        try notes.migrate { $0["Note"].unique = [["title", "id"]] }
        try notes.migrate {
            $0["Tag"].identity = []
            $0["Tag"].unique = [["name"]]
        }
        #expect(code { try notes.store.write { try $0.insert("Tag", ["name": .string("red")]) } } == .ruleViolated)
    }

    // MARK: Entities

    @Test func `removing an entity removes its objects and links, and nothing else`() throws {
        let notes = try MigratedNotes()
        let report = try notes.migrate {
            $0.entities.removeAll { $0.name == "Item" || $0.name == "Memo" }
            $0["Note"].relationships.removeAll { $0.name != "related" }
            $0["Tag"].relationships = []
        }
        #expect(notes.store.graph.objectCount == 5 && count(report, "Item") == [0, 3] && count(report, "Memo") == [0, 3])
        #expect(try notes.members("Note", "related") == [[2], [1], []])
    }

    @Test func `sub-entities come and go with their objects`() throws {
        let notes = try MigratedNotes()
        try notes.migrate {
            $0.entities.append(EntityDefinition("Letter", parent: "Note") { AttributeDefinition("to", .string, .optional) })
        }
        try notes.store.write { transaction in
            let letter = try transaction.insert("Letter", ["id": .int(9), "to": .string("Ann")])
            try transaction.link(letter, "items", transaction.insert("Item", ["key": .string("z")]))
        }
        try notes.check()
        let report = try notes.migrate { $0.entities.removeAll { $0.name == "Letter" } }
        #expect(count(report, "Letter") == [0, 1] && notes.store.graph.objectCount == 12)
        #expect(try notes.members("Item", "note") == [[1], [1], [2], []])
    }

    @Test func `an entity that has objects cannot become abstract`() throws {
        let notes = try MigratedNotes()
        #expect(try notes.refusal { $0["Note"].isAbstract = true }?.code == .ruleViolated)
        try notes.store.write { try $0.delete($0.draft.original.objects(of: $0.schema.required("Note")).map(\.self)) }
        try notes.migrate { $0["Note"].isAbstract = true }
    }

    @Test func `a member of a wrong entity is reported`() throws {
        let notes = try MigratedNotes()
        try notes.migrate { $0.entities.append(EntityDefinition("Letter", parent: "Note")) }
        let error = try notes.refusal { definition in
            definition["Note"][relationship: "related"].inverse = nil
            definition["Note"][relationship: "related"].destination = "Letter"
        }
        #expect(error?.code == .ruleViolated)
        try notes.migrate { $0["Memo"].relationships.append(RelationshipDefinition("about", to: "Note", .toOne)) }
        try notes.store.write {
            try $0.link(
                ObjectID(root: $0.schema.required("Memo").root, serial: 1), "about",
                ObjectID(root: $0.schema.required("Note").root, serial: 3))
        }
        let wrong = try notes.refusal { $0["Memo"][relationship: "about"].destination = "Letter" }
        #expect(wrong?.message.contains("Memo/1: 'about' holds objects of 'Letter', but Note/3 has another entity") == true)
    }

    // MARK: Relationships

    @Test func `links keep their members when their cardinality changes`() throws {
        let notes = try MigratedNotes()
        try notes.migrate { $0["Note"][relationship: "items"].cardinality = .orderedToMany }
        #expect(try notes.members("Note", "items") == [[1, 2], [3], []])
        try notes.migrate { $0["Note"][relationship: "memos"].cardinality = .toMany }
        #expect(try notes.members("Note", "memos") == [[1, 2, 3], [], []])
        try notes.migrate { $0["Item"][relationship: "note"].cardinality = .orderedToMany }
        #expect(try notes.members("Item", "note") == [[1], [1], [2]])
        try notes.migrate { $0["Tag"][relationship: "items"].cardinality = .orderedToMany }
        #expect(try notes.members("Tag", "items") == [[1, 2], [1]])
        #expect(try notes.members("Item", "tags") == [[1, 2], [1], []])
    }

    @Test func `adding or removing an inverse keeps the links`() throws {
        let notes = try MigratedNotes()
        try notes.migrate {
            $0["Item"][relationship: "tags"].inverse = nil
            $0["Tag"].remove("items")
        }
        #expect(try notes.members("Item", "tags") == [[1, 2], [1], []])
        try notes.migrate {
            $0["Item"][relationship: "tags"].inverse = "holders"
            $0["Tag"].relationships = [RelationshipDefinition("holders", to: "Item", .orderedToMany, inverse: "tags")]
        }
        #expect(try notes.members("Tag", "holders") == [[1, 2], [1]])
        try notes.migrate {
            $0["Note"][relationship: "items"].inverse = nil
            $0["Item"][relationship: "note"].inverse = nil
        }
        #expect(try notes.members("Note", "items") == [[1, 2], [3], []] && notes.members("Item", "note") == [[1], [1], [2]])
    }

    @Test func `both sides of a link keep their members if one of them gets a new inverse`() throws {
        let notes = try MigratedNotes()
        try notes.migrate {
            $0["Item"].relationships.append(RelationshipDefinition("owner", to: "Note", inverse: "items"))
            $0["Note"][relationship: "items"].inverse = "owner"
            $0["Item"][relationship: "note"].inverse = nil
        }
        #expect(try notes.members("Note", "items") == [[1, 2], [3], []] && notes.members("Item", "owner") == [[1], [1], [2]])
        #expect(try notes.members("Item", "note") == [[1], [1], [2]])
        try notes.store.write {
            let (note, item) = (try $0.schema.required("Note").root, try $0.schema.required("Item").root)
            try $0.link(ObjectID(root: item, serial: 1), "note", ObjectID(root: note, serial: 3))
        }
        try notes.check()
        #expect(try notes.members("Note", "items") == [[1, 2], [3], []] && notes.members("Item", "note") == [[3], [1], [2]])
        try notes.migrate {
            $0["Note"].relationships.append(RelationshipDefinition("parts", to: "Item", .orderedToMany, inverse: "note"))
            $0["Item"][relationship: "note"].inverse = "parts"
        }
        #expect(try notes.members("Note", "parts") == [[2], [3], [1]] && notes.members("Note", "items") == [[1, 2], [3], []])
    }
}
