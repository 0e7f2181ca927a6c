import Dispatch
import Glibc
import Synchronization

/// Dedicated threads, which may wait, unlike the threads of a pool.
enum Threads {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private final class FirstError: Sendable {
        let error = Mutex<(any Error)?>(nil)
    }

    /// Runs `body` on `count` threads at once and waits for all of them. Throws the first error.
    static func run(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) throws -> Void) throws {
        let first = FirstError()
        let threads = try (0..<count).map { number in
            try start {
                do { try body(number) } catch { first.error.withLock { if $0 == nil { $0 = error } } }
            }
        }
        for thread in threads { pthread_join(thread, nil) }
        if let error = first.error.withLock({ $0 }) { throw error }
    }

    /// Runs `body` as a task and waits for it. Throws the error of `body`.
    static func wait(_ body: @escaping @Sendable () async throws -> Void) throws {
        let first = FirstError()
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            do { try await body() } catch { first.error.withLock { $0 = error } }
            isDone.signal()
        }
        isDone.wait()
        if let error = first.error.withLock({ $0 }) { throw error }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) throws -> pthread_t {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let code = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw Failure("cannot start a thread: \(String(cString: strerror(code)))")
        }
        return thread
    }
}
