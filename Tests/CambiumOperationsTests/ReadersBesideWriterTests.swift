import Cambium
import CambiumBytes
import CambiumLog
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumOperations

/// Readers of a sound store while another process writes to it. Each seed is one interleaving of the two processes.
@Suite struct ReadersBesideWriterTests {
    private static let seeds = TestSettings.seeds("programs", usual: LongTests.caseCount(400, usual: 12))

    /// Opens, changes and closes a store several times, and adds a checkpoint at times.
    private static func write(_ volume: any Volume, compacts: Bool) {
        for number in 100..<104 {
            do {
                let store = try Archiving.reopen(volume)
                try Archiving.add(store, number)
                if number % 3 == 0 { try store.checkpoint() }
                if compacts, number % 2 == 1 { try store.compact(.since(.latest)) }
                try store.close()
            } catch {
                Issue.record("the writer failed: \(error)")
            }
        }
    }

    private static func pauses(_ seed: UInt64) -> [(call: Int, stepCount: Int)] {
        var random = SplitMix64(seed: seed)
        var pauses = [(call: 1, stepCount: Int.random(in: 0...60, using: &random))]
        for _ in 0..<Int.random(in: 1...5, using: &random) {
            pauses.append((Int.random(in: 1...250, using: &random), Int.random(in: 1...40, using: &random)))
        }
        return pauses.sorted { $0.call < $1.call }
    }

    /// Runs a reader beside the writer, once for each seed.
    ///
    /// - Parameter found: Seeds that once found a fault.
    private static func forEachInterleaving(
        compacts: Bool = true, found: [UInt64] = [], _ reader: (any Volume, UInt64) throws -> Void
    ) throws {
        let original = MemoryVolume()
        try Archiving.made(original, count: 10).close()
        var interleavedCount = 0
        for seed in Array(seeds) + found {
            let pauses = pauses(seed)
            let beginning = pauses.reduce(0) { $0 + ($1.call == 1 ? $1.stepCount : 0) }
            let volumes = PacedVolumes(MemoryVolume(contents: original.contents), pauses: pauses)
            try volumes.run({ write($0, compacts: compacts) }) { volume in
                try reader(volume, seed)
                // Before the first call, the writer has arrived at the step after the ones that it may take.
                if volumes.stepCount > beginning + 1 { interleavedCount += 1 }
            }
        }
        #expect(interleavedCount > 0 || seeds.count < 10, "The writer took no step while the reader was reading.")
    }

    /// Returns the findings that a writer which stops for ever amid a change does not explain. No transaction is lost by one of the others.
    private static func faults(_ findings: [String]) -> [String] {
        findings.filter {
            !$0.hasPrefix("HEAD is torn: ") && !$0.hasSuffix("are not a whole transaction; the store never reported them as durable")
                && !$0.hasSuffix("a writer ended while it created this file of the log, so the file has no transactions")
        }
    }

    @Test func `a repair of a sound store finds no corruption while another process writes`() throws {
        // After a compaction, a repair reports what is retired.
        try Self.forEachInterleaving(compacts: false) { volume, seed in
            let repair = try Repair(volume, to: MemoryVolume(), environment: fixedEnvironment(seed: 5))
            let faults = Self.faults(repair.findings)
            #expect(faults.isEmpty && repair.missing.isEmpty, "seed \(seed): \(faults) \(repair.missing)")
            #expect(repair.transactionCount >= 11, "seed \(seed)")
        }
    }

    @Test func `a verification of a sound store finds no corruption while another process writes`() throws {
        try Self.forEachInterleaving { volume, seed in
            let verification = try Verification(volume)
            let faults = Self.faults(verification.findings)
            #expect(faults.isEmpty && verification.isSound && verification.transactionCount >= 11, "seed \(seed): \(faults)")
        }
    }

    @Test func `a reader of a sound store finds no corruption while another process writes`() throws {
        try Self.forEachInterleaving { volume, seed in
            let store = try ReadOnlyStore(volume)
            #expect(store.graph.objectCount >= 10 && store.graph.invariantFindings().isEmpty, "seed \(seed)")
            let faults = Self.faults(store.recovery.notes)
            #expect(faults.isEmpty, "seed \(seed): \(faults)")
        }
    }

    @Test(arguments: [false, true])
    func `a history beside a writer is whole, or says that a part was retired`(compacts: Bool) throws {
        try Self.forEachInterleaving(compacts: compacts) { volume, seed in
            let trail = AuditTrail(volume)
            var inserted: Set<ObjectID> = []
            var isRetired = false
            try trail.history(HistorySelection(entity: "Note")) { entry in
                switch entry.change {
                case .inserted: inserted.insert(try #require(entry.object).id)
                case .retired: isRetired = true
                default: break
                }
                return true
            }
            #expect(inserted.count >= 10 || compacts && isRetired, "seed \(seed): \(inserted.count)")
            let first = try trail.graph(at: .latest).find("Note", identity: [1])
            let note = try #require(inserted.min() ?? first)
            let history = try trail.history(of: note)
            switch history.last?.change {
            case .inserted: break
            case .retired: #expect(compacts, "seed \(seed)")
            default: Issue.record("seed \(seed): \(history)")
            }
            #expect(try trail.checkHistory(of: note).isComplete, "seed \(seed)")
            #expect(try trail.blame(of: note).count >= 2, "seed \(seed)")
        }
    }

    @Test(arguments: [false, true])
    func `the log and earlier moments beside a writer are whole, or expired`(compacts: Bool) throws {
        try Self.forEachInterleaving(compacts: compacts) { volume, seed in
            do {
                var numbers: [UInt64] = []
                try TransactionLog(volume).forEach { entry in
                    _ = try entry.ops()
                    numbers.append(entry.number.rawValue)
                }
                #expect(numbers.count >= 11 && numbers == Array(1...UInt64(numbers.count)), "seed \(seed): \(numbers)")
                let graph = try ReadOnlyStore(volume, point: .transaction(TransactionNumber(rawValue: 6))).graph
                #expect(graph.objectCount == 5, "seed \(seed)")
                let found = try AuditTrail(volume).firstTransaction(where: "id >= 7", entity: "Note")
                #expect(found?.step.entry.number.rawValue == 9 || compacts, "seed \(seed)")
            } catch let error as CambiumError where compacts && (error.code == .expired || error.code == .notFound) {}
        }
    }

    @Test(arguments: [false, true])
    func `a trail that is kept beside a writer sees ever newer transactions`(compacts: Bool) throws {
        try Self.forEachInterleaving(compacts: compacts) { volume, seed in
            let trail = AuditTrail(volume)
            var last = TransactionNumber.none
            for _ in 0..<6 {
                let newest = try trail.newest()
                #expect(newest >= last && newest.rawValue >= 11, "seed \(seed): \(newest) after \(last)")
                last = newest
                let graph = try trail.graph(at: .latest)
                #expect(graph.transaction >= newest && graph.invariantFindings().isEmpty, "seed \(seed)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `a follower beside a writer advances, and never back`(compacts: Bool) throws {
        try Self.forEachInterleaving(compacts: compacts) { volume, seed in
            let follower = try StoreFollower(volume, tuning: Archiving.tuning)
            var last = follower.graph.transaction
            for _ in 0..<6 {
                _ = try follower.advance()
                let graph = follower.graph
                #expect(graph.transaction >= last && graph.objectCount == Int(graph.transaction.rawValue) - 1, "seed \(seed)")
                last = graph.transaction
            }
        }
    }

    @Test func `a reader of new transactions beside a writer gets each of them once, or learns that they are gone`() throws {
        struct Enough: Error {}
        for compacts in [false, true] {
            try Self.forEachInterleaving(compacts: compacts) { volume, seed in
                var numbers: [UInt64] = []
                var pauseCount = 0
                do {
                    let pause = {
                        pauseCount += 1
                        if pauseCount == 6 { throw Enough() }
                    }
                    try TransactionLog(volume).follow(pause: pause) { entry in
                        numbers.append(entry.number.rawValue)
                        return true
                    }
                } catch is Enough {
                } catch let error as CambiumError where compacts && (error.code == .expired || error.code == .notFound) {}
                #expect(numbers == Array(1..<UInt64(numbers.count + 1)) && (compacts || numbers.count >= 11), "seed \(seed): \(numbers)")
            }
        }
    }

    @Test(arguments: [false, true])
    func `a backup beside a writer is a sound store`(compacts: Bool) throws {
        try Self.forEachInterleaving(compacts: compacts, found: [1001]) { volume, seed in
            let target = MemoryVolume()
            _ = try Backup(volume, to: target)
            let verification = try Verification(target)
            #expect(verification.isSound && verification.transactionCount >= 11, "seed \(seed): \(verification.findings)")
        }
    }

    @Test(arguments: [false, true])
    func `proofs, tiles and counts beside a writer are those of one moment`(compacts: Bool) throws {
        try Self.forEachInterleaving(compacts: compacts) { volume, seed in
            let proof = try Store.prove(TransactionNumber(rawValue: 5), volume)
            #expect(proof.path.count >= 3, "seed \(seed)")
            let target = MemoryVolume()
            let tiles = try Store.writeTiles(of: volume, to: target)
            #expect(tiles.size >= 11 && tiles.fileCount > 0, "seed \(seed)")
            let statistics = try Statistics(volume)
            #expect(statistics.objectCount >= 10, "seed \(seed)")
        }
    }

    @Test func `two processes that open a store for writing in turns lose no transaction`() throws {
        let original = MemoryVolume()
        try Archiving.made(original, count: 10).close()
        for seed in Self.seeds {
            let memory = MemoryVolume(contents: original.contents)
            let count = Guarded(0)
            let write: @Sendable (any Volume, Range<Int>) -> Void = { volume, numbers in
                for number in numbers {
                    do {
                        let store = try Archiving.reopen(volume)
                        try Archiving.add(store, number)
                        count.withLock { $0 += 1 }
                        if number % 3 == 0 { try store.checkpoint() }
                        try store.close()
                    } catch {
                        let isLocked = (error as? CambiumError)?.code == .locked
                        if !isLocked { Issue.record("seed \(seed), \(number): \(error)") }
                    }
                }
            }
            PacedVolumes(memory, pauses: Self.pauses(seed)).run({ write($0, 100..<104) }) { write($0, 200..<204) }
            let verification = try Verification(memory)
            #expect(verification.findings.isEmpty, "seed \(seed): \(verification.findings)")
            #expect(try ReadOnlyStore(memory).graph.objectCount == 10 + count.withLock { $0 }, "seed \(seed)")
        }
    }
}
