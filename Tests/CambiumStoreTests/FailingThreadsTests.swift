import Cambium
import CambiumBytes
import CambiumGraph
import CambiumTesting
import Dispatch
import Foundation
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Threads that commit at the same time to a store on a disk that fails, in several lives of a process.
///
/// The seed determines the calls of each thread and the faults. It does not determine the order in which the threads run, so each check
/// holds for every order.
private struct FailingThreads {
    private var random: SplitMix64
    private let durability: Durability
    private var tuning: LogTuning
    private var volume = FaultyVolume()
    /// The notes that the store had when it was last opened.
    private var known: Set<Int64> = []
    /// The outcomes of the last life.
    private var outcomes = CommitOutcomes.Found()
    /// Whether the last life ended with a closing that did not throw.
    private var isClosed = false
    /// Whether the last life ended with a power failure.
    private var hasLostPower = false
    private var nextNote: Int64 = 0

    private static let threadCount = 4
    private static let noteCount: Int64 = 12

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        durability = random.isTrue(2, outOf: 3) ? .synced : .buffered(every: .seconds(3600))
        tuning = random.isTrue(1, outOf: 2) ? .tiny : .standard
        (tuning.sealsInBackground, tuning.checkpointsInBackground) = (false, false)
    }

    mutating func run() throws {
        try Store.create(volume, schema: Notes.schema, durability: durability, environment: environment(), tuning: tuning).close()
        for _ in 0..<3 {
            try live()
            try checkPowerFailures()
            if random.isTrue(1, outOf: 2) {
                volume = FaultyVolume(contents: volume.image(seed: random.next()))
                hasLostPower = true
            }
        }
        let store = try opened()
        try store.close()
    }

    private mutating func environment() -> StoreEnvironment { .fixed(seed: random.next()) }

    // MARK: One life

    private mutating func live() throws {
        let store = try opened()
        let fault: ThreadProgram.Fault = random.isTrue(1, outOf: 3) ? .crash : .failures
        if fault == .crash { volume.crash(at: volume.operationCount + Int.random(in: 10..<200, using: &random)) }
        let begun = CommitOutcomes()
        let programs = (0..<Self.threadCount).map { thread in
            let first = nextNote + Int64(thread) * Self.noteCount
            return ThreadProgram(
                store: store, volume: volume, outcomes: begun, notes: first..<first + Self.noteCount,
                random: SplitMix64(seed: random.next()), fault: fault)
        }
        nextNote += Int64(Self.threadCount) * Self.noteCount
        DispatchQueue.concurrentPerform(iterations: programs.count) { programs[$0].run() }
        outcomes = begun.settled()
        try check(store.graph, "the graph that readers see", mayLack: [])
        try Finding.check(store.pageFindings, "the pages of a store whose disk failed")
        end(store)
    }

    /// Opens the store, compares its notes with the outcomes of the last life, and repeats the requests whose outcome was unknown.
    private mutating func opened() throws -> Store {
        let store = try Store.open(volume, durability: durability, environment: environment(), tuning: tuning)
        try check(store.graph, "the next opening", mayLack: hasLostPower ? lossable : [])
        known = try store.graph.notes()
        for note in outcomes.unknown.sorted() {
            let failure = code {
                try store.write(ThreadProgram.author(of: note), durability: .synced) { _ = try $0.insert("Note", ["id": .int(note)]) }
            }
            let expected: CambiumError.Code? = known.contains(note) ? CambiumError.Code.repeated : nil
            if failure != expected { throw Finding("the repeated request for note \(note) ends with \(failure?.rawValue ?? "success")") }
            known.insert(note)
        }
        (outcomes, isClosed, hasLostPower) = (CommitOutcomes.Found(), false, false)
        return store
    }

    private mutating func end(_ store: Store) {
        if !volume.isDead, random.isTrue(1, outOf: 2) { isClosed = code { try store.close() } == nil }
        // If the disk refuses the lease of a closed store, the store stays locked. Only the death of the process ends that lock.
        store.abandon()
        volume.recover()
    }

    // MARK: Checks

    /// The notes that a power failure may remove: their commits were acknowledged when the kernel had them.
    private var lossable: Set<Int64> { durability == .synced || isClosed ? [] : Set(outcomes.done.keys).subtracting(outcomes.synced) }

    /// Checks that a graph has exactly the notes of acknowledged commits, except those whose outcome is unknown.
    private func check(_ graph: Graph, _ what: String, mayLack lossable: Set<Int64>) throws {
        let found = try graph.notes()
        let acknowledged = known.union(outcomes.done.keys)
        let (lost, added) = (acknowledged.subtracting(found), found.subtracting(acknowledged))
        if !lost.isSubset(of: lossable) { throw Finding("\(what) lacks the acknowledged notes \(lost.sorted())") }
        if !added.isSubset(of: outcomes.unknown) { throw Finding("\(what) has the notes \(added.sorted()), whose commits failed") }
        // A power failure removes only the last transactions.
        let lastFound = outcomes.done.filter { found.contains($0.key) }.values.max() ?? TransactionNumber.none
        let firstLost = outcomes.done.filter { lost.contains($0.key) }.values.min()
        if let firstLost, firstLost < lastFound { throw Finding("\(what) lacks transaction \(firstLost), but not \(lastFound)") }
    }

    private mutating func checkPowerFailures() throws {
        for _ in 0..<3 {
            let disk = MemoryVolume(contents: volume.image(seed: random.next()))
            let store = try Store.open(disk, durability: durability, environment: environment(), tuning: tuning)
            try check(store.graph, "a disk after a power failure", mayLack: lossable)
            try store.close()
            let verification = try Verification(disk)
            if !verification.isSound { throw Finding("a disk is not sound after recovery: \(verification.findings)") }
        }
    }
}

/// The calls of one thread.
private struct ThreadProgram: Sendable {
    /// The way in which the disk fails during the life.
    enum Fault {
        /// Single operations fail.
        case failures
        /// All operations after one of them fail.
        case crash
    }

    let store: Store
    let volume: FaultyVolume
    let outcomes: CommitOutcomes
    let notes: Range<Int64>
    let random: SplitMix64
    let fault: Fault

    static func author(of note: Int64) -> Author { Author(requestID: "note \(note)") }

    func run() {
        var random = random
        for note in notes {
            switch fault {
            case .failures where random.isTrue(1, outOf: 8):
                let operation = volume.operationCount + Int.random(in: 0..<10, using: &random)
                volume.fail(at: operation, with: random.isTrue(1, outOf: 6) ? EIO : ENOSPC)
            // A file of the system remembers that its sync has failed, and a file of this volume does not. So a checkpoint must not sync
            // the log again while the failure of another thread's sync is not known yet.
            case .crash where random.isTrue(1, outOf: 16): _ = try? store.checkpoint()  // It must not change the outcome of any commit.
            default: break
            }
            insert(note, &random)
        }
    }

    private func insert(_ note: Int64, _ random: inout SplitMix64) {
        let level: Durability? = random.isTrue(1, outOf: 3) ? .synced : nil
        // With some sizes of the log, the ops of a long title are in a separate file.
        let title = String(repeating: "long ", count: random.isTrue(1, outOf: 6) ? 40 : 0)
        let values: KeyValuePairs<String, Value> = ["id": .int(note), "title": .string(title)]
        do {
            if random.isTrue(1, outOf: 2) {
                let receipt = try store.write(Self.author(of: note), durability: level) { _ = try $0.insert("Note", values) }.receipt
                outcomes.add(note, level, .success(receipt))
            } else {
                let ticket = try store.enqueue(Self.author(of: note), durability: level) { _ = try $0.insert("Note", values) }.ticket
                outcomes.add(note, level, ticket)
            }
        } catch {
            outcomes.add(note, level, .failure(error))
        }
    }
}

/// The outcomes of commits, which several threads report.
private final class CommitOutcomes: Sendable {
    struct Found: Sendable {
        /// The transactions of the acknowledged notes.
        var done: [Int64: TransactionNumber] = [:]
        /// The acknowledged notes whose commits requested to be synced.
        var synced: Set<Int64> = []
        /// The notes of commits that threw `.outcomeUnknown`.
        var unknown: Set<Int64> = []
    }

    private let found = Guarded(Found())
    private let ticketCount = Guarded(0)
    private let isSettled = DispatchSemaphore(value: 0)

    func add(_ note: Int64, _ level: Durability?, _ result: Result<Receipt, any Error>) {
        found.withLock { found in
            switch result {
            case .success(let receipt):
                found.done[note] = receipt.transaction
                if level == .synced { found.synced.insert(note) }
            case .failure(let error): if (error as? CambiumError)?.code == .outcomeUnknown { found.unknown.insert(note) }
            }
        }
    }

    func add(_ note: Int64, _ level: Durability?, _ ticket: Ticket) {
        ticketCount.withLock { $0 += 1 }
        ticket.whenSettled { result in
            self.add(note, level, result.mapError { $0 as any Error })
            self.isSettled.signal()
        }
    }

    /// Waits for all tickets, and returns all outcomes.
    func settled() -> Found {
        for _ in 0..<ticketCount.withLock({ $0 }) { isSettled.wait() }
        return found.withLock { $0 }
    }
}

extension Graph {
    /// The ids of all notes.
    fileprivate func notes() throws -> Set<Int64> {
        let note = try schema.required("Note")
        let id = column(try note.requiredAttribute("id"))
        return Set(objects(of: note).compactMap { place(of: $0).flatMap { id.int(at: $0) } })
    }
}

@Suite struct FailingThreadsTests {
    @Test(.timeLimit(.minutes(1)), arguments: 0..<UInt64(LongTests.caseCount(400, usual: 4)))
    func `a reopening finds exactly the commits that many threads saw acknowledged, whichever operations fail`(seed: UInt64) throws {
        var threads = FailingThreads(seed: seed)
        try threads.run()
    }
}
