import Cambium
import Glibc
import Synchronization

/// Shows the progress of an operation on one line of the terminal, if the operation takes more than a second. If standard error is not a
/// terminal, nothing is shown.
final class Progress: Sendable {
    private struct State {
        /// The number of bytes that were read from each source.
        var counts: [Int]
        var lastShown: Duration?
    }

    static let delay = Duration.seconds(1)
    static let interval = Duration.milliseconds(100)

    private let what: String
    /// The total number of bytes, or `nil` if it is unknown.
    private let byteCount: Int?
    /// Returns the time since the beginning.
    private let elapsed: @Sendable () -> Duration
    private let put: (@Sendable (String) -> Void)?
    /// Returns the number of columns of the terminal; `nil` for no limit.
    private let width: @Sendable () -> Int?
    private let state: Mutex<State>

    /// - Parameter put: A closure that writes to the terminal, or `nil` if there is no terminal.
    init(
        _ what: String, sourceCount: Int = 1, byteCount: Int?, elapsed: @escaping @Sendable () -> Duration,
        put: (@Sendable (String) -> Void)?, width: @escaping @Sendable () -> Int? = { nil }
    ) {
        self.what = what
        self.byteCount = byteCount
        self.elapsed = elapsed
        self.put = put
        self.width = width
        state = Mutex(State(counts: [Int](repeating: 0, count: sourceCount)))
    }

    /// Shows the progress on standard error, if it is a terminal.
    convenience init(_ what: String, sourceCount: Int = 1, byteCount: Int?) {
        let start = ContinuousClock.now
        let terminal: @Sendable (String) -> Void = { Terminal.showProgress($0) }
        self.init(
            what, sourceCount: sourceCount, byteCount: byteCount, elapsed: { start.duration(to: .now) },
            put: isatty(STDERR_FILENO) == 1 ? terminal : nil, width: { Terminal.width(of: STDERR_FILENO) })
    }

    /// Returns a source with the same content. Reading this source updates the progress.
    func watch(_ source: ImportSource, _ number: Int) -> ImportSource {
        var watched = ImportSource(name: source.name, isRepeatable: source.isRepeatable, format: source.format) { [self] in
            let read = try source.open()
            state.withLock { $0.counts[number] = 0 }
            return { buffer in
                let count = try read(buffer)
                self.add(count, number)
                return count
            }
        }
        watched.mayWait = source.mayWait
        return watched
    }

    func add(_ count: Int, _ number: Int = 0) {
        let now = elapsed()
        let line: String? = state.withLock { state in
            state.counts[number] += count
            guard put != nil, now >= Self.delay, now - (state.lastShown ?? .zero) >= Self.interval else { return nil }
            state.lastShown = now
            return text(state.counts.reduce(0, +), now)
        }
        if let line { put?(line) }
    }

    /// Removes the progress line from the terminal.
    func end() {
        let isShown = state.withLock { state in
            defer { state.lastShown = nil }
            return state.lastShown != nil
        }
        if isShown { put?("\r\u{1B}[K") }
    }

    private func text(_ count: Int, _ time: Duration) -> String {
        var parts = [what]
        if let byteCount, byteCount > 0 {
            let part = min(1, Double(count) / Double(byteCount))
            let filled = Int(part * 20)
            parts.append("[" + String(repeating: "#", count: filled) + String(repeating: ".", count: 20 - filled) + "]")
            parts.append("\(Int(part * 100))%  \(Readable.bytes(count)) of \(Readable.bytes(byteCount))")
        } else {
            parts.append(Readable.bytes(count))
        }
        let line = (parts + [Readable.seconds(time)]).joined(separator: "  ")
        // A longer line would wrap, and the next line would not replace all of it.
        let visible = width().map { line.prefix(columnCount: max(0, $0 - 1)) } ?? line[...]
        return "\r\(visible)\u{1B}[K"
    }
}

/// Opens the files of an import, and determines their sizes.
enum InputFiles {
    /// Returns the sources of an import. Reading them updates the displayed progress.
    ///
    /// - Parameters:
    ///   - format: The format of the files, or `nil` if it follows from their names.
    ///   - onError: The way in which the import treats bad rows. An import that skips bad rows may read all rows again. So the bytes of a
    ///     pipe are then kept in a temporary file.
    static func sources(
        _ paths: [String], _ format: ImportSource.Format?, onError: ImportOptions.RowError, _ progress: Progress
    ) -> [ImportSource] {
        paths.enumerated().map { number, path in
            let bytes = path == "-" ? Terminal.input : ImportSource.bytes(ofFile: path)
            var source = progress.watch(onError == .skip ? bytes.spooled() : bytes, number)
            if path != "-" { source = source.asNamed() }
            if let format { source.format = format }
            return source
        }
    }

    /// Adds the bytes of a file to the digest of a request.
    static func add(_ path: String, to hasher: inout RequestHasher) throws {
        let read = try ImportSource.bytes(ofFile: path).open()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
        defer { buffer.deallocate() }
        while case let count = try read(buffer), count > 0 { hasher.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
    }

    /// Returns the total number of bytes of the files, or `nil` if one of them is not a regular file.
    static func byteCount(_ paths: [String]) -> Int? {
        var sum = 0
        for path in paths {
            var status = stat()
            // The path - means standard input, even if the directory has a file of this name.
            guard path != "-", stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            sum += Int(status.st_size)
        }
        return sum
    }
}
