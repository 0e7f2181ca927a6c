internal import CambiumBytes

/// Passes bytes from a task to a thread. The task must not block, and the thread may wait for bytes.
package final class ByteChannel: Sendable {
    /// The task waits for the reader while at least this many bytes are unread.
    static let byteCountMax = 1 << 20

    private struct State {
        var bytes: [UInt8] = []
        /// The number of bytes in `bytes` that the thread has read.
        var position = 0
        /// The outcome of the task: success after the last byte, or an error if bytes are missing. `nil` while more bytes may come.
        var end: Result<Void, any Error>?
        /// The task, while it is waiting until the channel has space for more bytes.
        var writer: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())
    /// A futex whose value changes whenever bytes are added or the bytes end. The reader sleeps on this futex.
    private let turn = Futex(0)

    package init() {}

    /// The number of bytes in memory, and how many of them the thread has not read.
    var counts: (held: Int, unread: Int) { state.withLock { ($0.bytes.count, $0.bytes.count - $0.position) } }

    // MARK: The task

    /// Adds bytes, and then waits while too many bytes are unread. Returns `false` if the channel has ended. The caller should then stop
    /// writing, because the channel drops further bytes.
    package func write(_ bytes: [UInt8]) async -> Bool {
        let (isOpen, isFull) = state.withLock { state in
            if state.end == nil { state.bytes += bytes }
            return (state.end == nil, Self.isFull(state))
        }
        wakeReader()
        if isOpen, isFull { await waitForCapacity() }
        return isOpen
    }

    private func waitForCapacity() async {
        await withCheckedContinuation { continuation in
            let hasCapacity = state.withLock { state in
                if state.end != nil || !Self.isFull(state) { return true }
                state.writer = continuation
                return false
            }
            if hasCapacity { continuation.resume() }
        }
    }

    private static func isFull(_ state: State) -> Bool { state.bytes.count - state.position >= byteCountMax }

    // MARK: Both sides

    /// Ends the channel. `end` is an error if bytes are missing. Only the first call has an effect.
    package func end(_ end: Result<Void, any Error>) {
        let writer = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.writer = nil }
            return state.writer
        }
        wakeReader()
        writer?.resume()
    }

    private func wakeReader() {
        state.withLock { _ in turn.value = turn.value &+ 1 }
        turn.wakeAll()
    }

    // MARK: The thread

    /// Waits for bytes, takes as many as fit into the buffer, and returns their number; returns 0 at the end. If the bytes ended with an
    /// error, throws the error immediately, even if unread bytes remain.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let seen = turn.value
            let (count, end, writer) = state.withLock { state in Self.take(&state, buffer) }
            writer?.resume()
            if case .failure(let error) = end { throw error }
            if count > 0 || end != nil { return count }
            turn.wait(while: seen)
        }
    }

    private static func take(
        _ state: inout State, _ buffer: UnsafeMutableRawBufferPointer
    ) -> (count: Int, end: Result<Void, any Error>?, writer: CheckedContinuation<Void, Never>?) {
        let count = min(buffer.count, state.bytes.count - state.position)
        buffer.copyBytes(from: state.bytes[state.position..<state.position + count])
        state.position += count
        if state.position == state.bytes.count {
            state.bytes.removeAll(keepingCapacity: state.bytes.count <= 2 * byteCountMax)
            state.position = 0
        } else if state.position > byteCountMax, 2 * state.position > state.bytes.count {
            // A fast task adds the next piece before the thread has read the last one completely, so the channel may never be empty.
            // Therefore, the bytes that the thread has read are removed here.
            state.bytes.removeFirst(state.position)
            state.position = 0
        }
        guard !isFull(state) else { return (count, state.end, nil) }
        defer { state.writer = nil }
        return (count, state.end, state.writer)
    }
}
