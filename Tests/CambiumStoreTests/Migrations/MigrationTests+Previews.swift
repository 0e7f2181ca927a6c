import Cambium
import TestFixtures
import Testing

@testable import CambiumLog

/// Migrations with a closure, previews of migrations, and repeated ones.
extension MigrationTests {
    @Test func `a change that is not automatic needs a closure, which sees the old and the new graph`() throws {
        let notes = try MigratedNotes()
        let change = { (definition: inout SchemaDefinition) in
            definition["Note"][attribute: "title"].type = .int64
            definition["Note"][attribute: "title"].defaultValue = nil
        }
        let error = try notes.refusal(change)
        #expect(error?.code == .ruleViolated && error?.description.contains("Note.title") == true)
        #expect(code { try notes.migrate(change, program: { _, _ in }) } == .ruleViolated, "the mandatory values are still missing")
        let report = try notes.migrate(change) { before, transaction in
            let old = try before.schema.required("Note")
            for id in before.objects(of: old) {
                guard case .string(let text)? = before.value(of: try old.requiredAttribute("title"), of: id) else { continue }
                try transaction.set(id, "title", to: .int(Int64(text) ?? -1))
            }
        }
        #expect(try notes.values("Note", "title") == [.int(-1), .int(12), .int(12)])
        #expect(report.entries.first?.handling == .program && count(report, "Note.title") == [0, 3])
    }

    @Test func `a program that throws leaves nothing`() throws {
        struct Stop: Error {}
        let notes = try MigratedNotes()
        let before = notes.store.graph.transaction
        #expect(throws: Stop.self) { try notes.migrate({ $0["Note"].remove("title") }, program: { _, _ in throw Stop() }) }
        #expect(notes.store.graph.transaction == before && notes.store.schema.entity("Note")?.attribute("title") != nil)
        try notes.check()
    }

    // MARK: Requests and previews

    @Test func `setting the current schema makes no transaction`() throws {
        let notes = try MigratedNotes()
        let before = notes.store.graph.transaction
        let report = try notes.migrate { _ in }
        #expect(report.isEmpty && report.transaction == nil && notes.store.graph.transaction == before)
    }

    @Test func `a preview reports all changes and violations, and writes nothing`() throws {
        let notes = try MigratedNotes()
        let before = notes.volume.contents
        let report = try notes.store.previewMigration(
            to: .notes {
                $0["Note"].unique = [["title"]]
                $0["Note"].remove("rating")
            })
        #expect(report.isRefused && report.violations.count == 1 && count(report, "Note.rating") == [0, 1])
        let other = try notes.store.previewMigration(to: .notes { $0["Note"][attribute: "rating"].type = .uuid })
        #expect(other.isRefused && other.entries.map(\.handling).contains(.refused))
        #expect(try !notes.store.previewMigration(to: .notes { $0["Note"].remove("rating") }).isRefused)
        #expect(notes.volume.contents == before)
        try notes.check()
    }

    @Test func `a broken rule of an inherited relationship is reported for 10,000 objects of all sub-entities`() throws {
        func definition(min: Int?) -> SchemaDefinition {
            SchemaDefinition {
                EntityDefinition("Base", .abstract) { RelationshipDefinition("others", to: "Base", .toMany, min: min) }
                EntityDefinition("A", parent: "Base")
                EntityDefinition("B", parent: "Base")
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition(min: nil)))
        try store.write { transaction in
            for entity in ["A", "B"] { for _ in 0..<5_001 { try transaction.insert(entity) } }
        }
        let violations = try store.previewMigration(to: definition(min: 1)).violations
        #expect(violations.count == 10_000 && violations.contains { $0.hasPrefix("A/") } && violations.contains { $0.hasPrefix("B/") })
    }

    @Test func `a rule that an object breaks is reported once, even if the migration unlinks the object`() throws {
        func definition(min: Int, _ presence: AttributeDefinition.Presence, _ others: [EntityDefinition]) -> SchemaDefinition {
            let owner = EntityDefinition("Owner") {
                AttributeDefinition("name", .string, presence)
                RelationshipDefinition("items", to: "Item", .toMany, inverse: "owner", min: min)
            }
            let item = EntityDefinition("Item") { RelationshipDefinition("owner", to: "Owner", inverse: "items") }
            return SchemaDefinition(entities: [owner, item] + others)
        }
        let store = try Store.inMemory(schema: try Schema(definition(min: 1, .optional, [EntityDefinition("Part", parent: "Item")])))
        try store.write { transaction in
            let items = [try transaction.insert("Item"), try transaction.insert("Part")]
            try transaction.insert("Owner", links: ["items": items])
        }
        let violations = try store.previewMigration(to: definition(min: 2, .mandatory, [])).violations
        #expect(violations == ["Owner/1: 'name' must have a value", "Owner/1: 'items' has too few members: 1 of at least 2"])
    }

    @Test func `a preview estimates how long the lock would be held, and a finished migration does not`() throws {
        let notes = try MigratedNotes()
        let preview = try notes.store.previewMigration(to: .notes { $0["Note"].remove("rating") })
        #expect(try #require(preview.expectedHold) > .zero)
        #expect(try notes.migrate { $0["Note"].remove("rating") }.expectedHold == nil)
        #expect(notes.store.metrics.longestHolds.contains { $0.use == .migration })
        let memory = try Store.inMemory(schema: Notes.schema)
        #expect(try memory.previewMigration(to: Notes.definition).expectedHold != nil)
    }

    @Test func `a preview never holds the lock of the writer for a migration`() throws {
        let notes = try MigratedNotes()
        let before = notes.store.metrics.longestHolds.filter { $0.use == .migration }
        _ = try notes.store.previewMigration(to: .notes { $0["Note"].remove("rating") })
        #expect(before.isEmpty && notes.store.metrics.longestHolds.allSatisfy { $0.use != .migration })
    }

    @Test func `a repeated request changes the schema only once`() throws {
        let notes = try MigratedNotes()
        let definition = SchemaDefinition.notes { $0["Note"].remove("rating") }
        try notes.store.migrate(to: definition, Author(actor: "jane", requestID: "m"))
        #expect(code { try notes.store.migrate(to: Notes.schema.definition, Author(requestID: "m")) } == .repeated)
    }

    @Test func `every mistake of a definition is reported with its place`() throws {
        let notes = try MigratedNotes()
        let error = try notes.refusal {
            $0["Note"].identity = ["none"]
            $0["Item"][relationship: "note"].destination = "Nobody"
        }
        let message = error?.description ?? ""
        #expect(
            error?.code == .invalidInput && message.contains("/entities/Note/identity/0") && message.contains("Item/relationships/note/to"))
    }
}
