internal import CambiumBytes

/// A call in which a task waits for work on another thread. If the task is cancelled before the work calls `begin`, the call ends at once,
/// even if the other thread is busy.
///
/// Either the cancellation or the work resumes the task, never both.
final class WaitingCall: Sendable {
    private enum State {
        /// The task is not suspended yet.
        case new
        /// The task is suspended. The closure resumes it with a `CancellationError`.
        case waiting(@Sendable () -> Void)
        /// The work resumes the task.
        case begun
        case cancelled
    }

    private let state = Guarded(State.new)

    /// Whether the task was cancelled before `begin` was called.
    var isCancelled: Bool {
        state.withLock { state -> Bool in
            if case .cancelled = state { return true }
            return false
        }
    }

    /// Records that the task is suspended. If the task was already cancelled, resumes it.
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

    /// Cancels the call, unless `begin` was called before. Resumes the task if it is suspended.
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

    /// Records that the work resumes the task, and that a later cancellation has no effect. Returns `false` if the call was cancelled. In
    /// that case, the work must not resume the task. The work may call this method several times.
    func begin() -> Bool {
        state.withLock { state -> Bool in
            if case .cancelled = state { return false }
            state = .begun
            return true
        }
    }
}
