import Cambium
import CambiumModel
import CambiumTesting
import TestFixtures

/// Two stores with the same objects, and random programs whose writes depend on what they have read through an edit.
struct DependentEditRun {
    let store: Store
    /// The store in which the second program runs only after the first one was committed.
    let twin: Store
    private let seeds: (theirs: UInt64, mine: UInt64)

    enum Outcome: Equatable {
        case committed(digest: String)
        case refused(CambiumError.Code)
    }

    private static let schema = Result {
        try Schema(
            SchemaDefinition {
                EntityDefinition("A", identity: ["j", "k"]) {
                    AttributeDefinition("j", .int64)
                    AttributeDefinition("k", .int64)
                    AttributeDefinition("v", .int64, .optional)
                    RelationshipDefinition("tags", to: "A", .toMany)
                    RelationshipDefinition("near", to: "A", .toMany, inverse: "near")
                    RelationshipDefinition("next", to: "A", inverse: "former")
                    RelationshipDefinition("former", to: "A", inverse: "next")
                    RelationshipDefinition("parts", to: "B", .toMany, inverse: "whole", onDelete: .cascade)
                    RelationshipDefinition("queue", to: "B", .orderedToMany, inverse: "holders")
                    RelationshipDefinition("path", to: "B", .orderedToMany)
                }
                EntityDefinition("B") {
                    AttributeDefinition("n", .int64, default: 0)
                    RelationshipDefinition("whole", to: "A", inverse: "parts")
                    RelationshipDefinition("holders", to: "A", .toMany, inverse: "queue")
                    RelationshipDefinition("last", to: "A")
                }
            })
    }

    init(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let first = random.next()
        store = try Self.store(first)
        twin = try Self.store(first)
        seeds = (random.next(), random.next())
    }

    /// Returns a store with a few objects, whose links depend on the seed only.
    private static func store(_ seed: UInt64) throws -> Store {
        var random = SplitMix64(seed: seed)
        let store = try Store.inMemory(schema: try schema.get())
        try store.write { transaction in
            let parents = try (0..<3).map { try transaction.insert("A", ["j": 0, "k": .int($0), "v": 0]) }
            for parent in parents {
                let part = try transaction.insert("B", links: ["whole": [parent]])
                for other in parents where random.isTrue(1, outOf: 2) { try transaction.link(other, "queue", part) }
                if let other = random.pick(parents) { try transaction.link(parent, "near", other) }
                if let other = random.pick(parents) { try transaction.link(parent, "next", other) }
            }
        }
        return store
    }

    /// Commits the two programs: interleaved in the store, and one after the other in the twin. Returns the outcome of the second program
    /// in both stores, or `nil` if the first program cannot be committed.
    func outcomes() throws -> (interleaved: Outcome, sequential: Outcome)? {
        var mine = store.edit(tracking: .writesAndReads)
        DependentProgram(seed: seeds.mine, store.graph).run(&mine)
        for store in [store, twin] {
            var theirs = store.edit()
            DependentProgram(seed: seeds.theirs, store.graph).run(&theirs)
            do { try store.commit(&theirs) } catch { return nil }
        }
        var later = twin.edit(tracking: .writesAndReads)
        // The programs know the objects of the first graph only, as a caller that keeps ids does.
        DependentProgram(seed: seeds.mine, mine.base).run(&later)
        return (Self.commit(mine, to: store), Self.commit(later, to: twin))
    }

    private static func commit(_ edit: Edit, to store: Store) -> Outcome {
        var edit = edit
        do {
            try store.commit(&edit)
            return .committed(digest: "\(store.graph.digest())")
        } catch { return .refused((error as? CambiumError)?.code ?? .misuse) }
    }
}

/// A random program. Its calls and their arguments depend on the seed and on everything that it has read.
struct DependentProgram {
    private var random: SplitMix64
    private var ids: [ObjectID]
    /// The provisional ids of the objects that the program has inserted.
    private var inserted: [ObjectID] = []
    /// Summarizes the answers so far.
    private var answers: UInt64 = 0

    init(seed: UInt64, _ graph: Graph) {
        random = SplitMix64(seed: seed)
        ids = graph.schema.roots.flatMap { Array(graph.objects(of: $0)) }
    }

    func run(_ edit: inout Edit) {
        var program = self
        for _ in 0..<Int.random(in: 1...5, using: &program.random) {
            do { try program.step(&edit) } catch { program.note(UInt64(truncatingIfNeeded: "\(error.code)".count)) }
        }
    }

    private mutating func note(_ answer: UInt64) { answers = (answers &* 31) &+ answer }

    private mutating func note(_ answer: [ObjectID]) {
        note(UInt64(answer.count))
        // Provisional ids differ from run to run, so their numbers count.
        for id in answer { note(inserted.firstIndex(of: id).map { UInt64($0 + 1_000) } ?? id.serial) }
    }

    /// Returns a small number that depends on the answers in half of all cases.
    private mutating func choice(_ count: Int) -> Int {
        let own = Int.random(in: 0..<count, using: &random)
        return random.isTrue(1, outOf: 2) ? (own + Int(answers % 97)) % count : own
    }

    private mutating func value() -> Value { .int(Int64(choice(3))) }

    private mutating func step(_ edit: inout Edit) throws(CambiumError) {
        let kind = Int.random(in: 0..<20, using: &random)
        let id = ids[choice(ids.count)]
        let isA = edit.schema.entity(id.root)?.name == "A"
        switch kind {
        case 0, 1: note(UInt64(try edit[id, isA ? ["v", "k"][choice(2)] : "n"].text.hashed))
        case 2, 3: note(try edit.members(relationship(isA), of: id))
        case 4: note(UInt64(try edit.count(of: isA ? "A" : "B")))
        case 5: note(try edit.objects(of: isA ? "A" : "B"))
        case 6: note(try edit.find("A", identity: [value(), value()]).map { [$0] } ?? [])
        case 7: note(edit.contains(id) ? 1 : 0)
        case 8, 9, 10: try edit.set(id, isA ? ["v", "v", "k", "j"][choice(4)] : "n", to: value())
        case 11...14: try changeLink(&edit, id, isA)
        case 15:
            let new = try edit.insert(isA ? "A" : "B", isA ? ["j": value(), "k": .int(Int64(choice(9)) + 3)] : [:])
            inserted.append(new)
            ids.append(new)
        case 16: try edit.delete(id)
        default: try changeLink(&edit, id, isA)
        }
    }

    private mutating func relationship(_ isA: Bool) -> String {
        isA ? ["tags", "near", "next", "former", "parts", "queue", "path"][choice(7)] : ["whole", "holders", "last"][choice(3)]
    }

    private mutating func changeLink(_ edit: inout Edit, _ id: ObjectID, _ isA: Bool) throws(CambiumError) {
        let name = relationship(isA)
        let others = ids.filter { edit.schema.entity($0.root)?.name == (["parts", "queue", "path"].contains(name) ? "B" : "A") }
        let other = others[choice(others.count)]
        let isOrdered = ["queue", "path"].contains(name)
        switch choice(isOrdered ? 4 : 2) {
        case 0: try edit.unlink(id, name, other)
        case 1: try edit.link(id, name, other)
        case 2: try edit.link(id, name, other, at: choice(3))
        default: try edit.move(id, name, other, to: choice(3))
        }
    }
}

extension String {
    /// A number that is the same in each run of the tests.
    fileprivate var hashed: UInt8 { utf8.reduce(7) { $0 &* 31 &+ $1 } }
}
