import Dispatch
import Synchronization

/// Shows on one line of the terminal how long a command has been working, if it takes more than a second. A command that knows how much
/// work remains shows a `Progress` instead.
///
/// Other text must not share the line, so code that prints such text first calls `hide` or `end`.
final class Ticker: Sendable {
    private enum State { case hidden, shown, ended }

    private let what: String
    /// Returns the time since the beginning.
    private let elapsed: @Sendable () -> Duration
    private let put: @Sendable (String) -> Void
    private let state = Mutex(State.hidden)

    /// - Parameter put: A closure that writes to the terminal.
    init(_ what: String, elapsed: @escaping @Sendable () -> Duration, put: @escaping @Sendable (String) -> Void) {
        (self.what, self.elapsed, self.put) = (what, elapsed, put)
    }

    /// Shows the time once a second, until `end` is called.
    func start() {
        DispatchQueue.global().asyncAfter(deadline: .now() + 1) { [self] in
            if tick() { start() }
        }
    }

    /// Shows the time if it is more than a second. Returns `false` after `end`.
    func tick() -> Bool {
        state.withLock { state in
            if state == .ended { return false }
            let time = elapsed()
            if time >= Progress.delay {
                put("\r\(what)  \(Readable.seconds(time))\u{1B}[K")
                state = .shown
            }
            return true
        }
    }

    /// Removes the line from the terminal until the next tick.
    func hide() { remove(.hidden) }

    /// Removes the line from the terminal permanently.
    func end() { remove(.ended) }

    private func remove(_ next: State) {
        state.withLock { state in
            if state == .shown { put("\r\u{1B}[K") }
            if state != .ended { state = next }
        }
    }
}
