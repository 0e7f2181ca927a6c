import Cambium
import CambiumBytes
import CambiumTesting
import TestFixtures
import Testing

@testable import CambiumLog
@testable import CambiumStore

/// Readers without a lock, at any position of the log, while another process merges segments.
@Suite struct MergeReaderTests {
    /// A store with six segments, and another process that takes it over and merges the first five or all six segments.
    private final class Scene: Sendable {
        let volume = WatchedVolume()
        private let process: Guarded<Store>

        init() throws { process = Guarded(try Merging.made(volume.memory)) }

        var store: Store { process.withLock { $0 } }

        /// Lets a process die with a torn tail. The next process merges all segments before the one that it begins.
        func takeOver(_ number: Int) throws {
            let next = try Merging.takeOver(store, volume.memory, number)
            process.withLock { $0 = next }
        }

        func check(_ numbers: [UInt64]) throws {
            #expect(numbers == Array(1...UInt64(numbers.count)) && numbers.count >= 19)
            #expect(store.sealingFailure == nil)
        }
    }

    @Test func `a reader at any transaction sees each transaction once while earlier segments are merged`() throws {
        for standing in 1...19 {
            let scene = try Scene()
            var numbers: [UInt64] = []
            _ = try LogReader(scene.volume).scan(makesDurable: true) { record in
                numbers.append(record.number.rawValue)
                if numbers.count == standing { try scene.takeOver(100) }
                // The next process merges the merged segment again, together with the newer transactions.
                if numbers.count == standing + 1 { try scene.takeOver(101) }
            }
            try scene.check(numbers)
            #expect(numbers.count == 21, "standing at \(standing)")
        }
    }

    @Test func `a reader that lists the log while segments are merged sees each transaction once`() throws {
        for listing in 0..<8 {
            for first in [1, 7, 9, 18] as [UInt64] {
                let scene = try Scene()
                let reader = try LogReader(scene.volume)
                scene.volume.beforeListing.withLock { $0 = Array(repeating: {}, count: listing) + [{ try scene.takeOver(100) }] }
                var numbers: [UInt64] = []
                _ = try reader.scan(from: TransactionNumber(rawValue: first), makesDurable: true) { numbers.append($0.number.rawValue) }
                #expect(numbers.count >= 20 - Int(first) && numbers == Array(first..<first + UInt64(numbers.count)), "\(listing), \(first)")
            }
        }
    }

    @Test func `followers that began at any time continue past merged segments`() throws {
        let scene = try Scene()
        var followers = [try StoreFollower(scene.volume)]
        for number in 200..<212 {
            if number % 3 == 0 { try scene.takeOver(number) } else { try Merging.add(scene.store, number) }
            if number % 4 == 1 { try scene.store.checkpoint() }
            followers.append(try StoreFollower(scene.volume))
            // Each follower advances in every third round.
            for (place, follower) in followers.enumerated() where (number + place) % 3 == 0 { try follower.advance() }
        }
        for (place, follower) in followers.enumerated() {
            try follower.advance()
            #expect(follower.graph.export == scene.store.graph.export, "follower \(place)")
        }
        #expect(try LogDirectory.segments(scene.volume).count <= 4)
    }

    @Test func `a follower finds the transactions of a segment that is merged before it opens the segment`() throws {
        let scene = try Scene()
        let follower = try StoreFollower(scene.volume)
        for number in 300..<306 {
            // In between, two other processes write: the segment after the follower's one appears and is merged away.
            try scene.takeOver(number)
            try scene.takeOver(number + 50)
            #expect(try follower.advance() == 2)
            #expect(follower.graph.export == scene.store.graph.export)
        }
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `time travel, verification and repair see no corruption while segments are merged`() throws {
        for listing in 0..<7 {
            func scene() throws -> Scene {
                let scene = try Scene()
                scene.volume.beforeListing.withLock { $0 = Array(repeating: {}, count: listing) + [{ try scene.takeOver(100) }] }
                return scene
            }
            for number in [1, 4, 8, 11, 18] as [UInt64] {
                let moment = try ReadOnlyStore(scene().volume, point: .transaction(TransactionNumber(rawValue: number)))
                #expect(moment.graph.objectCount == Int(number) - 1, "listing \(listing), moment \(number)")
            }
            let verification = try Verification(scene().volume)
            #expect(verification.isSound && verification.transactionCount >= 19, "listing \(listing): \(verification.findings)")
            let repair = try Repair(scene().volume, to: MemoryVolume(), environment: fixedEnvironment(seed: 4))
            #expect(repair.findings == [] && repair.transactionCount >= 19, "listing \(listing): \(repair.findings)")
        }
    }

    @Test(.enabled(if: LongTests.areWanted))
    func `a backup that is made while segments are merged is a store as it was at one moment`() throws {
        for listing in 0..<9 {
            for count in 1...2 {
                let scene = try Scene()
                scene.volume.beforeListing.withLock { hooks in
                    hooks = Array(repeating: {}, count: listing)
                    for number in 0..<count { hooks.append { try scene.takeOver(100 + number) } }
                }
                let copy = MemoryVolume()
                let backup = try Backup(scene.volume, to: copy)
                let verification = try Verification(copy)
                #expect(verification.findings == [] && backup.transaction.rawValue >= 19, "listing \(listing): \(verification.findings)")
                #expect(verification.transactionCount == Int(backup.transaction.rawValue))
                let opened = try Merging.open(copy, 8)
                #expect(opened.recovery.notes == [] && opened.graph.objectCount == Int(backup.transaction.rawValue) - 1)
            }
        }
    }

    // MARK: HEAD

    /// Makes a store whose segments were merged, with an older HEAD that names one of them.
    private func withOlderHead() throws -> (contents: [String: [UInt8]], export: String) {
        let volume = MemoryVolume()
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .synced, environment: fixedEnvironment(), tuning: Merging.apart)
        var head: [UInt8]?
        for segment in 0..<4 {
            for number in 0..<3 { try Merging.add(store, segment * 10 + number) }
            if segment == 2 { head = volume.contents[Head.fileName] }
            try store.writer.log?.endSegment(with: store.graph.transaction)
        }
        try Merging.add(store, 90)
        let export = store.graph.export
        store.abandon()
        try Merging.open(volume).abandon()
        var contents = volume.contents
        // HEAD is not synced when a segment begins, so a power failure may keep an older HEAD.
        contents[Head.fileName] = head
        return (contents, export)
    }

    @Test func `HEAD may name a segment that was merged with earlier segments`() throws {
        let (contents, export) = try withOlderHead()
        let volume = MemoryVolume(contents: contents)
        let head = try #require(try Head.read(volume, store: StoreSettings.read(volume).store).head)
        #expect(try head.segment.rawValue == 8 && LogDirectory.segments(volume).map(\.rawValue) == [1, 14])
        #expect(try ReadOnlyStore(volume).graph.export == export && StoreFollower(volume).graph.export == export)
        #expect(try Verification(volume).findings == [])
        let store = try Merging.open(volume)
        #expect(store.graph.export == export && store.recovery.notes == [])
        try Merging.add(store, 91)
        try store.close()
        #expect(try Verification(volume).findings == [])
    }

    @Test func `a segment that HEAD names is missing unless a merged segment includes it`() throws {
        let (contents, _) = try withOlderHead()
        // The merged segment is removed, so no segment has the transaction with which HEAD's segment began.
        var lacking = contents
        lacking["log/00000000000000000001.log"] = nil
        #expect(code { _ = try ReadOnlyStore(MemoryVolume(contents: lacking)) } == .corrupted)
        // An open segment was never merged, so it cannot include a segment that HEAD names.
        let volume = MemoryVolume()
        let store = try Merging.made(volume)
        store.abandon()
        var files = volume.contents
        let head = Head(
            sequence: 1000, segment: TransactionNumber(rawValue: 7), position: 96, lastTransaction: TransactionNumber(rawValue: 7),
            isClosed: false)
        files[Head.fileName] = head.encode(store: try StoreSettings.read(volume).store)
        #expect(code { _ = try ReadOnlyStore(MemoryVolume(contents: files)) } == .corrupted)
        #expect(code { _ = try Merging.open(MemoryVolume(contents: files)) } == .corrupted)
    }

    // MARK: Corruption

    @Test func `corruption in a merged segment is found, and everything else is saved`() throws {
        let volume = MemoryVolume()
        let store = try Merging.made(volume)
        store.abandon()
        try Merging.open(volume).abandon()
        let path = "log/00000000000000000001.log"
        let index = try #require(try SegmentReader(volume, path: path).index)
        var offset = Format.Segment.headerByteCount
        var first: UInt64 = 1
        let roots = try CheckpointRecord.list(volume).map(\.rawValue)
        #expect(index.entries.count > 4)
        for entry in index.entries {
            var contents = volume.contents
            contents[path]?[offset + entry.byteCount / 2] ^= 1
            let corrupted = MemoryVolume(contents: contents)
            #expect(try !Verification(corrupted).isSound)
            let target = MemoryVolume()
            let repair = try Repair(corrupted, to: target, environment: fixedEnvironment(seed: 5))
            let end = first + UInt64(entry.transactionCount)
            #expect(!repair.findings.isEmpty && repair.missing.first?.lowerBound.rawValue == first, "the frame with transaction \(first)")
            // The state of the next checkpoint replaces the missing transactions.
            if let checkpoint = roots.filter({ $0 >= end - 1 }).min() {
                #expect(repair.transactionCount == 19 && repair.missing.last?.upperBound.rawValue == checkpoint, "\(repair.missing)")
                #expect(try ReadOnlyStore(target).graph.export == store.graph.export, "the frame with transaction \(first)")
            } else {
                #expect(repair.missing.last?.upperBound.rawValue == 19, "\(repair.missing)")
            }
            offset += entry.byteCount
            first = end
        }
    }
}
