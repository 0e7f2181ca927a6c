#if canImport(Glibc)
    import Glibc
#endif

/// A thread that runs one closure: for what waits, and may not keep a thread of somebody else.
public final class OwnThread: Sendable {
    private let thread: pthread_t

    /// Nil where the system gives no thread; then the closure is not called. `join` has to follow.
    public init?(_ body: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                // SAFETY: the argument is the box, whose ownership came with it.
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        if failure != 0 {
            box.release()
            return nil
        }
        self.thread = thread
    }

    /// Returns when the closure has. Once.
    public func join() { pthread_join(thread, nil) }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
