import Cambium
import TestFixtures
import Testing

/// Edits whose relationships a migration has changed or removed.
extension EditMigrationTests {
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
}
