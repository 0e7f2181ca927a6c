import Cambium
import CambiumBytes
import CambiumModel
import CambiumTesting
import Dispatch
import Foundation
import TestFixtures
import Testing

@testable import CambiumGraph
@testable import CambiumLog
@testable import CambiumStore

/// Checkpoints that a store makes automatically, in the background.
@Suite struct CheckpointSchedulerTests {
    private let clock = StillClock()
    private let volume = WatchedVolume()
    /// Signalled for each write to a file of pages.
    private let pageWrites = DispatchSemaphore(value: 0)

    private func made(_ change: (inout LogTuning) -> Void = { _ in }) throws -> Store {
        var tuning = LogTuning()
        // Sealing lists the log, too. It must not get the error that is meant for a checkpoint.
        tuning.sealsInBackground = false
        change(&tuning)
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .buffered(every: .seconds(1000)), environment: clock.environment(), tuning: tuning)
        volume.onPageWrite.withLock { [pageWrites] in $0 = { pageWrites.signal() } }
        return store
    }

    /// Commits one note, which takes about `byteCount` bytes of log.
    private func insert(_ number: Int, _ byteCount: Int, into store: Store) throws {
        var random = SplitMix64(seed: UInt64(number))
        let title = String(decoding: (0..<byteCount).map { _ in UInt8.random(in: 97...122, using: &random) }, as: UTF8.self)
        try store.write { try $0.insert("Note", ["id": .int(Int64(number)), "title": .string(title)]) }
    }

    private var checkpoints: [UInt64] { get throws { try CheckpointRecord.list(volume).map(\.rawValue) } }

    /// Waits until the automatic checkpoint that writes pages is done. An explicit checkpoint waits for it, and has nothing to do.
    private func finish(_ store: Store) throws {
        pageWrites.wait()
        #expect(try store.checkpoint().byteCount == 0)
        while pageWrites.wait(timeout: .now()) == .success {}
    }

    @Test func `a commit that makes the log long enough makes a checkpoint in the background`() throws {
        let store = try made { $0.checkpointByteCount = 20_000 }
        try insert(1, 8000, into: store)
        try insert(2, 8000, into: store)
        #expect(try checkpoints == [])
        try insert(3, 8000, into: store)
        try finish(store)
        #expect(try checkpoints == [4] && store.checkpointFailure == nil)
        // The log is counted from the checkpoint on.
        try insert(4, 8000, into: store)
        try insert(5, 8000, into: store)
        try insert(6, 8000, into: store)
        try finish(store)
        #expect(try checkpoints == [7, 4])
    }

    @Test func `a log of 64 KiB gets a checkpoint with the first commit after five minutes`() throws {
        let store = try made()
        try insert(1, 80_000, into: store)
        clock.advance(299)
        try insert(2, 10, into: store)
        #expect(try checkpoints == [])
        clock.advance(1)
        try insert(3, 10, into: store)
        try finish(store)
        #expect(try checkpoints == [4])
    }

    @Test func `a log of 64 KiB gets a checkpoint five minutes after the clock was set back`() throws {
        let store = try made()
        try insert(1, 80_000, into: store)
        clock.advance(-1_000_000)
        try insert(2, 10, into: store)
        clock.advance(299)
        try insert(3, 10, into: store)
        #expect(try checkpoints == [])
        clock.advance(1)
        try insert(4, 10, into: store)
        try finish(store)
        #expect(try checkpoints == [5])
    }

    @Test func `a log that takes long to replay gets a checkpoint, and the next one only after a pause`() throws {
        let store = try made { $0.replayWorkMax = 150_000 }
        let scheduler = try #require(store.checkpoints)
        // The test itself makes the checkpoints.
        store.writer.alarm.onRing { _ in }
        func isDue() -> Bool {
            scheduler.isDue(store.writer.lock.hold { UpkeepAlarm.Reading(store.writer.timeline, at: clock.time) })
        }
        #expect(!isDue())
        try insert(1, 60_000, into: store)
        #expect(isDue())
        scheduler.attempt()
        try insert(2, 80_000, into: store)
        try insert(3, 80_000, into: store)
        #expect(try !isDue() && checkpoints == [2])
        // After five minutes, the bytes of the log would be a reason, too.
        clock.advance(299)
        #expect(isDue())
        scheduler.attempt()
        #expect(try checkpoints == [4, 2])
    }

    @Test func `a pause ends with a checkpoint even if no commit follows`() throws {
        let store = try made { ($0.replayWorkMax, $0.replayPauseMin) = (150_000, 0) }
        try insert(1, 60_000, into: store)
        try finish(store)
        try insert(2, 80_000, into: store)
        try insert(3, 80_000, into: store)
        while store.metrics.checkpointCount < 2 {}
        #expect(store.checkpointFailure == nil)
    }

    @Test func `a failed checkpoint is reported, and tried again when the log has grown`() throws {
        let store = try made { $0.checkpointByteCount = 20_000 }
        volume.beforeListing.withLock { $0 = [{ throw CambiumError(.ioFailure, "The disk refuses.") }] }
        try insert(1, 25_000, into: store)
        while store.checkpointFailure == nil, store.metrics.checkpointCount == 0 {}
        #expect(try checkpoints == [] && store.metrics.failedCheckpointCount == 1)
        try insert(2, 15_000, into: store)
        #expect(store.checkpointFailure != nil)
        try insert(3, 15_000, into: store)
        while store.checkpointFailure != nil {}
        #expect(try checkpoints == [4] && store.metrics.checkpointCount == 1)
    }

    @Test func `an automatic checkpoint that finds the store closed is not a failure`() throws {
        let store = try Store.notes()
        try store.addNote(1)
        try store.close()
        try #require(store.checkpoints).attempt()
        #expect(store.checkpointFailure == nil && store.metrics.failedCheckpointCount == 0)
    }

    @Test func `closing a store makes the checkpoint that failed before`() throws {
        let store = try made { ($0.checkpointByteCount, $0.closingCheckpointByteCount) = (20_000, 20_000) }
        volume.beforeListing.withLock { $0 = [{ throw CambiumError(.ioFailure, "The disk refuses.") }] }
        try insert(1, 25_000, into: store)
        while store.checkpointFailure == nil, store.metrics.checkpointCount == 0 {}
        try insert(2, 10, into: store)
        try store.close()
        #expect(try checkpoints == [3])
    }

    @Test func `a checkpoint that failed while memory was short is tried again when the log has grown`() throws {
        let budget = MemoryBudget(byteCount: 8 << 20)
        var tuning = LogTuning()
        tuning.sealsInBackground = false
        let store = try Store.create(
            volume, schema: Notes.schema, durability: .buffered(every: .seconds(1000)), environment: clock.environment(), tuning: tuning,
            memory: budget)
        let scheduler = try #require(store.checkpoints)
        // The test itself makes the checkpoints.
        store.writer.alarm.onRing { _ in }
        try insert(1, 1_500_000, into: store)
        budget.take(8 << 20)
        func reading() -> UpkeepAlarm.Reading { store.writer.lock.hold { UpkeepAlarm.Reading(store.writer.timeline, at: clock.time) } }
        #expect(scheduler.isDue(reading()))
        volume.beforeListing.withLock { $0 = [{ throw CambiumError(.ioFailure, "The disk refuses.") }] }
        scheduler.attempt()
        #expect(store.checkpointFailure != nil)
        try insert(2, 10, into: store)
        #expect(!scheduler.isDue(reading()))
        try insert(3, 80_000, into: store)
        #expect(scheduler.isDue(reading()))
        scheduler.attempt()
        #expect(try store.checkpointFailure == nil && checkpoints == [4])
        #expect(!scheduler.isDue(reading()))
    }

    @Test func `commits in the reserve cause checkpoints after growing pauses`() throws {
        let store = try made()
        let scheduler = try #require(store.checkpoints)
        // The test itself makes the checkpoints.
        store.writer.alarm.onRing { _ in }
        func isDue(isFull: Bool = true) -> Bool {
            scheduler.isDue(UpkeepAlarm.Reading(time: clock.time, heapByteCount: 0, isMemoryTight: false, isFull: isFull))
        }
        #expect(isDue())
        scheduler.attempt()
        for pause: Int64 in [1, 2, 4] {
            try insert(Int(pause), 10, into: store)
            #expect(!isDue())
            clock.advance(pause)
            #expect(isDue())
            scheduler.attempt()
        }
        // More log may have freed more chunks.
        try insert(5, 80_000, into: store)
        #expect(isDue())
        scheduler.attempt()
        // Outside of the reserve, the pause ends.
        #expect(!isDue(isFull: false))
        #expect(isDue())
    }

    @Test func `a checkpoint can sync the log while another thread closes the store`() throws {
        let store = try made()
        try store.addNote(1)
        let checkpointer = try #require(store.checkpoints?.checkpointer)
        let isDone = DispatchSemaphore(value: 0)
        let canSync = try checkpointer.whileNoneIsMade {
            let thread = Thread {
                do { try store.close() } catch { Issue.record("\(error)") }
                isDone.signal()
            }
            thread.start()
            while !store.writer.lock.hold({ store.writer.isClosed }) {}
            // If the closing thread led the sync, it would wait for the checkpoint, and the checkpoint for the sync.
            let canSync = store.writer.lock.hold { !store.commits.isSyncing }
            if canSync { try checkpointer.syncLog() }
            return canSync
        }
        isDone.wait()
        #expect(canSync)
    }

    @Test func `a thread that closes a store while another thread closes it waits until the store is closed`() throws {
        let store = try made()
        try store.addNote(1)
        let checkpointer = try #require(store.checkpoints?.checkpointer)
        let isDone = DispatchSemaphore(value: 0)
        let hasReturned = Guarded(false)
        try checkpointer.whileNoneIsMade {
            let first = Thread {
                do { try store.close() } catch { Issue.record("\(error)") }
                isDone.signal()
            }
            first.start()
            // After this loop, the first thread waits for the end of this closure.
            while !store.writer.lock.hold({ store.writer.isClosed }) {}
            let second = Thread { [volume] in
                do {
                    try store.close()
                    hasReturned.withLock { $0 = true }
                    try Store.open(volume, durability: nil, environment: fixedEnvironment()).close()
                } catch { Issue.record("\(error)") }
                isDone.signal()
            }
            second.start()
            while store.writer.closing.waiterCount == 0, !hasReturned.withLock({ $0 }) {}
        }
        isDone.wait()
        isDone.wait()
    }
}
