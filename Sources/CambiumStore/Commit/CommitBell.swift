internal import CambiumBytes
import Synchronization

/// Wakes the tasks that are waiting for the next transaction, once readers can see it.
///
/// While no task is waiting, `ring` costs one relaxed atomic load. The load cannot miss a task, because a mutex guards the visible graph. A
/// task first adds itself to the waiters, and then reads the graph under the mutex. The writer sets the graph under the mutex before it
/// rings. So either the task reads the new graph, or the writer finds the task.
final class CommitBell: Sendable {
    private struct State {
        var waiters: [ObjectIdentifier: Waiter] = [:]
        var isEnded = false
    }

    private let state = Guarded(State())
    private let waiterCount = Atomic(0)

    /// Whether the store was closed. If so, no further transaction follows.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Wakes all waiting tasks. Call this method after releasing the writer's lock.
    func ring() { if waiterCount.load(ordering: .relaxed) > 0 { wakeAll() } }

    /// Wakes all waiting tasks. From then on, `wait` returns immediately.
    func end() {
        state.withLock { $0.isEnded = true }
        wakeAll()
    }

    /// Waits until the bell rings or the task is cancelled. Returns immediately if `end` was called, or if `hasNews` returns `true`.
    ///
    /// - Parameter hasNews: returns whether readers can already see a newer graph than the last one that the caller received.
    func wait(unless hasNews: () -> Bool) async {
        let waiter = Waiter()
        guard add(waiter) else { return }
        defer { remove(waiter) }
        if hasNews() { return }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter.begin($0) }
        } onCancel: {
            waiter.wake()
        }
    }

    /// The number of tasks that are waiting.
    var count: Int { waiterCount.load(ordering: .relaxed) }

    private func wakeAll() {
        let waiters = state.withLock { $0.waiters.values.map { $0 } }
        for waiter in waiters { waiter.wake() }
    }

    private func add(_ waiter: Waiter) -> Bool {
        state.withLock { state in
            if state.isEnded { return false }
            state.waiters[ObjectIdentifier(waiter)] = waiter
            waiterCount.store(state.waiters.count, ordering: .relaxed)
            return true
        }
    }

    private func remove(_ waiter: Waiter) {
        state.withLock { state in
            state.waiters[ObjectIdentifier(waiter)] = nil
            waiterCount.store(state.waiters.count, ordering: .relaxed)
        }
    }

    /// One wait of one task.
    private final class Waiter: Sendable {
        private enum Stage {
            case begins
            case waits(CheckedContinuation<Void, Never>)
            case isWoken
        }

        private let stage = Guarded(Stage.begins)

        func begin(_ continuation: CheckedContinuation<Void, Never>) {
            let isWoken = stage.withLock { stage in
                if case .isWoken = stage { return true }
                stage = .waits(continuation)
                return false
            }
            if isWoken { continuation.resume() }
        }

        func wake() {
            let woken = stage.withLock { stage in
                defer { stage = .isWoken }
                return stage
            }
            if case .waits(let continuation) = woken { continuation.resume() }
        }
    }
}
