import Cambium
import CambiumLog
import CambiumTesting
import TestFixtures
import Testing

/// Every call that takes a target refuses a target of the wrong entity. The error is the same for all row numbers.
@Suite struct WrongTargetTests {
    /// Makes an item of a note and other objects in the row of that note, and more of them in other rows.
    private func filled() throws -> Store {
        let store = try Store.notes()
        try store.write { transaction in
            for number in 1...3 {
                let note = try transaction.insert("Note", ["id": .int(Int64(number))])
                let item = try transaction.insert("Item", ["key": .string("item \(number)")])
                let tag = try transaction.insert("Tag", ["name": .string("tag \(number)")])
                try transaction.link(note, "memos", transaction.insert("Memo"))
                try transaction.link(item, "note", note)
                try transaction.link(item, "tags", tag)
                try transaction.link(note, "related", note)
            }
        }
        return store
    }

    private func id(_ entity: String, _ serial: UInt64) throws -> ObjectID {
        ObjectID(root: try Notes.schema.required(entity).root, serial: serial)
    }

    private func error(_ body: () throws -> Void) -> CambiumError? {
        do {
            try body()
            return nil
        } catch { return error as? CambiumError }
    }

    @Test(arguments: [("Item", "note", "Tag"), ("Item", "tags", "Note"), ("Note", "memos", "Item"), ("Note", "related", "Tag")])
    func `every call refuses a target of another entity with the same error`(owner: String, name: String, wrong: String) throws {
        let relationship = try Notes.schema.required(owner).requiredRelationship(name)
        let (owner, digest) = (try id(owner, 1), try filled().graph.digest())
        let store = try filled()
        try store.write { transaction in
            for serial in UInt64(1)...3 {
                let target = try id(wrong, serial)
                let errors = [
                    error { try transaction.link(owner, relationship, target) },
                    error { try transaction.link(owner, relationship, target, at: 0) },
                    error { try transaction.unlink(owner, relationship, target) },
                    error { try transaction.move(owner, relationship, target, to: 0) },
                    error { try transaction.link(owner, name, target) },
                ]
                #expect(Set(errors.map { $0?.code }) == [.invalidInput])
                #expect(Set(errors.map { $0?.message }).count == 1 && errors[0]?.message.contains("\(wrong)/\(serial)") == true)
            }
        }
        #expect(store.graph.digest() == digest)
    }

    @Test func `a relationship of another entity is refused, even if the object has one with its number`() throws {
        let store = try filled()
        let item = try Notes.schema.required("Item")
        let (tags, items) = (try item.requiredRelationship("tags"), try Notes.schema.required("Tag").requiredRelationship("items"))
        #expect(item.relationship(items.number)?.name == "note")
        let digest = store.graph.digest()
        try store.write { transaction in
            let errors = [
                error { try transaction.link(try id("Note", 1), tags, try id("Tag", 1)) },
                error { try transaction.unlink(try id("Note", 1), tags, try id("Tag", 1)) },
                error { try transaction.move(try id("Note", 1), tags, try id("Tag", 1), to: 0) },
                error { try transaction.link(try id("Item", 1), items, try id("Note", 2)) },
            ]
            #expect(errors.map { $0?.code } == [.invalidInput, .invalidInput, .invalidInput, .invalidInput])
        }
        #expect(store.graph.digest() == digest)
    }

    @Test func `an attribute of another entity is refused, even if the object has one with its number and name`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Dog") { AttributeDefinition("name", .string, .optional) }
                EntityDefinition("Cat") { AttributeDefinition("name", .string, .optional) }
            })
        let store = try Store.create(MemoryVolume(), schema: schema, durability: .synced, environment: fixedEnvironment())
        let (dog, name) = (try schema.required("Dog"), try schema.required("Cat").requiredAttribute("name"))
        try store.write { transaction in
            let made = try transaction.insert(dog)
            #expect(error { try transaction.set(made, name, to: .string("Tom")) }?.code == .invalidInput)
            #expect(error { _ = try transaction.insert(dog, [(name, .string("Tom"))]) }?.code == .invalidInput)
        }
        #expect(store.graph.objectCount == 1)
    }

    // MARK: Imports

    private static let animals: Schema? = try? Schema(
        SchemaDefinition {
            EntityDefinition("Animal", identity: ["name"]) {
                AttributeDefinition("name", .string)
                RelationshipDefinition("prey", to: "Cat", .toMany)
            }
            EntityDefinition("Cat", parent: "Animal") { RelationshipDefinition("enemy", to: "Dog") }
            EntityDefinition("Dog", parent: "Animal") { RelationshipDefinition("friends", to: "Dog", .toMany) }
        })

    @Test(arguments: [
        (#"{"name":"a","enemy":"a"}"#, ImportReport.RowError.Code.ruleViolated),
        (#"{"name":"a","enemy":{"name":"b","friends":["a"]}}"#, .ruleViolated),
        (#"{"name":"a","enemy":{"name":"a"}}"#, .duplicate),
        (#"{"name":"b","enemy":"old"}"#, .ruleViolated),
    ])
    func `a row does not link a new object to a relationship of another entity`(row: String, code: ImportReport.RowError.Code) throws {
        let schema = try #require(Self.animals)
        let store = try Store.create(MemoryVolume(), schema: schema, durability: .synced, environment: fixedEnvironment())
        try store.importing("Cat", #"{"name":"old"}"#)
        #expect(store.refusal("Cat", row)?.code == code)
        #expect(store.graph.objectCount == 1)
        try store.importing("Cat", #"{"name":"a","prey":["a","c"],"enemy":{"name":"b","friends":["b"]}}"#)
        #expect(store.graph.objectCount == 4 && store.graph.invariantFindings() == [])
    }

    @Test func `objects of one row with different identity attributes are different objects`() throws {
        let schema = try Schema(
            SchemaDefinition {
                EntityDefinition("Part")
                EntityDefinition("Wheel", parent: "Part", identity: ["size"]) {
                    AttributeDefinition("size", .string)
                    RelationshipDefinition("tyre", to: "Tyre")
                }
                EntityDefinition("Tyre", parent: "Part", identity: ["brand"]) { AttributeDefinition("brand", .string) }
            })
        let store = try Store.create(MemoryVolume(), schema: schema, durability: .synced, environment: fixedEnvironment())
        try store.importing("Wheel", #"{"size":"a","tyre":"a"}"#)
        #expect(try store.graph.count(of: schema.required("Wheel")) == 1 && store.graph.count(of: schema.required("Tyre")) == 1)
        #expect(store.graph.invariantFindings() == [])
    }
}
