import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Lets ctrl-c cancel work instead of ending the program.
enum Interruption {
    /// Whether ctrl-c was pressed since the work began. A signal handler can set a flag, but it cannot cancel a task safely.
    private static let isRequested = Atomic(false)

    private final class Answer<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Runs work in a task that ctrl-c cancels, and waits for the end of the task. Throws the error of the work, which is a
    /// `CancellationError` if the work has noticed that its task was cancelled.
    static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
        isRequested.store(false, ordering: .relaxed)
        let handler = signal(SIGINT) { _ in Interruption.isRequested.store(true, ordering: .relaxed) }
        defer { signal(SIGINT, handler) }
        let (answer, hasEnded) = (Answer<Value>(), DispatchSemaphore(value: 0))
        let task = Task.detached {
            let result = Result { try work() }
            answer.result.withLock { $0 = result }
            hasEnded.signal()
        }
        while hasEnded.wait(timeout: .now() + .milliseconds(20)) == .timedOut {
            if isRequested.load(ordering: .relaxed) { task.cancel() }
        }
        guard let result = answer.result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
