import Cambium
import CambiumTesting
import TestFixtures
import Testing

/// A record with an attribute, a to-one relationship, and relationships with and without an order.
private struct Task: BlankRecord {
    var key = 0
    var title = ""
    var points = 0
    var parent: Ref<Task>?
    var children: Set<Ref<Task>> = []
    var steps: [Ref<Task>] = []
    var ref: Ref<Task>?

    static let recordSchema = RecordSchema<Task>("Task") {
        RecordProperty("key", \.key, .identity)
        RecordProperty("title", \.title)
        RecordProperty("points", \.points)
        RecordProperty("parent", \.parent, .inverse("children"))
        RecordProperty("children", \.children)
        RecordProperty("steps", \.steps)
    }
}

/// `RandomRecordSaveTests` has the cases that a model states.
@Suite("Saving records that other writers have changed")
struct RecordSaveConflictTests {
    private let store: Store
    private let refs: [Ref<Task>]

    init() throws {
        store = try Store.inMemory(schema: Schema(of: Task.self))
        var tasks = (0..<4).map { Task(key: $0) }
        try store.save(&tasks)
        refs = tasks.compactMap(\.ref)
    }

    private func code(_ body: () throws -> Void) -> CambiumError.Code? {
        do { try body() } catch { return (error as? CambiumError)?.code }
        return nil
    }

    @Test func `a save keeps what another writer has changed in properties that the record did not change`() throws {
        var (first, second) = (try store.graph.load(refs[0]), try store.graph.load(refs[0]))
        first.title = "a"
        first.children = [refs[1]]
        second.points = 5
        second.children = [refs[2]]
        try store.save(&first)
        try store.save(&second)
        let saved = try store.graph.load(refs[0])
        #expect(saved.title == "a" && saved.points == 5)
        #expect(saved.children == [refs[1], refs[2]])
        #expect(try !store.save(&second).hasChanges)
        second.title = "b"
        #expect(code { try store.save(&second) } == .conflict)
    }

    @Test(arguments: [(EditPolicy.error, "a"), (.mine, "b"), (.theirs, "a")], [false, true])
    func `a property that both sides have changed is a conflict`(_ result: (policy: EditPolicy, title: String), inEdit: Bool) throws {
        var (first, second, edit) = (try store.graph.load(refs[0]), try store.graph.load(refs[0]), store.edit())
        (first.title, second.title) = ("a", "b")
        func save(_ task: inout Task, _ policy: EditPolicy) throws {
            if inEdit { try edit.save(&task, policy: policy) } else { try store.save(&task, policy: policy) }
        }
        try save(&first, .error)
        let isError = if case .error = result.policy { true } else { false }
        #expect(code { try save(&second, result.policy) } == (isError ? .conflict : nil))
        #expect(try (inEdit ? edit.load(refs[0]) : store.graph.load(refs[0])).title == result.title)
    }

    /// Changes a task without its record: its points, its children (by their parents) and its steps.
    private func change(_ transaction: inout WriteTransaction) throws {
        try transaction.set(refs[0].id, "points", to: 7)
        try transaction.link(refs[1].id, "parent", refs[0].id)
        try transaction.link(refs[0].id, "steps", refs[2].id, at: 0)
        try transaction.move(refs[0].id, "steps", refs[3].id, to: 0)
        _ = try transaction.clone(refs[1].id, CloneRequest(rootValues: ["key": 9, "title": "copy"]))
    }

    private func check(_ task: Task, title: String) {
        #expect(task.title == title && task.points == 7 && task.steps == [refs[3], refs[2]] && task.children.contains(refs[1]))
    }

    @Test func `a record that a transaction saved does not undo what the same transaction changed after that`() throws {
        var task = try store.graph.load(refs[0])
        (task.title, task.steps) = ("a", [refs[3]])
        try store.write { transaction in
            try transaction.save(&task)
            try change(&transaction)
        }
        let childCount = try store.graph.load(refs[0]).children.count
        task.title = "b"
        try store.save(&task)
        check(try store.graph.load(refs[0]), title: "b")
        #expect(try store.graph.load(refs[0]).children.count == childCount)
        task.points = 8
        #expect(code { try store.save(&task) } == .conflict)
        try store.save(&task, policy: .mine)
        #expect(try store.graph.load(refs[0]).points == 8)
    }

    @Test func `a record that a transaction read or saved does not undo its later changes in the same transaction`() throws {
        var (read, saved) = (try store.graph.load(refs[0]), try store.graph.load(refs[0]))
        try store.write { transaction in
            saved.steps = [refs[3]]
            try transaction.save(&saved)
            read = try transaction.load(refs[0])
            try change(&transaction)
            (read.title, saved.title) = ("a", "b")
            try transaction.save(&read)
            check(try transaction.load(refs[0]), title: "a")
            let error = try #require(throws: CambiumError.self) { try transaction.save(&saved) }
            #expect(error.code == .conflict)
            try transaction.save(&saved, policy: .mine)
            check(try transaction.load(refs[0]), title: "b")
        }
        #expect(try store.graph.load(refs[0]).children.count == store.graph.members("children", of: refs[0].id).count)
    }

    @Test func `the conflict of a save has the values of all three sides`() throws {
        var (first, second) = (try store.graph.load(refs[0]), try store.graph.load(refs[0]))
        (first.title, second.title) = ("a", "b")
        try store.save(&first)
        let error = #expect(throws: CambiumError.self) { try store.save(&second) }
        #expect(error?.details == ["Task/1.title: base , edit b, store a"])
    }

    @Test func `links that both sides have changed are conflicts, from either end`() throws {
        var (child, other) = (try store.graph.load(refs[3]), try store.graph.load(refs[1]))
        var steps = try store.graph.load(refs[0])
        child.parent = refs[0]
        try store.save(&child)
        other.children = [refs[3]]
        #expect(code { try store.save(&other) } == .conflict)
        try store.write { try $0.link(refs[0].id, "steps", refs[1].id) }
        steps.steps = [refs[2]]
        #expect(code { try store.save(&steps) } == .conflict)
        try store.save(&steps, policy: .mine)
        #expect(try store.graph.load(refs[0]).steps == [refs[2]])
    }

    @Test func `an insertion refuses an existing object, and a save changes it`() throws {
        var task = Task(key: 1, title: "new")
        #expect(code { try store.insert(&task) } == .conflict)
        #expect(task.ref == nil)
        try store.save(&task)
        #expect(task.ref == refs[1])
        #expect(code { try store.insert(&task) } == .conflict)
        var edit = store.edit()
        var copy = Task(key: 1)
        #expect(code { try edit.insert(&copy) } == .conflict)
        var other = Task(key: 9, title: "other")
        try store.insert(&other)
        #expect(try store.graph.find(Task.self, identity: 9)?.title == "other")
    }

    @Test func `a record of a graph conflicts with an edit whose base another writer has changed`() throws {
        var task = try store.graph.load(refs[0])
        try store.write { try $0.set(refs[0].id, "title", to: "b") }
        var edit = store.edit()
        task.points = 2
        try edit.save(&task)
        #expect(try edit[refs[0].id, "title"] == "b")
        task = try store.graph.load(refs[0])
        try store.write { try $0.set(refs[0].id, "title", to: "c") }
        try edit.rebase(onto: store.graph)
        task.title = "d"
        #expect(code { try edit.save(&task) } == .conflict)
    }

    @Test(arguments: UInt64(1)...4)
    func `no save loses a change of another writer silently`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<40 {
            let base = try store.graph.load(refs[0])
            var records = [base, base]
            for index in 0..<2 { change(&records[index], &random) }
            try store.save(&records[0])
            let middle = try store.graph.load(refs[0])
            let isConflict = code { try store.save(&records[1]) } != nil
            let result = try store.graph.load(refs[0])
            for path in [\Task.title, \.pointsText, \.parentText, \.stepsText] as [KeyPath<Task, String>] {
                let wanted = records[1][keyPath: path]
                let isChanged = wanted != base[keyPath: path] && !isConflict
                #expect(result[keyPath: path] == (isChanged ? wanted : middle[keyPath: path]))
                if isChanged { #expect([base[keyPath: path], wanted].contains(middle[keyPath: path])) }
            }
        }
    }

    private func change(_ task: inout Task, _ random: inout SplitMix64) {
        if random.isTrue(1, outOf: 2) { task.title = ["", "a", "b"][Int.random(in: 0..<3, using: &random)] }
        if random.isTrue(1, outOf: 2) { task.points = Int.random(in: 0..<3, using: &random) }
        if random.isTrue(1, outOf: 2) { task.parent = [nil, refs[1], refs[2]][Int.random(in: 0..<3, using: &random)] }
        if random.isTrue(1, outOf: 2) { task.steps = Array(refs.shuffled(using: &random).prefix(2)) }
    }
}

extension Task {
    fileprivate var pointsText: String { "\(points)" }
    fileprivate var parentText: String { "\(parent?.id.description ?? "none")" }
    fileprivate var stepsText: String { "\(steps.map(\.id))" }
}
