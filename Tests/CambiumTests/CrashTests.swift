import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// A small history that is the same in each run, and its acknowledged part.
private struct History {
    /// The exports of the graph after each transaction that was acknowledged as durable. Empty before the store was created.
    private(set) var acknowledged: [String] = []
    /// The exports of the graph after each transaction that was begun, whether it was acknowledged or not.
    private(set) var begun: [String] = []

    /// Runs the history to its end, or until the volume fails for good.
    mutating func run(
        _ volume: FaultyVolume, durability: Durability, tuning: LogTuning = .standard, sessionCount: Int = 2, checkpoints: Bool = false,
        memory: MemoryBudget = .standard
    ) {
        do {
            for session in 0..<sessionCount {
                let store = try open(volume, durability, tuning, isFirst: session == 0, memory)
                for number in 0..<4 {
                    try write(store, session * 10 + number, durability)
                    if checkpoints, number % 2 == 1 { try store.checkpoint() }
                }
                try store.close()
                acknowledge(store)
            }
        } catch {}  // The failure is intended. Earlier acknowledgements are recorded.
    }

    private mutating func open(
        _ volume: FaultyVolume, _ durability: Durability, _ tuning: LogTuning, isFirst: Bool, _ memory: MemoryBudget
    ) throws -> Store {
        if !isFirst {
            return try Store.open(
                volume, durability: durability, environment: fixedEnvironment(seed: 9), tuning: tuning, memory: memory)
        }
        let store = try Store.create(
            volume, schema: Notes.schema, durability: durability, environment: fixedEnvironment(), tuning: tuning, memory: memory)
        acknowledge(store)
        return store
    }

    private mutating func write(_ store: Store, _ number: Int, _ durability: Durability) throws {
        try store.write(Author(actor: "writer")) { transaction in
            let note = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("note \(number)")])
            try transaction.link(note, "memos", transaction.insert("Memo", ["text": .string("text")]))
        }
        if durability == .synced { acknowledge(store) }
    }

    private mutating func acknowledge(_ store: Store) { acknowledged.append(store.graph.export) }
}

@Suite struct CrashTests {
    /// Returns every state that the history goes through, and the number of its operations.
    private func states(
        _ durability: Durability, _ tuning: LogTuning = .standard, checkpoints: Bool = false, memory: MemoryBudget = .standard
    ) -> (states: [String], operationCount: Int) {
        let volume = FaultyVolume()
        var states = [""]
        var history = History()
        history.run(volume, durability: .synced)
        states += history.acknowledged
        let other = FaultyVolume()
        var again = History()
        again.run(other, durability: durability, tuning: tuning, checkpoints: checkpoints, memory: memory)
        return (states, other.operationCount)
    }

    /// Opens a store from the files that a crash left, and writes to it. Returns its export, or `nil` if there is no store yet.
    private func reopened(_ image: [String: [UInt8]], _ place: String) -> String? {
        do {
            let store = try Store.open(MemoryVolume(contents: image), durability: nil, environment: fixedEnvironment())
            let export = store.graph.export
            try store.write { try $0.insert("Note", ["id": .int(1000)]) }
            try store.close()
            return export
        } catch let error as CambiumError where error.code == .notFound {
            return nil
        } catch {
            Issue.record("\(place): \(error)")
            return nil
        }
    }

    @Test(arguments: [Durability.synced, .buffered(every: .seconds(3600))], [false, true])
    func `a crash at any operation loses no acknowledged transaction and leaves whole transactions`(
        durability: Durability, isTiny: Bool
    ) throws {
        let tuning = isTiny ? LogTuning.tiny : .standard
        let (states, operationCount) = states(durability, tuning)
        #expect(operationCount > 30)
        for operation in stride(from: 0, through: operationCount, by: LongTests.areWanted ? 1 : 13) {
            let volume = FaultyVolume()
            volume.crash(at: operation)
            var history = History()
            history.run(volume, durability: durability, tuning: tuning)
            for seed in 0..<UInt64(LongTests.areWanted ? 12 : 2) {
                let place = "\(durability), \(isTiny ? "tiny" : "standard"), crash at operation \(operation), seed \(seed)"
                let image = volume.image(seed: seed)
                let found = reopened(image, place)
                guard let last = history.acknowledged.last else { continue }
                let least = states.lastIndex(of: last) ?? 0
                let index = found.flatMap { states.lastIndex(of: $0) }
                #expect(index.map { $0 >= least } ?? false, "\(place): \(found ?? "no store")")
            }
        }
    }

    /// Without a memory budget, pages are in the file before a checkpoint stores them.
    @Test(
        .enabled(if: LongTests.areWanted), arguments: [Durability.synced, .buffered(every: .seconds(3600))],
        [MemoryBudget.standard, MemoryBudget(byteCount: 0)])
    func `a crash while checkpoints are made leaves the store as before or as after`(durability: Durability, memory: MemoryBudget) throws {
        var tuning = LogTuning.tiny
        (tuning.newestCheckpointCount, tuning.pastByteCountMin) = (1, 0)
        let (states, operationCount) = states(durability, tuning, checkpoints: true, memory: memory)
        for operation in 0...operationCount {
            let volume = FaultyVolume()
            volume.crash(at: operation)
            var history = History()
            history.run(volume, durability: durability, tuning: tuning, checkpoints: true, memory: memory)
            for seed in 0..<UInt64(6) {
                let place = "\(durability), \(memory.byteCount) bytes, crash at operation \(operation), seed \(seed)"
                let image = volume.image(seed: seed)
                let found = reopened(image, place)
                guard let last = history.acknowledged.last else { continue }
                let index = found.flatMap { states.lastIndex(of: $0) }
                #expect(index.map { $0 >= states.lastIndex(of: last) ?? 0 } ?? false, "\(place): \(found ?? "no store")")
            }
        }
    }

    @Test func `a second crash during the recovery from a crash loses nothing`() throws {
        let (states, operationCount) = states(.synced, .tiny)
        // The first crash occurs while segments are begun. The second one occurs at each of the first ten operations of the next opening.
        for first in stride(from: 12, to: operationCount, by: LongTests.areWanted ? 3 : 30) {
            for second in stride(from: 0, to: 10, by: LongTests.areWanted ? 1 : 3) {
                let volume = FaultyVolume()
                volume.crash(at: first)
                var history = History()
                history.run(volume, durability: .synced, tuning: .tiny)
                volume.recover()
                volume.crash(at: volume.operationCount + second)
                let opened = try? Store.open(volume, durability: nil, environment: fixedEnvironment(seed: 4), tuning: .tiny)
                opened?.abandon()
                guard let last = history.acknowledged.last else { continue }
                for seed in 0..<UInt64(LongTests.areWanted ? 4 : 1) {
                    let place = "crash at operation \(first), then at \(second), seed \(seed)"
                    let found = reopened(volume.image(seed: seed), place)
                    let index = found.flatMap { states.lastIndex(of: $0) }
                    #expect(index.map { $0 >= states.lastIndex(of: last) ?? 0 } ?? false, "\(place): \(found ?? "no store")")
                }
            }
        }
    }

    @Test(.enabled(if: LongTests.areWanted), arguments: [false, true])
    func `neither the process nor the next one relies on a sync that failed`(isTiny: Bool) throws {
        let tuning = isTiny ? LogTuning.tiny : .standard
        let (states, operationCount) = states(.synced, tuning)
        for operation in 0..<operationCount {
            for code: Int32 in [5, 28] {
                let volume = FaultyVolume()
                volume.fail(at: operation, with: code)
                var history = History()
                history.run(volume, durability: .synced, tuning: tuning)
                #expect(volume.hasFailed)
                // The process continues or ends. The next process opens the files that it sees, and then the power fails.
                var after = History()
                after.reopen(volume)
                for seed in 0..<UInt64(6) {
                    let place = "error \(code) at operation \(operation), seed \(seed)"
                    let found = reopened(volume.image(seed: seed), place)
                    guard let last = after.acknowledged.last ?? history.acknowledged.last else { continue }
                    let least = states.lastIndex(of: last)
                    let index = found.flatMap { states.lastIndex(of: $0) }
                    if let least { #expect(index.map { $0 >= least } ?? false, "\(place): \(found ?? "no store")") }
                }
            }
        }
    }
}

extension History {
    /// Opens the store and closes it. Afterwards, everything that it shows is durable.
    fileprivate mutating func reopen(_ volume: FaultyVolume) {
        guard let store = try? Store.open(volume, durability: .synced, environment: fixedEnvironment()) else { return }
        let export = store.graph.export
        guard (try? store.close()) != nil else { return }
        note(export)
    }

    private mutating func note(_ export: String) { acknowledged.append(export) }
}
