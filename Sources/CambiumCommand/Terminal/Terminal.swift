import Cambium
import CambiumJSON
import Glibc
import Synchronization

/// The streams of the process. Every command reads and writes through this type.
///
/// If standard output fails, the program reports the failure and the effect of the command on standard error, and exits with 74. If the
/// reader of the output has closed the pipe, a command that has changed nothing ends silently instead, as the tools of the operating
/// system do.
enum Terminal {
    /// The permanent effect of the command so far, as a sentence for the user.
    private static let outcome = Mutex<String?>(nil)

    /// Shows the time that the command takes; `nil` if no time is shown.
    private static let ticker = Mutex<Ticker?>(nil)

    /// Whether standard output is a terminal.
    static let isInteractive = isatty(STDOUT_FILENO) == 1

    /// The number of columns of standard output, or `nil` if it is not a terminal.
    static var width: Int? { width(of: STDOUT_FILENO) }

    /// Returns the number of columns of a terminal, or `nil` if the descriptor is not a terminal.
    static func width(of descriptor: Int32) -> Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    // MARK: Beginning and end

    /// Reopens streams that the caller has closed, so that no file of a store gets the descriptor of a stream. Also turns writing to a
    /// closed pipe into an error.
    static func begin() {
        signal(SIGPIPE, SIG_IGN)
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            // `open` returns this descriptor, because it is the lowest free one. Standard input and output are opened in the wrong
            // direction, so that their use fails. Text for standard error is dropped, because its failure could not be reported anyway.
            _ = open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY)
        }
    }

    /// Shows how long a command takes, from its first second on. Shows nothing if standard error is not a terminal, or while the command
    /// runs in the background. The time is no longer shown after the command has printed something on a terminal.
    static func showTime(of command: String) {
        guard isatty(STDERR_FILENO) == 1 else { return }
        let start = ContinuousClock.now
        let made = Ticker(command, elapsed: { start.duration(to: .now) }) { text in
            if tcgetpgrp(STDERR_FILENO) == getpgrp() { put(text) }
        }
        ticker.withLock { $0 = made }
        made.start()
    }

    private static func endTicker() { ticker.withLock { $0 }?.end() }

    /// Records the effect of the command as a sentence, such as "Transaction 5 was committed." If the command fails afterwards, the program
    /// prints this sentence after the error.
    static func report(_ sentence: String) { outcome.withLock { $0 = sentence } }

    static func report(committed number: TransactionNumber?) {
        if let number { report("Transaction \(number) was committed.") }
    }

    /// Closes a copy of standard output, because some systems report a failed write only when the stream is closed.
    static func finish() {
        endTicker()
        let copy = dup(STDOUT_FILENO)
        if copy < 0 || close(copy) != 0 { fail(errno) }
    }

    /// Ends the program after an error that was already reported.
    static func exit(_ code: Int32) -> Never {
        endTicker()
        if let done = outcome.withLock({ $0 }) { error("cambium: \(done)") }
        Glibc.exit(code)
    }

    private static func fail(_ number: Int32) -> Never {
        endTicker()
        let isQuiet = number == EPIPE && outcome.withLock { $0 } == nil
        if isQuiet {
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        error("cambium: Standard output cannot be written: \(String(cString: strerror(number))). Redirect it to another place.")
        exit(Failure.ioFailure)
    }

    /// Waits for 50 milliseconds before a command that follows a store reads the store again. If the reader of standard output has closed
    /// the pipe, ends the program as a failed write does. Otherwise, the program would notice the closed pipe only when it writes a line.
    static func pause() {
        endTicker()
        var output = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
        // `poll` reports an error of the descriptor even if no events are requested. It reports no error for files and terminals.
        if poll(&output, 1, 50) > 0 { fail(EPIPE) }
    }

    // MARK: Output

    /// Prints a line. Control characters are escaped, so that data can neither command the terminal nor forge a line.
    static func print(_ line: String) { write(Array((ControlText.escaped(line) + "\n").utf8)) }

    /// Prints a line on standard error, as `print` does.
    static func error(_ line: String) {
        ticker.withLock { $0 }?.hide()
        put((ControlText.escaped(line) + "\n"))
    }

    /// Writes text to standard error, which must be a terminal. The text may move the cursor.
    static func showProgress(_ text: String) {
        endTicker()
        put(text)
    }

    /// Writes bytes unchanged: an export, or JSON.
    static func write(_ bytes: [UInt8]) {
        if isInteractive { endTicker() }
        let number = write(bytes, to: STDOUT_FILENO)
        if number != 0 { fail(number) }
    }

    /// Writes to standard error. A failure cannot be reported, so it is ignored.
    private static func put(_ text: String) { _ = write(Array(text.utf8), to: STDERR_FILENO) }

    /// Returns the `errno` of a failed write, or 0 if all bytes were written.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
                let put = Glibc.write(descriptor, rest.baseAddress, rest.count)
                if put < 0, errno != EINTR { return errno }
                if put > 0 { done += put }
            }
            return 0
        }
    }

    // MARK: Input

    /// Standard input as a source of an import.
    static let input = ImportSource(name: "standard input", isRepeatable: false) {
        // If a person types the input, the time must not be shown on the same line.
        if isatty(STDIN_FILENO) == 1 { endTicker() }
        return { buffer in
            while true {
                let count = read(STDIN_FILENO, buffer.baseAddress, buffer.count)
                if count >= 0 { return count }
                if errno == EINTR { continue }
                throw CambiumError(
                    .ioFailure, "Standard input cannot be read: \(String(cString: strerror(errno))). Pass the path of a file instead.")
            }
        }
    }

    /// Waits until standard input has a first byte, or has ended. Reads nothing.
    ///
    /// - Parameter whileIdle: is called once if the wait takes 100 milliseconds or more.
    static func waitForInput(_ whileIdle: () throws -> Void) rethrows {
        if isatty(STDIN_FILENO) == 1 { endTicker() }
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        if poll(&input, 1, 100) > 0 { return }
        try whileIdle()
        while poll(&input, 1, -1) < 0, errno == EINTR {}
    }

    /// Returns the name of a file in errors. The path - means standard input.
    static func name(of path: String) -> String { path == "-" ? input.name : path }

    /// Returns the content of a text file, at most 64 MiB, without a byte order mark.
    static func text(of path: String) throws -> [UInt8] {
        let bytes = try contents(of: path)
        return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    }

    /// Returns the content of a file, at most 64 MiB by default.
    static func contents(of path: String, byteCountMax: Int = 64 << 20) throws -> [UInt8] {
        let source = path == "-" ? input : ImportSource.file(path)
        let reader = try source.open()
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try reader($0) }
            if count == 0 { return bytes }
            bytes.append(contentsOf: buffer[..<count])
            guard bytes.count <= byteCountMax else {
                throw CambiumError(
                    .limitExceeded, "The file has more than \(byteCountMax >> 20) MiB. Check whether this is the right file.",
                    place: .init(file: name(of: path)))
            }
        }
    }
}
