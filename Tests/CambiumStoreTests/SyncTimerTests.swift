import Cambium
import CambiumBytes
import CambiumTesting
import Dispatch
import TestFixtures
import Testing

/// The timer of `buffered(every:)`.
@Suite struct SyncTimerTests {
    /// A timer that fires when a test fires it.
    private final class ManualTimer: SyncTimer {
        let delay = Guarded<Duration?>(nil)
        let action = Guarded<(@Sendable () -> Void)?>(nil)

        func start(after delay: Duration) { self.delay.withLock { $0 = delay } }
        func cancel() { delay.withLock { $0 = nil } }
        var due: Duration? { delay.withLock { $0 } }

        func fire() {
            delay.withLock { $0 = nil }
            action.withLock { $0 }?()
        }
    }

    private let clock = StillClock()
    private let timer = ManualTimer()
    private let volume = GatedVolume()

    private func made(every interval: Duration = .seconds(10)) throws -> Store {
        var environment = clock.environment()
        environment.makeTimer = { [timer] action in
            timer.action.withLock { $0 = action }
            return timer
        }
        return try Store.create(volume, schema: Notes.schema, durability: .buffered(every: interval), environment: environment)
    }

    private func insert(_ store: Store, _ number: Int) throws {
        try store.write { try $0.insert("Note", ["id": .int(Int64(number))]) }
    }

    /// Waits until no sync is in progress.
    private func settle(_ store: Store) throws { try store.write(durability: .synced) { _ in } }

    @Test func `the last commits before an idle time are synced when the interval is over`() throws {
        let store = try made()
        try settle(store)
        clock.advance(4)
        try insert(store, 1)
        #expect(timer.due == .seconds(6))
        clock.advance(3)
        try insert(store, 2)
        #expect(timer.due == .seconds(6), "a timer that is due earlier stays")
        let syncCount = volume.syncCount.load(ordering: .relaxed)
        volume.isShut.store(true, ordering: .relaxed)
        timer.fire()
        volume.arrivals.wait()
        volume.isShut.store(false, ordering: .relaxed)
        volume.gate.signal()
        try settle(store)
        #expect(volume.syncCount.load(ordering: .relaxed) == syncCount + 1 && timer.due == nil)
        try store.close()
    }

    @Test func `no sync is due while everything is synced, nor after closing`() throws {
        let store = try made()
        try settle(store)
        #expect(timer.due == nil)
        try insert(store, 1)
        try store.write(durability: .synced) { try $0.insert("Note", ["id": .int(2)]) }
        #expect(timer.due == nil, "another sync has covered it")
        let syncCount = volume.syncCount.load(ordering: .relaxed)
        timer.fire()
        try settle(store)
        #expect(volume.syncCount.load(ordering: .relaxed) == syncCount)
        try insert(store, 3)
        #expect(timer.due != nil)
        try store.close()
        #expect(timer.due == nil)
        timer.fire()
    }

    @Test func `a store that is released ends its timer`() throws {
        do {
            let store = try made()
            try settle(store)
            try insert(store, 1)
            withExtendedLifetime(store) { #expect(timer.due != nil) }
        }
        #expect(timer.due == nil)
        timer.fire()
    }

    @Test func `a store that is released syncs its last writes, because its timer ends`() throws {
        let syncCount: Int
        do {
            let store = try made()
            try settle(store)
            try insert(store, 1)
            syncCount = withExtendedLifetime(store) { volume.syncCount.load(ordering: .relaxed) }
        }
        #expect(volume.syncCount.load(ordering: .relaxed) == syncCount + 1)
    }

    @Test func `a store whose interval never ends syncs its last writes when it is released`() throws {
        let syncCount: Int
        do {
            let store = try made(every: .seconds(Int64.max))
            try settle(store)
            try insert(store, 1)
            #expect(timer.due == nil)
            syncCount = withExtendedLifetime(store) { volume.syncCount.load(ordering: .relaxed) }
        }
        #expect(volume.syncCount.load(ordering: .relaxed) == syncCount + 1)
    }

    @Test func `a store that syncs every commit or no commit has no timer`() throws {
        var environment = clock.environment()
        environment.makeTimer = { [timer] _ in
            Issue.record("A timer was made.")
            return timer
        }
        let synced = try Store.create(volume, schema: Notes.schema, durability: .synced, environment: environment)
        let memory = try Store.inMemory(schema: Notes.schema, environment: environment)
        for store in [synced, memory] {
            try insert(store, 1)
            try store.close()
        }
    }
}
