internal import CambiumBytes

/// Bytes on their way from a task, which never keeps a thread waiting, to a thread, which may.
final class ByteChannel: Sendable {
    /// From how many bytes on the task waits until some are read.
    static let byteCountMax = 1 << 20

    private struct State {
        var bytes: [UInt8] = []
        /// How many of them were read.
        var position = 0
        /// How the bytes end; nil while more may come.
        var end: Result<Void, any Error>?
        /// The task, where it waits for room.
        var writer: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())
    /// Goes on when there is something to read.
    private let turn = WaitWord(0)

    // MARK: The task

    /// Adds bytes, then waits while there are too many. Returns false where the channel has ended and nothing more is wanted.
    func write(_ bytes: [UInt8]) async -> Bool {
        let (isOpen, isFull) = state.withLock { state in
            if state.end == nil { state.bytes += bytes }
            return (state.end == nil, Self.isFull(state))
        }
        wakeReader()
        if isOpen, isFull { await waitForRoom() }
        return isOpen
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if state.end != nil || !Self.isFull(state) { return true }
                state.writer = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    private static func isFull(_ state: State) -> Bool { state.bytes.count - state.position >= byteCountMax }

    // MARK: Both

    /// Ends the bytes, or tells why there are no more. Nothing where they have ended before.
    func end(_ end: Result<Void, any Error>) {
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

    /// Waits for bytes and takes as many as there are and fit; 0 at the end. Throws what the bytes ended with; at once, if that is an
    /// error.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
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
        }
        guard !isFull(state) else { return (count, state.end, nil) }
        defer { state.writer = nil }
        return (count, state.end, state.writer)
    }
}
