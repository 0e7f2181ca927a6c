import Cambium
import TestFixtures
import Testing

/// Edits whose base has an earlier schema than the store.
@Suite struct EditMigrationTests {
    private func prepare(_ change: (inout Edit, ObjectID) throws -> Void) throws -> (store: Store, id: ObjectID, edit: Edit) {
        let old = SchemaDefinition {
            EntityDefinition("A") {
                AttributeDefinition("name", .string, default: "")
                AttributeDefinition("size", .int32, .optional)
            }
        }
        let store = try Store.inMemory(schema: try Schema(old))
        let id = try store.write { try $0.insert("A") }.result
        var edit = store.edit()
        try change(&edit, id)
        return (store, id, edit)
    }

    @Test func `an edit follows renamed and widened attributes`() throws {
        var (store, id, edit) = try prepare { edit, id in
            try edit.set(id, "name", to: "a")
            try edit.set(id, "size", to: 3)
            _ = try edit.insert("A", ["name": "b"])
        }
        try store.migrate(
            to: SchemaDefinition {
                EntityDefinition("A") {
                    AttributeDefinition("title", .string, default: "", renamedFrom: "name")
                    AttributeDefinition("size", .int64, .optional)
                }
            })
        try store.commit(&edit)
        #expect(try store.graph[id, "title"] == "a")
        #expect(try store.graph[id, "size"] == 3)
        #expect(try store.graph.count(of: "A") == 2)
    }

    @Test func `an edit follows attributes whose values have another form in the wider type`() throws {
        func definition(_ weight: AttributeType, _ price: AttributeType, _ page: AttributeType) -> SchemaDefinition {
            SchemaDefinition {
                EntityDefinition("A") {
                    AttributeDefinition("weight", weight, .optional)
                    AttributeDefinition("price", price, .optional)
                    AttributeDefinition("page", page, .optional)
                }
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition(.float, .int32, .uri)))
        let (id, other) = try store.write { (try $0.insert("A"), try $0.insert("A")) }.result
        var edit = store.edit()
        try edit.set(id, "weight", to: .float(2.5))
        try edit.set(id, "price", to: 3)
        try edit.set(id, "page", to: .uri("a:b"))
        try edit.set(other, "weight", to: .float(0.5))
        let new = try edit.insert("A", ["weight": .float(1.5)])
        try store.migrate(to: definition(.double, .decimal, .string))
        try store.write { try $0.set(other, "weight", to: .double(0.5)) }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        let committed = try store.commit(&edit)
        #expect(try store.graph[id, "weight"] == .double(2.5))
        #expect(try store.graph[id, "price"] == .decimal(DecimalNumber(3)))
        #expect(try store.graph[id, "page"] == .string("a:b"))
        #expect(try store.graph[other, "weight"] == .double(0.5))
        #expect(try store.graph[committed.id(of: new), "weight"] == .double(1.5))
    }

    @Test func `a conflict after a migration has all values in the wider type`() throws {
        struct Parcel: BlankRecord {
            var weight: Double?
            var ref: Ref<Parcel>?
            static let recordSchema = RecordSchema<Parcel>("A") { RecordProperty("weight", \.weight) }
        }
        func definition(_ weight: AttributeType) -> SchemaDefinition {
            SchemaDefinition { EntityDefinition("A") { AttributeDefinition("weight", weight, .optional) } }
        }
        let store = try Store.inMemory(schema: try Schema(definition(.float)))
        let id = try store.write { try $0.insert("A", ["weight": .float(0.5)]) }.result
        var edit = store.edit()
        try edit.set(id, "weight", to: .float(1.5))
        try store.migrate(to: definition(.double))
        try store.write { try $0.set(id, "weight", to: .double(2.5)) }
        let weights = try #require(try edit.conflicts(with: store.graph).first?.values(of: \Parcel.weight))
        #expect([weights.base, weights.mine, weights.theirs] == [0.5, 1.5, 2.5])
    }

    @Test func `a conflict concerns a renamed property under its new name, and under a former name that is free`() throws {
        struct Old: BlankRecord {
            var name = ""
            var size: Int?
            var ref: Ref<Old>?
            static let recordSchema = RecordSchema<Old>("A") {
                RecordProperty("name", \.name)
                RecordProperty("size", \.size)
            }
        }
        struct New: BlankRecord {
            var title = ""
            var name: Int?
            var ref: Ref<New>?
            static let recordSchema = RecordSchema<New>("B") {
                RecordProperty("title", \.title)
                RecordProperty("name", \.name)
            }
        }
        let (store, id, edit) = try prepare { edit, id in
            try edit.set(id, "name", to: "a")
            try edit.set(id, "size", to: 3)
        }
        try store.migrate(
            to: SchemaDefinition {
                EntityDefinition("B", renamedFrom: "A") {
                    AttributeDefinition("title", .string, default: "", renamedFrom: "name")
                    AttributeDefinition("name", .int32, .optional, renamedFrom: "size")
                }
            })
        try store.write { transaction in
            try transaction.set(id, "title", to: "b")
            try transaction.set(id, "name", to: 4)
        }
        let conflicts = edit.conflicts(with: store.graph)
        #expect(conflicts.map { $0.concerns(\New.title) } == [true, false])
        #expect(conflicts.map { $0.concerns(\New.name) } == [false, true])
        #expect(conflicts.map { $0.concerns(\Old.size) } == [false, true])
        #expect(try conflicts.first?.values(of: \New.title)?.theirs == "b")
    }

    @Test func `an inserted object keeps its values if a migration changes the defaults`() throws {
        func definition(name: Value, size: Value?, code: AttributeDefinition) -> SchemaDefinition {
            SchemaDefinition {
                EntityDefinition("A") {
                    AttributeDefinition("name", .string, default: name)
                    AttributeDefinition("size", .int64, .optional, default: size)
                    code
                }
            }
        }
        let store = try Store.inMemory(
            schema: try Schema(definition(name: "", size: nil, code: AttributeDefinition("code", .string, default: ""))))
        var edit = store.edit()
        let inserted = try edit.insert("A", ["name": ""])
        let code = AttributeDefinition("code", .string, default: "none", minLength: 1)
        try store.migrate(to: definition(name: "new", size: 7, code: code))
        try edit.rebase(onto: store.graph)
        #expect(try edit[inserted, "name"] == "")
        let id = try store.commit(&edit).id(of: inserted)
        #expect(try store.graph[id, "name"] == "")
        #expect(try store.graph[id, "size"] == .null)
        #expect(try store.graph[id, "code"] == "none")
    }

    @Test func `an edit follows names although the newest schema does not state the former names`() throws {
        func definition(_ entity: String, _ link: String, _ attribute: String, isRenamed: Bool) -> SchemaDefinition {
            SchemaDefinition {
                EntityDefinition(entity, renamedFrom: isRenamed ? "A" : nil) {
                    AttributeDefinition(attribute, .string, default: "", renamedFrom: isRenamed ? "name" : nil)
                    RelationshipDefinition(link, to: entity, .toMany, renamedFrom: isRenamed ? "others" : nil)
                }
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition("A", "others", "name", isRenamed: false)))
        let id = try store.write { try $0.insert("A") }.result
        var edit = store.edit()
        try edit.set(id, "name", to: "a")
        let new = try edit.insert("A", ["name": "b"], links: ["others": [id]])
        try store.migrate(to: definition("B", "links", "title", isRenamed: true))
        try store.migrate(to: definition("B", "links", "title", isRenamed: false))
        let committed = try store.commit(&edit)
        #expect(try store.graph[id, "title"] == "a")
        #expect(try store.graph[committed.id(of: new), "title"] == "b")
        #expect(try store.graph.members("links", of: committed.id(of: new)) == [id])
    }

    @Test func `an attribute that a migration removed is a conflict`() throws {
        var (store, id, edit) = try prepare { edit, id in
            try edit.set(id, "size", to: 3)
            try edit.set(id, "name", to: "a")
        }
        try store.migrate(to: SchemaDefinition { EntityDefinition("A") { AttributeDefinition("size", .int32, .optional) } })
        #expect(code { try store.commit(&edit) } == .conflict)
        #expect(try edit[id, "name"] == "a")
        edit.undo()
        try store.commit(&edit)
        #expect(try store.graph[id, "size"] == 3)
    }

    @Test func `the store wins an attribute that a migration removed, whatever value it had`() throws {
        var (store, id, edit) = try prepare { edit, id in
            try edit.set(id, "size", to: 3)
            try edit.set(id, "name", to: "a")
        }
        let new = try edit.insert("A", ["name": "b", "size": 4])
        try store.migrate(to: SchemaDefinition { EntityDefinition("A") })
        let conflicts = edit.conflicts(with: store.graph)
        #expect(conflicts.map(\.id) == [id, id, new, new])
        #expect(conflicts.allSatisfy { !$0.canKeepMine })
        #expect(conflicts.first?.description == "A/1.name: the edit changes the property, which a migration has removed")
        #expect(code { try store.commit(&edit, policy: .mine) } == .conflict)
        try edit.rebase(onto: store.graph, policy: .theirs)
        try store.commit(&edit)
        #expect(try store.graph.count(of: "A") == 2)
    }

    @Test func `a null in an attribute that a migration removed is not a conflict`() throws {
        let (store, id, _) = try prepare { _, _ in }
        try store.write { try $0.set(id, "size", to: 3) }
        var edit = store.edit()
        try edit.set(id, "size", to: .null)
        try edit.set(id, "name", to: "a")
        try store.migrate(to: SchemaDefinition { EntityDefinition("A") { AttributeDefinition("name", .string, default: "") } })
        try store.commit(&edit)
        #expect(try store.graph[id, "name"] == "a")
    }

    @Test func `a value that the new schema forbids is refused`() throws {
        var (store, id, edit) = try prepare { edit, id in try edit.set(id, "size", to: 30) }
        try store.migrate(
            to: SchemaDefinition {
                EntityDefinition("A") {
                    AttributeDefinition("name", .string, default: "")
                    AttributeDefinition("size", .int32, .optional, max: 10)
                }
            })
        #expect(code { try store.commit(&edit) } == .ruleViolated)
        #expect(try store.graph[id, "size"] == .null)
    }
}
