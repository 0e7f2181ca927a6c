import Cambium
import Glibc
import Synchronization

/// The signals that end, stop or interrupt the prompt. A handler writes the number of each signal to a pipe, and the main thread takes the
/// numbers from there. Thus the main thread restores the terminal before a signal takes effect, and no handler interrupts other code for
/// longer than one system call.
///
/// The thread that creates the pipe must also call its methods, except `wake`. A program has at most one pipe, which lasts as long as the
/// program, because a handler may be using it at any time.
final class SignalPipe: Sendable {
    private static let numbers = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGCONT]

    /// The end of the pipe to which the handler writes; -1 before there is a pipe.
    private static let target = Atomic<Int32>(-1)

    /// The end of the pipe from which signals are taken.
    private let source: Int32
    /// The signals that have a handler.
    private let handled: [Int32]

    /// The events that end a wait.
    struct Events {
        /// Signals that end the program come first, and `SIGINT` comes last.
        let signals: [Int32]
        let hasInput: Bool

        init(_ arrived: [Int32], hasInput: Bool) {
            let control = [SIGTSTP, SIGCONT]
            let endings = arrived.filter { $0 != SIGINT && !control.contains($0) }
            // `SIGTSTP` and `SIGCONT` cancel each other, so only the last one to arrive is kept.
            let last = arrived.last { control.contains($0) }.map { [$0] } ?? []
            signals = endings + last + arrived.filter { $0 == SIGINT }
            self.hasInput = hasInput
        }
    }

    /// Creates the pipe and installs the handlers. Signals that the program ignores are still ignored.
    init() throws(CambiumError) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            let reason = String(cString: strerror(errno))
            throw CambiumError(.ioFailure, "The prompt cannot make a pipe: \(reason). End other programs, and try again.")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        source = ends[0]
        handled = Self.numbers.filter { !Self.isIgnored($0) }
        Self.target.store(ends[1], ordering: .relaxed)
        for number in handled { Self.handle(number) }
    }

    /// Lets signals reach this program. A program inherits the blocked signals of the thread that starts it. For example, threads of
    /// Dispatch block all these signals, and no other program could end a waiting command that such a thread has started.
    static func unblock() {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Lets later signals have their default effects.
    func end() {
        for number in handled { signal(number, SIG_DFL) }
    }

    // MARK: Handlers

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return true }
        // SAFETY: a handler is a pointer to a function, or a constant such as SIG_IGN, which is a number of the same size.
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func handle(_ number: Int32) {
        signal(number) { SignalPipe.send($0) }
    }

    /// Writes a number to the pipe. A handler may interrupt any code, so this method calls nothing but `write`. If the pipe is full, the
    /// number is dropped.
    private static func send(_ number: Int32) {
        let saved = errno
        var byte = UInt8(truncatingIfNeeded: number)
        _ = write(target.load(ordering: .relaxed), &byte, 1)
        errno = saved
    }

    // MARK: Events

    /// Ends a wait in the main thread. Any thread may call this method.
    private func wake() { Self.send(0) }

    /// Waits until a signal has arrived, or until a descriptor can be read. May return without an event.
    func wait(forInputOf descriptor: Int32 = -1) -> Events {
        var waits = [source, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&waits, nfds_t(waits.count), -1)
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = bytes.withUnsafeMutableBytes { read(source, $0.baseAddress, $0.count) }
        return Events(bytes.prefix(max(0, count)).filter { $0 != 0 }.map(Int32.init), hasInput: waits[1].revents != 0)
    }

    /// Lets a signal have its default effect. Returns if the program is not ended, for example after it was stopped and continued.
    func deliver(_ number: Int32) {
        guard handled.contains(number) else { return }
        signal(number, SIG_DFL)
        raise(number)
        Self.handle(number)
    }

    // MARK: Work

    /// The result of work on another thread; `nil` until the work ends.
    private final class Answer<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Runs work in a task, and waits for its end. The first `SIGINT` cancels the task. If the task has not ended, a second `SIGINT` ends
    /// the program, as other signals do. During the call, the terminal must have the settings that it had before the prompt.
    ///
    /// Throws the error of the work, which is a `CancellationError` if the work has noticed that its task was cancelled.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) throws -> Value {
        let answer = Answer<Value>()
        // The work may block its thread while it waits for files or for the terminal, because no other task needs this thread.
        let task = Task.detached {
            let result = Result { try work() }
            answer.result.withLock { $0 = result }
            self.wake()
        }
        while true {
            let signals = wait().signals
            for number in signals where number != SIGINT && number != SIGCONT { deliver(number) }
            if let result = answer.result.withLock({ $0 }) { return try result.get() }
            for number in signals where number == SIGINT {
                if task.isCancelled { deliver(number) }
                task.cancel()
            }
        }
    }
}
