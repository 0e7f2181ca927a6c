import Synchronization

/// A flag that stops work on another thread if the task that requested the work was cancelled.
final class Cancellation: Sendable {
    private let isCancelled = Atomic(false)

    func cancel() { isCancelled.store(true, ordering: .relaxed) }

    /// Throws `CancellationError` if the task was cancelled.
    func check() throws {
        if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
    }
}
