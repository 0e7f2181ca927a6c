import Glibc

/// A thread that runs one closure. A dedicated thread is for work that has to wait, and that would therefore block a shared thread.
public final class DedicatedThread: Sendable {
    private let thread: pthread_t

    /// Starts a thread that calls `body`. Returns `nil` and does not call `body` if the operating system cannot start a thread. The caller
    /// must call `join`.
    public init?(_ body: @escaping @Sendable () -> Void) {
        guard let thread = Self.begin(body) else { return nil }
        self.thread = thread
    }

    /// Waits until the closure has returned. Must be called exactly once.
    public func join() { pthread_join(thread, nil) }

    /// Runs `body` on a new thread. No caller waits until that thread ends. Returns `false` and does not call `body` if the operating
    /// system cannot start a thread.
    public static func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        guard let thread = begin(body) else { return false }
        pthread_detach(thread)
        return true
    }

    private static func begin(_ body: @escaping @Sendable () -> Void) -> pthread_t? {
        let box = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                // SAFETY: the argument is the box that `begin` retained. The ownership of the box passes to this closure.
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        if failure == 0 { return thread }
        box.release()
        return nil
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
