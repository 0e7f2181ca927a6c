internal import CambiumBytes

/// A call of a task that waits for its turn. If the task is cancelled before the turn begins, the call ends at once, even if the turn comes
/// much later.
///
/// Exactly one of the cancellation and the caller resumes the task.
final class WaitingCall: Sendable {
    private enum State {
        /// The task is not suspended yet.
        case new
        /// The task is suspended. The closure resumes it with a `CancellationError`.
        case waiting(@Sendable () -> Void)
        /// The turn has begun, or the caller resumes the task.
        case begun
        case cancelled
    }

    private let state = Guarded(State.new)

    /// Whether the task was cancelled before the turn began.
    var isCancelled: Bool {
        state.withLock { state -> Bool in
            if case .cancelled = state { return true }
            return false
        }
    }

    /// Records that the task is suspended. Resumes it if it was cancelled already.
    ///
    /// - Parameter resume: Resumes the task with a `CancellationError`.
    func wait(_ resume: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state -> Bool in
            if case .cancelled = state { return true }
            state = .waiting(resume)
            return false
        }
        if isCancelled { resume() }
    }

    /// Cancels the call, unless its turn has begun. Resumes the task if it is suspended.
    func cancel() {
        let resume = state.withLock { state -> (@Sendable () -> Void)? in
            switch state {
            case .new:
                state = .cancelled
                return nil
            case .waiting(let resume):
                state = .cancelled
                return resume
            case .begun, .cancelled: return nil
            }
        }
        resume?()
    }

    /// Records that the turn begins, or that the caller resumes the task. Returns `false` if the call was cancelled. In that case, the
    /// caller must not resume the task.
    func begin() -> Bool {
        state.withLock { state -> Bool in
            if case .cancelled = state { return false }
            state = .begun
            return true
        }
    }
}
