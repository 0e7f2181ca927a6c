internal import CambiumBytes

/// The result of a replay for which a task waits. The task stops waiting when it is cancelled, even if the replay has not begun.
final class ReplayAnswer<Value: Sendable>: Sendable {
    private enum Stage: Sendable {
        case begins
        case waits(CheckedContinuation<Value, any Error>)
        case hasEnded
    }

    private let stage = Guarded(Stage.begins)

    /// Begins to wait. Returns `false` if the task was cancelled before. In this case, the continuation throws `CancellationError`.
    func begin(_ continuation: CheckedContinuation<Value, any Error>) -> Bool {
        let isWaiting = stage.withLock { stage in
            if case .hasEnded = stage { return false }
            stage = .waits(continuation)
            return true
        }
        if !isWaiting { continuation.resume(throwing: CancellationError()) }
        return isWaiting
    }

    /// Ends the wait with a result. A second call has no effect.
    func end(_ result: Result<Value, any Error>) {
        let ended = stage.withLock { stage in
            defer { stage = .hasEnded }
            return stage
        }
        if case .waits(let continuation) = ended { continuation.resume(with: result) }
    }
}
