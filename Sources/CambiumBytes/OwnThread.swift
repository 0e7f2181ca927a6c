#if canImport(Glibc)
    import Glibc
#endif

/// A thread that runs one closure: for what waits, and may not keep a thread of somebody else.
public final class OwnThread: Sendable {
    private let thread: pthread_t

    /// Nil where the system gives no thread; then the closure is not called. `join` has to follow.
    public init?(_ body: @escaping @Sendable () -> Void) {
        guard let thread = Self.begin(body) else { return nil }
        self.thread = thread
    }

    /// Returns when the closure has. Once.
    public func join() { pthread_join(thread, nil) }

    /// Runs a closure on a thread that nobody waits for. Returns false where the system gives none; then it is not called.
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
                // SAFETY: the argument is the box, whose ownership came with it.
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
