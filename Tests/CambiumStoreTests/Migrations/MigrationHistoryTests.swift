import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

@Suite struct MigrationHistoryTests {
    /// Applies three schemas to a store, with changes under each of them.
    private func history(_ notes: MigratedNotes, checkpoints: Bool = false) throws {
        try notes.migrate {
            $0["Note"][attribute: "title"].formerName = "title"
            $0["Note"][attribute: "title"].name = "name"
            $0["Note"].attributes.append(AttributeDefinition("done", .bool, default: false))
        }
        if checkpoints { try notes.store.checkpoint() }
        try notes.store.write { try $0.insert("Note", ["id": .int(4), "name": .string("Rome")]) }
        try notes.migrate {
            $0["Note"].remove("rating")
            $0["Item"][attribute: "count"].type = .int64
            $0["Note"][relationship: "items"].cardinality = .orderedToMany
        }
        try notes.store.write { try $0.insert("Item", ["key": .string("d"), "count": .int(1 << 40)]) }
    }

    @Test func `a moment has the schema of its time`() throws {
        let notes = try MigratedNotes()
        let first = notes.store.graph
        try notes.store.label("before")
        try history(notes)
        let then = try ReadOnlyStore(notes.volume, point: .label("before")).graph
        #expect(then.schema.definition == Notes.schema.definition && then.digest() == first.digest())
        #expect(then.export == first.export && first.invariantFindings() == [])
        let between = try ReadOnlyStore(notes.volume, point: .transaction(TransactionNumber(rawValue: first.transaction.rawValue + 2)))
            .graph
        #expect(between.schema.entity("Note")?.attribute("name") != nil && between.schema.entity("Note")?.attribute("rating") != nil)
        #expect(notes.store.graph.schema.entity("Note")?.attribute("rating") == nil)
    }

    @Test(arguments: [false, true]) func `a migrated store opens with and without a later checkpoint`(_ isAfter: Bool) throws {
        let notes = try MigratedNotes()
        try notes.store.checkpoint()
        try history(notes, checkpoints: true)
        if isAfter { try notes.store.checkpoint() }
        try notes.store.close()
        let again = try Store.open(MemoryVolume(contents: notes.volume.contents), durability: nil)
        #expect(again.recovery.checkpoint > .none && (again.recovery.transactionCount == 0) == isAfter)
        #expect(again.graph.digest() == notes.store.graph.digest() && again.graph.export == notes.store.graph.export)
        var less = again.schema.definition
        less["Note"].remove("created")
        try again.migrate(to: less)
        #expect(again.graph.invariantFindings() == [])
        let verification = try Verification(notes.volume)
        #expect(verification.findings == [])
    }

    @Test func `a follower changes its schema with the store`() throws {
        let notes = try MigratedNotes()
        let follower = try StoreFollower(notes.volume)
        let before = follower.graph
        try history(notes)
        try follower.advance()
        #expect(follower.graph.digest() == notes.store.graph.digest())
        #expect(follower.graph.schema.catalog == notes.store.schema.catalog && before.schema.catalog == Notes.schema.catalog)
    }

    @Test func `a mirror receives the migrations, too`() throws {
        let notes = try MigratedNotes()
        let target = MemoryVolume()
        _ = try Store.apply(from: notes.volume, to: target, environment: fixedEnvironment(seed: 9))
        try history(notes)
        let report = try Store.apply(from: notes.volume, to: target, environment: fixedEnvironment(seed: 10))
        #expect(report.appliedCount == 4 && report.digest == notes.store.graph.digest())
        #expect(try Verification(target).root == Verification(notes.volume).root)
    }

    @Test func `copies up to a moment and repairs replay migrations`() throws {
        let notes = try MigratedNotes()
        try history(notes)
        let last = notes.store.graph.transaction
        let target = MemoryVolume()
        _ = try Backup(
            notes.volume, to: target, last: TransactionNumber(rawValue: last.rawValue - 1), environment: fixedEnvironment(seed: 7))
        #expect(try Store.open(target, durability: nil).schema.catalog == notes.store.schema.catalog)
        let saved = MemoryVolume()
        let repair = try Repair(notes.volume, to: saved, environment: fixedEnvironment(seed: 8))
        #expect(repair.findings == [] && repair.objectCount == notes.store.graph.objectCount)
    }

    @Test func `transactions retired before a migration are not needed after it`() throws {
        let notes = try MigratedNotes()
        try history(notes)
        try notes.store.compact(.checkpoints(1))
        try notes.migrate { $0["Note"].remove("created") }
        try notes.store.close()
        let again = try Store.open(MemoryVolume(contents: notes.volume.contents), durability: nil)
        #expect(again.graph.digest() == notes.store.graph.digest())
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: [false, true], [false, true])
    func `a crash leaves a migration whole or not at all`(hasProgram: Bool, hasMemory: Bool) throws {
        let memory = hasMemory ? MemoryBudget.standard : MemoryBudget(byteCount: 0)
        let whole = FaultyVolume()
        let before = try Self.made(whole).graph
        let begun = whole.operationCount
        let after = try Self.migrate(whole, hasProgram, memory)
        #expect(whole.operationCount > begun + 10 && after.digest() != before.digest())
        for operation in begun...whole.operationCount {
            let volume = FaultyVolume()
            _ = try Self.made(volume)
            volume.crash(at: operation)
            _ = try? Self.migrate(volume, hasProgram, memory)  // The test examines the files after the crash.
            for seed in 0..<UInt64(4) {
                let place = "operation \(operation), seed \(seed)"
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                let opened = try Store.open(disk, durability: nil, environment: fixedEnvironment(seed: 7), tuning: .tiny, memory: memory)
                let isAfter = opened.graph.transaction > before.transaction
                let expected = isAfter ? after : before
                #expect(opened.graph.export == expected.export && opened.schema.catalog == expected.schema.catalog, "\(place)")
                #expect(opened.graph.invariantFindings() == [], "\(place)")
                try opened.close()
                #expect(try Verification(disk).isSound, "\(place)")
                if isAfter { continue }
                // A migration that left nothing can be repeated.
                #expect(try Self.migrate(disk, hasProgram, memory).export == after.export, "\(place)")
            }
        }
    }

    @Test func `a failed write rolls back a migration and its schema`() throws {
        var rolledBackCount = 0
        for operation in 0..<12 {
            let volume = FaultyVolume()
            _ = try Self.made(volume)
            let store = try Store.open(volume, durability: .synced, environment: fixedEnvironment(seed: 5), tuning: .tiny)
            let (schema, export) = (store.schema.catalog, store.graph.export)
            volume.fail(at: volume.operationCount + operation, with: 5)
            do {
                try store.migrate(to: .notes { $0["Note"].attributes.append(AttributeDefinition("done", .bool, default: true)) })
                #expect(store.schema.entity("Note")?.attribute("done") != nil)
            } catch {
                rolledBackCount += 1
                #expect(store.schema.catalog == schema && store.graph.export == export, "operation \(operation)")
            }
            #expect(store.graph.invariantFindings() == [])
            store.abandon()
            volume.recover()
            let again = try Store.open(volume, durability: .synced, environment: fixedEnvironment(seed: 6), tuning: .tiny)
            #expect(again.graph.objectCount == 5 && again.graph.invariantFindings() == [])
            try again.write { try $0.insert("Note", ["id": .int(99)]) }
            try again.close()
            let verification = try Verification(volume)
            #expect(verification.isSound, "operation \(operation): \(verification.findings)")
        }
        #expect(rolledBackCount > 0)
    }

    private static func made(_ volume: FaultyVolume) throws -> Store {
        let store = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: .tiny)
        for number in 0..<5 { try store.write { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")]) } }
        try store.close()
        return store
    }

    /// Renames and adds attributes, orders a relationship and makes a name unique. With a closure, it also changes the type of an
    /// attribute. The checkpoint has the schema as well.
    private static func migrate(_ volume: any Volume, _ hasProgram: Bool, _ memory: MemoryBudget) throws -> Graph {
        let store = try Store.open(volume, durability: .synced, environment: fixedEnvironment(seed: 5), tuning: .tiny, memory: memory)
        let definition = SchemaDefinition.notes {
            $0["Note"][attribute: "title"].formerName = "title"
            $0["Note"][attribute: "title"].name = "name"
            $0["Note"].attributes.append(AttributeDefinition("done", .bool, default: true))
            $0["Note"][relationship: "items"].cardinality = .orderedToMany
            $0["Note"].unique = [["name"]]
            if hasProgram { $0["Note"][attribute: "rating"].type = .string }
        }
        if hasProgram {
            try store.migrate(to: definition) { before, transaction in
                for id in before.objects(of: try before.schema.required("Note")) {
                    try transaction.set(id, "rating", to: .string("rated \(id.serial)"))
                    try transaction.link(id, "items", transaction.insert("Item", ["key": .string("item \(id.serial)")]))
                }
            }
        } else {
            try store.migrate(to: definition)
        }
        try store.checkpoint()
        try store.close()
        return store.graph
    }

    // MARK: Foreign logs

    /// Returns a text of settings with the checksum of its content.
    private static func checked(_ settings: String) -> [UInt8] {
        let content = Array(settings.prefix(upTo: settings.firstRange(of: ",\"check\"")?.lowerBound ?? settings.endIndex).utf8)
        let checksum = String(CRC32C.checksum(content), radix: 16)
        return content + Array(",\"check\":\"\(String(repeating: "0", count: 8 - checksum.count) + checksum)\"}\n".utf8)
    }

    @Test func `a later format is refused with its number, and nothing is written`() throws {
        let notes = try MigratedNotes()
        try notes.store.close()
        var contents = notes.volume.contents
        let settings = String(decoding: try StoreSettings.read(notes.volume).encode(), as: UTF8.self)
        contents[StoreSettings.fileName] = Self.checked(settings.replacing("\"format\":2", with: "\"format\":7"))
        let volume = MemoryVolume(contents: contents)
        let error = #expect(throws: CambiumError.self) { try Store.open(volume, durability: nil) }
        #expect(error?.code == .unsupportedFormat && error?.message.contains("format 7") == true)
        #expect(volume.contents.filter { $0.key != LogWriter.lockFileName } == contents.filter { $0.key != LogWriter.lockFileName })
    }

    @Test func `a schema in the log that no migration leads to is refused`() throws {
        let notes = try MigratedNotes()
        func refusal(_ text: String, _ other: String) throws -> CambiumError.Code? {
            let json = String(decoding: notes.store.schema.catalog.json, as: UTF8.self)
            let changed = json.replacing(text, with: other)
            #expect(changed != json)
            return code {
                _ = try notes.store.transact(Author()) { try $0.draft.apply(.schema(SchemaCatalog(json: Array(changed.utf8)))) }
            }
        }
        #expect(try refusal(#""number":3,"type":"double""#, #""number":3,"type":"uuid""#) == .invalidInput)
        #expect(try refusal(#","inverse":"related""#, "") == .invalidInput)
        #expect(try refusal(#""entities""#, #""nothing""#) == .corrupted)
        let middle = code {
            _ = try notes.store.transact(Author()) { transaction in
                _ = try transaction.insert("Item", ["key": .string("k")])
                try transaction.draft.apply(.schema(Notes.schema.catalog))
            }
        }
        #expect(middle == .invalidInput)
        try notes.check()
    }
}
