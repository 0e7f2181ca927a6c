import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumEdits

/// Edits with tracked reads are serializable, and what a caller states is a change, also if the base has it already.
@Suite struct EditSerializabilityTests {
    private let store: Store
    private let (first, second): (ObjectID, ObjectID)

    init() throws {
        store = try Store.inMemory(
            schema: Schema {
                EntityDefinition("A", identity: ["k"]) {
                    AttributeDefinition("k", .int64)
                    AttributeDefinition("v", .int64, .optional)
                    RelationshipDefinition("tags", to: "A", .toMany)
                    RelationshipDefinition("parent", to: "A", inverse: "children")
                    RelationshipDefinition("children", to: "A", .toMany, inverse: "parent")
                    RelationshipDefinition("order", to: "A", .orderedToMany)
                }
            })
        (first, second) = try store.write { transaction in
            (try transaction.insert("A", ["k": 1, "v": 0]), try transaction.insert("A", ["k": 2, "v": 7]))
        }.result
    }

    private func code(_ edit: Edit, _ policy: EditPolicy = .error) throws -> CambiumError.Code? {
        var edit = edit
        do { try store.commit(&edit, policy: policy) } catch let error as CambiumError { return error.code }
        return nil
    }

    @Test(arguments: EditRun.seeds(3, from: 1))
    func `programs with tracked reads that commit lead to the result of the newer graph`(seed: UInt64) throws {
        var (committed, conflicts) = (0, 0)
        for number in 0..<(LongTests.areWanted ? 2_000 : 120) {
            let run = try DependentEditRun(seed: seed * 10_000 + UInt64(number))
            guard let (interleaved, sequential) = try run.outcomes() else { continue }
            if interleaved == .refused(.conflict) {
                conflicts += 1
            } else {
                committed += 1
                try #require(interleaved == sequential, "program \(seed * 10_000 + UInt64(number))")
            }
        }
        #expect(committed > 10)
        #expect(conflicts > 10)
    }

    @Test func `two increments of a value that both edits have read are a conflict`() throws {
        var edits = [store.edit(tracking: .writesAndReads), store.edit(tracking: .writesAndReads)]
        for index in edits.indices {
            guard case .int(let value) = try edits[index][first, "v"] else { continue }
            try edits[index].set(first, "v", to: .int(value + 1))
        }
        #expect(try code(edits[0]) == nil)
        #expect(try code(edits[1]) == .conflict)
        #expect(try store.graph[first, "v"] == 1)
    }

    @Test func `two toggles of a member that both edits have read are a conflict`() throws {
        var edits = [store.edit(tracking: .writesAndReads), store.edit(tracking: .writesAndReads)]
        for index in edits.indices where try !edits[index].members("tags", of: first).contains(second) {
            try edits[index].link(first, "tags", second)
        }
        #expect(try code(edits[0]) == nil)
        #expect(try code(edits[1]) == .conflict)
    }

    @Test(
        arguments: [
            { @Sendable edit in _ = try edit.count(of: "A") }, { edit in _ = try edit.objects(of: "A") },
            { edit in _ = try edit.find("A", identity: [3]) },
        ] as [@Sendable (Edit) throws -> Void])
    func `counts, lists and searches conflict with an object that the store inserts`(read: @Sendable (Edit) throws -> Void) throws {
        var edit = store.edit(tracking: .writesAndReads)
        try read(edit)
        try edit.set(first, "v", to: 5)
        let other = try store.write { try $0.insert("A", ["k": 3]) }.result
        let found = edit.conflicts(with: store.graph)
        #expect(found.map(\.id) == [other])
        #expect(found.first?.description == "A/3 (3): the reader did not find the object, which has been inserted in the store")
        #expect(try code(edit) == .conflict)
        #expect(try code(edit, .mine) == nil)
    }

    @Test func `an object that was found and is deleted by both sides is a conflict of the reader`() throws {
        var edit = store.edit(tracking: .writesAndReads)
        if edit.contains(second) { try edit.delete(second) }
        try store.write { try $0.delete(second) }
        #expect(edit.conflicts(with: store.graph).map(\.use) == [.read])
    }

    // MARK: Statements

    @Test func `a value that equals the base is a change if the store has set another one`() throws {
        var edit = store.edit()
        try edit.set(second, "v", to: 7)
        #expect(edit.isEmpty && !edit.canUndo)
        #expect(try code(edit) == nil)
        try store.write { try $0.set(second, "v", to: 8) }
        #expect(try code(edit) == .conflict)
        #expect(try code(edit, .mine) == nil)
        #expect(try store.graph[second, "v"] == 7)
    }

    @Test func `an edit that states only values of the base writes nothing`() throws {
        var edit = store.edit()
        try edit.set(second, "v", to: 7)
        try edit.unlink(first, "tags", second)
        #expect(edit.changes.isEmpty)
        let committed = try store.commit(&edit)
        #expect(!committed.receipt.hasChanges)
    }

    @Test func `a statement does not clear the steps of redo, and goes with the step before it`() throws {
        var edit = store.edit()
        try edit.set(first, "v", to: 1)
        try edit.set(first, "v", to: 2)
        edit.undo()
        try edit.set(second, "v", to: 7)
        #expect(edit.canRedo)
        edit.undo()
        #expect(edit.overlay.objects.isEmpty)
    }

    @Test(arguments: EditRun.seeds(3, from: 1))
    func `everything that an edit states wins under the policy mine`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let ids = try store.write { transaction in try (10..<13).map { try transaction.insert("A", ["k": .int($0), "v": 0]) } }.result
        for _ in 0..<(LongTests.areWanted ? 1_000 : 60) {
            var (mine, theirs) = (store.edit(), store.edit())
            let statements = (0..<4).map { _ in Statement(&random, ids) }
            for statement in statements { try statement.make(in: &mine) }
            for _ in 0..<4 { try Statement(&random, ids).make(in: &theirs) }
            let shown = try statements.map { try $0.answer(mine) }
            try store.commit(&theirs)
            try store.commit(&mine, policy: .mine)
            #expect(try statements.map { try $0.answer(mine) } == shown)
        }
    }
}

/// A call that states a value, a target, a member or the absence of a member.
private struct Statement {
    private let id: ObjectID
    private let name: String
    private let value: Int64
    private let other: ObjectID
    private let isMember: Bool

    init(_ random: inout SplitMix64, _ ids: [ObjectID]) {
        (id, other) = (ids[Int.random(in: 0..<ids.count, using: &random)], ids[Int.random(in: 0..<ids.count, using: &random)])
        name = ["v", "tags", "parent", "order"][Int.random(in: 0..<4, using: &random)]
        value = Int64.random(in: 0..<3, using: &random)
        // The lack of a target states nothing if there is another target.
        isMember = name == "parent" || random.isTrue(1, outOf: 2)
    }

    func make(in edit: inout Edit) throws {
        if name == "v" { return try edit.set(id, "v", to: .int(value)) }
        if name == "order", isMember { return try edit.link(id, name, other, at: 0) }
        if name == "order" { return }
        if isMember { try edit.link(id, name, other) } else { try edit.unlink(id, name, other) }
    }

    /// Returns what an edit shows in the place that the call states.
    func answer(_ edit: Edit) throws -> String {
        if name == "v" { return try edit[id, "v"].text }
        let members = try edit.members(name, of: id)
        return name == "tags" ? "\(members.contains(other))" : "\(isMember || name == "parent" ? members : [])"
    }
}
