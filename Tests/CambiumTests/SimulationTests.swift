import Cambium
import CambiumGraph
import CambiumTesting
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// A history of a store on a disk whose operations fail, in processes that die and lose power. The seed determines all of it.
///
/// A second store, in memory, receives the same transactions. It shows the result of each transaction even if the first store could not
/// report it.
private struct Simulation {
    private var random: SplitMix64
    private let durability: Durability
    private var tuning: LogTuning
    /// The memory budget. If it has no bytes, all pages are in files.
    private let memory: MemoryBudget
    private let volume = FaultyVolume()
    /// The transactions that the store contains, as far as it reported them.
    private var applied: [Change] = []
    /// The states that the store may have after a crash: the last durable one and the state after each later transaction.
    private(set) var possible: [String] = [Simulation.none]
    private(set) var crashCount = 0
    private static let none = "no store"

    /// A transaction that makes, renames, links or deletes a note, or changes the schema.
    private struct Change {
        let kind: Int
        let note: Int64
        let other: Int64

        /// Returns whether anything was written.
        func apply(to store: Store) throws -> Bool {
            if kind == 4 { return try migrate(store) }
            return try store.write { try apply(to: &$0) }.receipt.transaction != nil
        }

        private func apply(to transaction: inout WriteTransaction) throws {
            let entity = try transaction.schema.required("Note")
            let id = transaction.find(entity, identity: [.int(note)])
            switch (kind, id) {
            case (_, nil):
                let id = try transaction.insert(entity, [(try entity.requiredAttribute("id"), .int(note))])
                try transaction.link(id, "memos", transaction.insert("Memo", ["text": .string("memo of \(note)")]))
            case (0, let id?): try transaction.delete(id)
            case (1, let id?): try transaction.set(id, Self.title(of: entity), to: .string("title \(other)"))
            default:
                guard let id, let other = transaction.find(entity, identity: [.int(other)]) else { return }
                try transaction.link(id, "related", other)
            }
        }

        /// Migrates the schema back or forth, depending on its current state. A closure sets the values of a property that gets another
        /// type.
        private func migrate(_ store: Store) throws -> Bool {
            var definition = store.schema.definition
            let title = Self.title(of: try store.schema.required("Note"))
            switch (note, definition["Note"][attribute: "rating"].type) {
            case (0, _):
                definition["Note"][attribute: title].formerName = title
                definition["Note"][attribute: title].name = title == "title" ? "name" : "title"
            case (1, _) where definition["Note"].attributes.contains { $0.name == "done" }: definition["Note"].remove("done")
            case (1, _): definition["Note"].attributes.append(AttributeDefinition("done", .bool, default: .bool(other % 2 == 0)))
            case (2, _):
                let isOrdered = definition["Note"][relationship: "memos"].cardinality == .orderedToMany
                definition["Note"][relationship: "memos"].cardinality = isOrdered ? .toMany : .orderedToMany
            case (3, _): definition["Note"].unique = definition["Note"].unique.isEmpty ? [["created"]] : []
            case (_, .double): definition["Note"][attribute: "rating"].type = .string
            default: definition["Note"][attribute: "rating"].type = .double
            }
            if note < 4 { return try store.migrate(to: definition).transaction != nil }
            return try store.migrate(to: definition) { before, transaction in
                let isText = transaction.schema.entity("Note")?.attribute("rating")?.type == .string
                for id in before.objects(of: try before.schema.required("Note")) {
                    try transaction.set(id, "rating", to: isText ? .string("\(other)") : .double(Double(other)))
                }
            }.transaction != nil
        }

        private static func title(of note: Entity) -> String { note.attribute("title") == nil ? "name" : "title" }
    }

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        durability = random.isTrue(2, outOf: 3) ? .synced : .buffered(every: .seconds(3600))
        tuning = random.isTrue(1, outOf: 2) ? .tiny : .standard
        // The seed must determine everything that happens.
        (tuning.sealsInBackground, tuning.checkpointsInBackground) = (false, false)
        memory = random.isTrue(1, outOf: 3) ? MemoryBudget(byteCount: 0) : .standard
    }

    /// Runs several lives of a process, each of which ends by a closing, a crash or a power failure.
    mutating func run() throws {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            do { try live() } catch let finding as Finding { throw finding } catch {}  // A fault ends a life.
            if random.isTrue(1, outOf: 2) { try losePower() }
        }
        try losePower()
    }

    private mutating func live() throws {
        if random.isTrue(1, outOf: 2) {
            volume.crash(at: volume.operationCount + Int.random(in: 0..<40, using: &random))
        } else if random.isTrue(1, outOf: 2) {
            volume.fail(at: volume.operationCount + Int.random(in: 0..<40, using: &random), with: random.isTrue(1, outOf: 2) ? 28 : 5)
        }
        defer { volume.recover() }
        let store = try opened()
        defer { store.abandon() }
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            try write(to: store)
            if random.isTrue(1, outOf: 6) { try checkpoint(store) }
            if random.isTrue(1, outOf: 20) { break }
        }
        guard random.isTrue(1, outOf: 2) else { return }
        try store.close()
        possible = [store.graph.state]
    }

    private mutating func opened() throws -> Store {
        let environment = fixedEnvironment(seed: random.next())
        if try StoreSettings.isPresent(volume) {
            let store = try Store.open(volume, durability: durability, environment: environment, tuning: tuning, memory: memory)
            let state = store.graph.state
            guard possible.contains(state) else {
                throw Finding("a process opened a state that never existed: \(state)")
            }
            // Everything that an opening shows is durable.
            possible = [state]
            try restore(to: state)
            return store
        }
        let made = try replica().graph.state
        possible = [Self.none, made]
        let store = try Store.create(
            volume, schema: Notes.schema, durability: durability, environment: environment, tuning: tuning, memory: memory)
        // A store exists once its schema is durable, whatever durability its later transactions have.
        possible = [made]
        return store
    }

    private mutating func write(to store: Store) throws {
        let change = Change(
            kind: Int.random(in: 0..<5, using: &random), note: Int64.random(in: 0..<6, using: &random),
            other: Int64.random(in: 0..<6, using: &random))
        let before = store.graph.state
        applied.append(change)
        let after = try replica().graph.state
        let isWritten: Bool
        do { isWritten = try change.apply(to: store) } catch {
            if after != before, store.graph.state == after { throw Finding("readers see a failed commit") }
            applied.removeLast()
            // The bytes may still be on the disk if the process ended as well.
            possible.append(after)
            let isGone = (error as? CambiumError)?.code == .notWritable
            if isGone || volume.isDead { throw error }
            if store.graph.state != (try replica().graph.state) {
                throw Finding("a failed commit changed the store")
            }
            return
        }
        if store.graph.state != after { throw Finding("a commit led to a state other than the expected one") }
        // A transaction that changes nothing writes nothing. It does not replace bytes that a failed commit may have left on the disk.
        if !isWritten { return }
        if durability == .synced { possible = [after] } else { possible.append(after) }
    }

    /// Makes a checkpoint or a compaction. Neither one changes the visible state, whether it succeeds or fails.
    private mutating func checkpoint(_ store: Store) throws {
        let before = store.graph.state
        do {
            if random.isTrue(1, outOf: 3) {
                try store.compact(.checkpoints(Int.random(in: 1...2, using: &random)))
            } else {
                try store.checkpoint()
            }
            // Everything in the checkpoint is durable.
            possible = [before]
        } catch {
            let isGone = (error as? CambiumError)?.code == .notWritable
            if isGone || volume.isDead { throw error }
        }
        if store.graph.state != before { throw Finding("a checkpoint changed the graph") }
    }

    /// Returns a store in memory after the applied transactions.
    private func replica() throws -> Store {
        let store = try Store.inMemory(schema: Notes.schema)
        for change in applied { _ = try change.apply(to: store) }
        return store
    }

    /// Forgets the transactions that a crash removed.
    private mutating func restore(to state: String) throws {
        let store = try Store.inMemory(schema: Notes.schema)
        var count = store.graph.state == state ? 0 : -1
        for (index, change) in applied.enumerated() {
            _ = try change.apply(to: store)
            if store.graph.state == state { count = index + 1 }
        }
        if count < 0 { throw CambiumError(.notFound, "The state belongs to a transaction that began and was never acknowledged.") }
        applied.removeLast(applied.count - count)
    }

    /// Opens several disks that a power failure may leave. Each must open in a possible state.
    private mutating func losePower() throws {
        crashCount += 1
        for seed in 0..<UInt64(4) {
            let image = volume.image(seed: random.next() &+ seed)
            let disk = MemoryVolume(contents: image)
            guard try StoreSettings.isPresent(disk) else {
                if !possible.contains(Self.none) { throw Finding("the store is missing") }
                continue
            }
            do {
                let store = try Store.open(disk, durability: durability, environment: fixedEnvironment(seed: 5), tuning: tuning)
                let state = store.graph.state
                guard possible.contains(state) else {
                    throw Finding("a disk opened in the state \(state), which is not one of \(possible)")
                }
                try store.close()
                let verification = try Verification(disk)
                guard verification.isSound else {
                    throw Finding("a disk is not sound after recovery: \(verification.findings)")
                }
            } catch let error as CambiumError {
                throw Finding("a disk does not open: \(error)")
            }
        }
    }
}

extension Graph {
    /// The objects, the next serials and the schema, as one text.
    fileprivate var state: String { export + "\(digest())" + String(decoding: schema.catalog.json, as: UTF8.self) }
}

@Suite struct SimulationTests {
    @Test func `no fault loses an acknowledged transaction or leaves a state that never existed`() throws {
        let seeds = TestSettings.seeds("simulations", usual: 6)
        var crashCount = 0
        for seed in seeds {
            var simulation = Simulation(seed: seed)
            do { try simulation.run() } catch { Issue.record("seed \(seed): \(error)") }
            crashCount += simulation.crashCount
        }
        print("\(seeds.count) simulations from seed \(seeds.lowerBound), \(crashCount) power failures")
        #expect(crashCount >= seeds.count)
    }
}
