import Cambium
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Stores after an interrupted sealing or merging.
@Suite struct MergeCrashTests {
    /// Opens a store, which seals and merges its segments, and abandons it. Throws the error of a sealing that failed.
    private func tidied(_ volume: any Volume) throws {
        let store = try Merging.open(volume)
        store.abandon()
        if let failure = store.sealingFailure { throw failure }
    }

    /// Expects that a store has kept its transactions, however it was left, and that the next opening merges its segments.
    private func check(_ disk: MemoryVolume, _ export: String, _ before: [LogRecord], _ place: String) throws {
        #expect(try ReadOnlyStore(disk).graph.export == export && StoreFollower(disk).graph.export == export, "\(place)")
        #expect(try Merging.areSame(Merging.records(disk), before), "\(place)")
        let again = try Merging.open(disk, 5)
        #expect(again.sealingFailure == nil && again.graph.export == export, "\(place): \(String(describing: again.sealingFailure))")
        try Merging.add(again, 900)
        try again.close()
        let verification = try Verification(disk)
        #expect(verification.findings == [] && verification.digest == again.graph.digest(), "\(place): \(verification.findings)")
        #expect(!disk.contents.keys.contains { $0.hasSuffix(".new") }, "\(place)")
        for number in try CheckpointRecord.list(disk) {
            let opened = try ReadOnlyStore(disk, point: .transaction(number))
            #expect(opened.recovery.checkpoint == number && opened.graph.objectCount == Int(number.rawValue) - 1, "\(place)")
        }
    }

    /// Returns the files, the export and the records of a store that was not closed.
    private func left(_ make: (MemoryVolume) throws -> Store) throws -> (contents: [String: [UInt8]], export: String, before: [LogRecord]) {
        let volume = MemoryVolume()
        let store = try make(volume)
        store.abandon()
        return (volume.contents, store.graph.export, try Merging.records(volume))
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a crash while segments are merged leaves the old segments, or one segment and some that it covers`() throws {
        let (contents, export, before) = try left { try Merging.made($0) }
        let measured = FaultyVolume(contents: contents)
        try tidied(measured)
        #expect(try Merging.kinds(measured) == [1: .sealed, 19: .open])
        var found: Set<[UInt64]> = []
        for operation in 0..<measured.operationCount {
            let volume = FaultyVolume(contents: contents)
            volume.crash(at: operation)
            #expect(code { try tidied(volume) } != nil)
            for seed in 0..<UInt64(3) {
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                found.insert(try LogDirectory.segments(disk).map(\.rawValue))
                let place = "operation \(operation), seed \(seed)"
                try check(disk, export, before, place)
                #expect(try Merging.kinds(disk) == [1: .sealed, 19: .open], "\(place)")
            }
        }
        // Merging removes segments beginning with the last one, and a power failure may preserve any of the removals.
        #expect(found.contains([1, 5, 9, 12, 16, 19]) && found.contains([1, 19]) && found.count > 3, "\(found)")
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a disk that is full at any operation of merging leaves a usable store that is merged later`() throws {
        let (contents, _, _) = try left { try Merging.made($0) }
        let measured = FaultyVolume(contents: contents)
        try tidied(measured)
        var failedCount = 0
        for operation in 0..<measured.operationCount {
            let volume = FaultyVolume(contents: contents)
            volume.fail(at: operation, with: 28)
            guard let store = try? Merging.open(volume) else { continue }  // The opening itself met the full disk.
            if store.sealingFailure != nil { failedCount += 1 }
            volume.recover()
            try Merging.add(store, 901)
            try store.close()
            let again = try Merging.open(volume, 4)
            #expect(again.sealingFailure == nil && again.graph.export == store.graph.export, "operation \(operation)")
            try again.close()
            // A segment that was merged without the newest one may be more than twice as large as the newest one.
            let kinds = try Merging.kinds(volume)
            #expect(kinds.count <= 4 && kinds.filter { $0.value == .open }.keys.map(\.self) == [19], "operation \(operation): \(kinds)")
            #expect(try Verification(volume).findings == [], "operation \(operation)")
        }
        #expect(failedCount > 10)
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a crash at any operation of a compaction that merges leaves the store as before or as after`() throws {
        func compacted(_ volume: any Volume) throws -> Store {
            let store = try Merging.made(volume, tuning: Merging.tuning)
            try store.compact(.since(.transaction(TransactionNumber(rawValue: 7))))
            for number in 300..<304 { try Merging.add(store, number) }
            return store
        }
        let whole = FaultyVolume()
        let first = try compacted(whole)
        let begun = whole.operationCount
        let retention = Retention.since(.transaction(TransactionNumber(rawValue: 14)))
        try first.compact(retention)
        #expect(try Merging.kinds(whole).filter { $0.value == .retired }.count == 1 && first.sealingFailure == nil)
        var found: Set<[UInt64]> = []
        for operation in begun...whole.operationCount {
            let volume = FaultyVolume()
            let store = try compacted(volume)
            let (export, count) = (store.graph.export, store.graph.objectCount)
            volume.crash(at: operation)
            do { try store.compact(retention) } catch {}  // The process has died.
            for seed in 0..<UInt64(2) {
                let place = "operation \(operation), seed \(seed)"
                let disk = MemoryVolume(contents: volume.image(seed: seed))
                found.insert(try LogDirectory.segments(disk).map(\.rawValue))
                #expect(try ReadOnlyStore(disk).graph.export == export && StoreFollower(disk).graph.export == export, "\(place)")
                let again = try Merging.open(disk, 5)
                #expect(again.graph.export == export && again.sealingFailure == nil, "\(place)")
                try again.compact(retention)
                try again.close()
                #expect(try Verification(disk).findings == [] && LogReader(disk).retiredEnd().rawValue == 13, "\(place)")
                #expect(try Merging.kinds(disk).filter { $0.value == .retired }.count == 1 && again.graph.objectCount == count, "\(place)")
                #expect(!disk.contents.keys.contains { $0.hasSuffix(".new") }, "\(place)")
            }
        }
        #expect(found.count > 2, "\(found)")
    }

    // MARK: Covered segments

    @Test(arguments: LongTests.areWanted ? [0, 1, 2, 3, 4] : [0, 1, 4])
    func `readers skip the segments that an interrupted merge left, and the next opening removes them`(count: Int) throws {
        let (volume, export, covered) = try Merging.interrupted(covered: count)
        #expect(try covered.count == count && LogDirectory.segments(volume).count == count + 2)
        for first in 1...19 as ClosedRange<UInt64> {
            #expect(try Merging.records(volume, from: first).map(\.number.rawValue) == Array(first...19))
        }
        #expect(try Verification(volume).findings == [] && LogReader(volume).retiredEnd() == .none)
        for number in try CheckpointRecord.list(volume) {
            let opened = try ReadOnlyStore(volume, point: .transaction(number))
            #expect(opened.recovery.checkpoint == number && opened.graph.objectCount == Int(number.rawValue) - 1)
        }
        let (copy, repaired) = (MemoryVolume(), MemoryVolume())
        _ = try Backup(volume, to: copy)
        #expect(try Verification(copy).findings == [] && ReadOnlyStore(copy).graph.export == export)
        let repair = try Repair(volume, to: repaired, environment: fixedEnvironment(seed: 6))
        #expect(try repair.findings == [] && repair.transactionCount == 19 && repair.root == Verification(volume).root)
        let store = try Merging.open(volume)
        #expect(store.sealingFailure == nil && store.graph.export == export)
        #expect(try LogDirectory.segments(volume).count == 2 && Verification(volume).findings == [])
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `the name of the merged segment is durable before the segments that it covers are removed`() throws {
        let (contents, export, _) = try left { try Merging.made($0) }
        let measured = FaultyVolume(contents: contents)
        try tidied(measured)
        for operation in 0..<measured.operationCount {
            // A process dies while the operating system keeps running. The next process sees writes that are not durable yet.
            let volume = FaultyVolume(contents: contents)
            volume.crash(at: operation)
            #expect(code { try tidied(volume) } != nil)
            volume.recover()
            let begun = volume.operationCount
            try tidied(volume)
            for last in begun...volume.operationCount {
                let second = FaultyVolume(contents: contents)
                second.crash(at: operation)
                do { try tidied(second) } catch {}  // As above.
                second.recover()
                second.crash(at: last)
                do { try tidied(second) } catch {}  // As above, or it is done.
                let disk = MemoryVolume(contents: second.image(seed: UInt64(last)))
                #expect(try ReadOnlyStore(disk).graph.export == export, "operation \(operation), then \(last)")
            }
        }
    }
}
