import Cambium
import CambiumBytes
import CambiumTesting
import Dispatch
import Foundation
import Synchronization
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog

/// One thread writes, makes checkpoints, packs and compacts with little memory. Other threads read, follow, travel in time, verify and copy
/// at the same time, each with its own open files like another process.
@Suite struct BusyStoreTests {
    /// The work that several threads repeat until the writer is done.
    private final class Others: Sendable {
        let isDone = Atomic(false)
        let failures = Guarded<[String]>([])
        private let running = Guarded(0)
        let roundCount = Atomic(0)

        /// - Parameter body: Returns the faults that it found. The test's own thread reports them, because only this thread belongs to a
        ///   test.
        func run(_ what: String, _ body: @escaping @Sendable () throws -> [String]) {
            running.withLock { $0 += 1 }
            let thread = Thread { [self] in
                while !isDone.load(ordering: .acquiring) {
                    do {
                        let findings = try body()
                        failures.withLock { $0 += findings.map { "\(what): \($0)" } }
                        roundCount.add(1, ordering: .relaxed)
                    } catch {
                        failures.withLock { $0.append("\(what): \(error)") }
                        break
                    }
                }
                running.withLock { $0 -= 1 }
            }
            thread.start()
        }

        func wait() {
            isDone.store(true, ordering: .releasing)
            while running.withLock({ $0 }) > 0 { usleep(1000) }
        }
    }

    /// Adds 300 notes in each round, and deletes most notes of the earlier rounds.
    private func change(_ store: Store, _ round: Int) throws {
        let note = try store.schema.required("Note")
        try store.write { transaction in
            for number in round * 300..<(round + 1) * 300 {
                let id = try transaction.insert("Note", ["id": .int(Int64(number)), "title": .string("the note with number \(number)")])
                try transaction.link(id, "memos", transaction.insert("Memo", ["text": .string("memo \(number)")]))
            }
        }
        let doomed = store.graph.objects(of: note).filter { $0.serial % 20 != 0 && $0.serial + 300 < UInt64(round + 1) * 300 }
        if !doomed.isEmpty { try store.write { try $0.delete(doomed) } }
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `readers, followers, copies and time travel see no corruption while a store is packed and compacted`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "cambium-busy-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: directory) }  // The operating system removes leftovers.
        let volume = SystemVolume(root: directory + "/store")
        try volume.createDirectory("")
        var tuning = LogTuning.tiny
        (tuning.segmentByteCount, tuning.sealsInBackground, tuning.newestCheckpointCount, tuning.pastByteCountMin) = (20_000, true, 1, 0)
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .buffered(every: .milliseconds(5)), tuning: tuning,
            memory: MemoryBudget(byteCount: 256 << 10))
        try store.setCheckpointPolicy(CheckpointPolicy(countMax: 2, historyPercent: 0))
        try change(store, 0)
        try store.checkpoint()
        let others = Others()
        let budget = MemoryBudget(byteCount: 128 << 10)
        others.run("a reader") {
            let graph = try ReadOnlyStore(volume, memory: budget).graph
            let digest = graph.digest()
            return graph.invariantFindings() + (graph.digest() == digest ? [] : ["the digest changed"])
        }
        let follower = Guarded(try StoreFollower(volume))
        others.run("a follower") {
            do {
                try follower.withLock { _ = try $0.advance() }
            } catch let error as CambiumError where error.code == .notFound {
                // The transactions that the follower had not read yet were retired.
                let next = try StoreFollower(volume)
                follower.withLock { $0 = next }
            }
            return follower.withLock { $0.graph.invariantFindings() }
        }
        others.run("a look back") {
            let newest = store.graph.transaction.rawValue
            do {
                let graph = try store.graph(at: .transaction(TransactionNumber(rawValue: max(1, newest &- newest % 7))))
                return graph.invariantFindings()
            } catch let error as CambiumError where error.code == .notFound {
                return []  // The moment was retired.
            }
        }
        let copyCount = Atomic(0)
        others.run("a copy") {
            let path = directory + "/copy-\(copyCount.add(1, ordering: .relaxed).newValue)"
            do { _ = try Store.backUp(at: volume.root, to: path) } catch let error as CambiumError where error.code == .ioFailure {
                return []
            }
            let findings = try Store.verify(at: path).findings
            try FileManager.default.removeItem(atPath: path)
            return findings
        }
        others.run("statistics") {
            _ = try Statistics(of: volume.root)
            return []
        }
        var round = 1
        while round < 60 || (others.roundCount.load(ordering: .relaxed) < 40 && round < 400) {
            try change(store, round)
            if round % 3 == 0 { try store.checkpoint() }
            if round % 5 == 0 { try store.compact(.checkpoints(1)) }
            round += 1
        }
        others.wait()
        #expect(others.failures.withLock { $0 } == [])
        let digest = store.graph.digest()
        #expect(store.pageFindings == [])
        try store.close()
        #expect(try Verification(volume).findings == [])
        #expect(try ReadOnlyStore(volume).graph.digest() == digest)
    }

    @Test func `threads that touch the pages of a stored graph at the same time see the same graph`() throws {
        let volume = MemoryVolume()
        let store = try Store.notes(volume)
        for round in 0..<3 { try change(store, round) }
        try store.checkpoint()
        try store.close()
        for _ in 0..<4 {
            let graph = try ReadOnlyStore(volume).graph
            let digests = Guarded<Set<GraphDigest>>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let digest = graph.digest()
                digests.withLock { _ = $0.insert(digest) }
            }
            #expect(digests.withLock { $0 } == [store.graph.digest()])
        }
    }

    @Test(arguments: 0..<8)
    func `a verification begins again if the transactions that it replays are retired`(listing: Int) throws {
        let volume = WatchedVolume()
        let store = try Archiving.made(volume)
        let compact: @Sendable () throws -> Void = { _ = try store.compact(.since(.latest)) }
        volume.beforeListing.withLock { $0 = Array(repeating: {}, count: listing) + [compact] }
        let verification = try Verification(volume)
        #expect(verification.findings == [] && verification.digest == store.graph.digest())
        try store.close()
    }
}
