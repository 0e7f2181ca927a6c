import Cambium
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

    private func definition(_ list: RelationshipDefinition.Cardinality, _ owner: RelationshipDefinition.Cardinality) -> SchemaDefinition {
        SchemaDefinition {
            EntityDefinition("A") { RelationshipDefinition("list", to: "A", list) }
            EntityDefinition("B") { RelationshipDefinition("owner", to: "A", owner) }
        }
    }

    @Test func `an edit of an ordered relationship is committed after its order was removed`() throws {
        let store = try Store.inMemory(schema: try Schema(definition(.orderedToMany, .toOne)))
        let ids = try store.write { transaction in
            let ids = try (0..<4).map { _ in try transaction.insert("A") }
            for id in [ids[3], ids[1]] { try transaction.link(ids[0], "list", id) }
            return ids
        }.result
        var edit = store.edit()
        try edit.unlink(ids[0], "list", ids[1])
        try edit.link(ids[0], "list", ids[2], at: 1)
        try store.migrate(to: definition(.toMany, .toOne))
        try store.write { try $0.link(ids[0], "list", ids[0]) }
        try store.commit(&edit)
        #expect(try store.graph.members("list", of: ids[0]) == [ids[0], ids[2], ids[3]])
    }

    @Test func `an edit merges the members of a relationship that a migration has made ordered`() throws {
        let store = try Store.inMemory(schema: try Schema(definition(.toMany, .toOne)))
        let ids = try store.write { transaction in
            let ids = try (0..<4).map { _ in try transaction.insert("A") }
            try transaction.link(ids[0], "list", ids[1])
            return ids
        }.result
        var edit = store.edit()
        try edit.unlink(ids[0], "list", ids[1])
        try edit.link(ids[0], "list", ids[2])
        try store.migrate(to: definition(.orderedToMany, .toOne))
        try store.write { try $0.link(ids[0], "list", ids[3]) }
        #expect(edit.conflicts(with: store.graph).isEmpty)
        try store.commit(&edit)
        #expect(try store.graph.members("list", of: ids[0]) == [ids[3], ids[2]])
    }

    @Test func `an edit and the store may remove a member that a narrower destination no longer allows`() throws {
        func definition(_ destination: String) -> SchemaDefinition {
            SchemaDefinition {
                EntityDefinition("A") { RelationshipDefinition("list", to: destination, .toMany) }
                EntityDefinition("B")
                EntityDefinition("C", parent: "B")
            }
        }
        let store = try Store.inMemory(schema: try Schema(definition("B")))
        let (b, a) = try store.write { transaction in
            let b = try transaction.insert("B")
            return (b, try transaction.insert("A", links: ["list": [b]]))
        }.result
        var edit = store.edit()
        try edit.unlink(a, "list", b)
        try store.write { try $0.unlink(a, "list", b) }
        try store.migrate(to: definition("C"))
        try store.commit(&edit)
        #expect(try store.graph.members("list", of: a) == [])
    }

    @Test func `an edit removes only its own target of a relationship that now leads to many objects`() throws {
        let store = try Store.inMemory(schema: try Schema(definition(.toMany, .toOne)))
        let (first, second, b) = try store.write { transaction in
            let first = try transaction.insert("A")
            return (first, try transaction.insert("A"), try transaction.insert("B", links: ["owner": [first]]))
        }.result
        var edit = store.edit()
        try edit.unlink(b, "owner", first)
        try store.migrate(to: definition(.toMany, .toMany))
        try store.write { try $0.link(b, "owner", second) }
        try store.commit(&edit)
        #expect(try store.graph.members("owner", of: b) == [second])
    }

    /// Returns a schema with one or both of two relationships. If it has both, they are inverse unless `isSeparate` is true.
    private func pair(list: Bool, owner: Bool, isSeparate: Bool = false) -> SchemaDefinition {
        func lists() -> [any PropertyDefinition] {
            list ? [RelationshipDefinition("list", to: "B", .orderedToMany, inverse: owner && !isSeparate ? "owner" : nil)] : []
        }
        func owners() -> [any PropertyDefinition] {
            owner ? [RelationshipDefinition("owner", to: "A", inverse: list && !isSeparate ? "list" : nil)] : []
        }
        return SchemaDefinition {
            EntityDefinition("A", properties: lists)
            EntityDefinition("B", properties: owners)
        }
    }

    /// Makes an edit that moves two of three members from the first owner to the second owner, through one of two inverse relationships.
    private func move(through name: String) throws -> (store: Store, owners: [ObjectID], members: [ObjectID], edit: Edit) {
        let store = try Store.inMemory(schema: try Schema(pair(list: true, owner: true)))
        let (owners, members) = try store.write { transaction in
            let owners = try (0..<2).map { _ in try transaction.insert("A") }
            return (owners, try (0..<3).map { _ in try transaction.insert("B", links: ["owner": [owners[0]]]) })
        }.result
        var edit = store.edit()
        for member in members[1...].reversed() {
            if name == "owner" { try edit.link(member, name, owners[1]) } else { try edit.link(owners[1], name, member) }
        }
        try edit.unlink(members[0], "owner", owners[0])
        return (store, owners, members, edit)
    }

    @Test(arguments: ["list", "owner"])
    func `an edit is committed after the to-one relationship of a pair was removed`(name: String) throws {
        var (store, owners, members, edit) = try move(through: name)
        try store.migrate(to: pair(list: true, owner: false))
        try store.commit(&edit)
        #expect(try store.graph.members("list", of: owners[0]) == [])
        #expect(try store.graph.members("list", of: owners[1]) == [members[2], members[1]])
    }

    @Test(arguments: ["list", "owner"])
    func `an edit is committed after the ordered relationship of a pair was removed`(name: String) throws {
        var (store, owners, members, edit) = try move(through: name)
        try store.migrate(to: pair(list: false, owner: true))
        try edit.rebase(onto: store.graph)
        try store.commit(&edit)
        #expect(try members.map { try store.graph.members("owner", of: $0) } == [[], [owners[1]], [owners[1]]])
    }

    @Test(arguments: ["list", "owner"])
    func `an edit changes both relationships of a pair that a migration separated`(name: String) throws {
        var (store, owners, members, edit) = try move(through: name)
        try store.migrate(to: pair(list: true, owner: true, isSeparate: true))
        try store.commit(&edit)
        #expect(try owners.map { try store.graph.members("list", of: $0) } == [[], [members[2], members[1]]])
        #expect(try members.map { try store.graph.members("owner", of: $0) } == [[], [owners[1]], [owners[1]]])
    }

    @Test func `a pair of relationships that a migration removed is a conflict`() throws {
        var (store, _, _, edit) = try move(through: "owner")
        try store.migrate(to: pair(list: false, owner: false))
        #expect(code { try store.commit(&edit) } == .conflict)
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

    @Test(arguments: [false, true])
    func `the store wins a relationship that a migration removed`(isOrdered: Bool) throws {
        let store = try Store.inMemory(schema: try Schema(definition(isOrdered ? .orderedToMany : .toMany, .toOne)))
        let ids = try store.write { transaction in
            let ids = try (0..<3).map { _ in try transaction.insert("A") }
            try transaction.link(ids[0], "list", ids[1])
            return ids
        }.result
        var (removal, addition) = (store.edit(), store.edit())
        try removal.unlink(ids[0], "list", ids[1])
        try addition.link(ids[1], "list", ids[2])
        let new = try addition.insert("A", links: ["list": [ids[0]]])
        try store.migrate(to: SchemaDefinition { EntityDefinition("A") })
        #expect(removal.conflicts(with: store.graph).isEmpty)
        try store.commit(&removal)
        let conflicts = addition.conflicts(with: store.graph)
        #expect(conflicts.map(\.id) == [ids[1], new])
        #expect(conflicts.allSatisfy { !$0.canKeepMine })
        #expect(code { try store.commit(&addition, policy: .mine) } == .conflict)
        try store.commit(&addition, policy: .theirs)
        #expect(try store.graph.count(of: "A") == 4)
    }

    @Test func `a removed relationship does not take back the deletion of a member`() throws {
        var (store, _, members, edit) = try move(through: "owner")
        try edit.delete(members[0])
        try store.migrate(to: pair(list: false, owner: false))
        try store.commit(&edit, policy: .byProperty { $0.canKeepMine ? .mine : .theirs })
        #expect(members.map { store.graph.contains($0) } == [false, true, true])
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
