import CambiumBytes
import CambiumLog
import CambiumModel
import Foundation

/// Two processes that use the files of one store: a writer, and a reader that decides before each of its calls how many steps the writer
/// takes. So one number describes an interleaving of the two processes, and a test can repeat it.
///
/// A step of the writer is one change of the files. A write to a file takes two steps, so that the reader may see its first half alone.
package final class PacedVolumes: Sendable {
    private struct State {
        var allowed = 0
        var taken = 0
        var hasEnded = false
        /// The calls of the reader before which the writer continues, in descending order.
        var pauses: [(call: Int, stepCount: Int)]
        var callCount = 0
    }

    private let memory: MemoryVolume
    private let condition = NSCondition()
    private let state: Guarded<State>

    /// - Parameter pauses: the calls of the reader before which the writer takes the given number of steps, in ascending order.
    package init(_ memory: MemoryVolume, pauses: [(call: Int, stepCount: Int)]) {
        self.memory = memory
        state = Guarded(State(pauses: pauses.reversed()))
    }

    /// The number of steps that the writer has taken, including the one for which it waits.
    package var stepCount: Int { state.withLock { $0.taken } }

    /// Runs `writer` in another thread, and `reader` in this one. Returns when both have ended.
    package func run(_ writer: @escaping @Sendable (any Volume) -> Void, _ reader: (any Volume) throws -> Void) rethrows {
        let ended = DispatchSemaphore(value: 0)
        let volume = PacedVolume(memory: memory, beforeRead: {}, beforeChange: { [self] in waitForPermission() })
        let thread = Thread { [self] in
            writer(volume)
            change { $0.hasEnded = true }
            ended.signal()
        }
        thread.start()
        defer {
            change { $0.allowed = .max }
            ended.wait()
        }
        try reader(PacedVolume(memory: memory, beforeRead: { [self] in letWriterContinue() }, beforeChange: {}))
    }

    private func change(_ body: (inout State) -> Void) {
        condition.lock()
        state.withLock { body(&$0) }
        condition.broadcast()
        condition.unlock()
    }

    /// Counts the step that has ended, and waits until the writer may take the next one.
    private func waitForPermission() {
        condition.lock()
        state.withLock { $0.taken += 1 }
        condition.broadcast()
        while state.withLock({ $0.taken > $0.allowed }) { condition.wait() }
        condition.unlock()
    }

    /// Lets the writer take the steps that are due before the next call of the reader, and waits until it has taken them.
    private func letWriterContinue() {
        condition.lock()
        let limit = state.withLock { state in
            state.callCount += 1
            while let pause = state.pauses.last, pause.call <= state.callCount {
                state.allowed += pause.stepCount
                state.pauses.removeLast()
            }
            return state.allowed
        }
        condition.broadcast()
        // The writer arrives at the step after the last one that it may take.
        while state.withLock({ !$0.hasEnded && $0.taken <= limit }) { condition.wait() }
        condition.unlock()
    }
}

/// The files of a store as one of the two processes sees them.
private final class PacedVolume: OverMemory {
    let memory: MemoryVolume
    private let beforeRead: @Sendable () -> Void
    private let beforeChange: @Sendable () -> Void

    init(memory: MemoryVolume, beforeRead: @escaping @Sendable () -> Void, beforeChange: @escaping @Sendable () -> Void) {
        (self.memory, self.beforeRead, self.beforeChange) = (memory, beforeRead, beforeChange)
    }

    var name: String { "paced" }
    func list(_ directory: String) throws(CambiumError) -> [String] {
        beforeRead()
        return try memory.list(directory)
    }
    func exists(_ path: String) throws(CambiumError) -> Bool {
        beforeRead()
        return try memory.exists(path)
    }
    func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        mode == .create ? beforeChange() : beforeRead()
        return PacedFile(try memory.open(path, mode), beforeRead, beforeChange)
    }
    func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool {
        beforeRead()
        return try memory.names(path, (file as? PacedFile)?.file ?? file)
    }
    func remove(_ path: String) throws(CambiumError) {
        beforeChange()
        try memory.remove(path)
    }
    func rename(_ path: String, to newPath: String) throws(CambiumError) {
        beforeChange()
        try memory.rename(path, to: newPath)
    }
    func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool {
        beforeChange()
        return try memory.removeUnlessShared(path)
    }
    func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool {
        beforeChange()
        return try memory.renameUnlessShared(path, to: newPath)
    }
}

private final class PacedFile: VolumeFile {
    let file: any VolumeFile
    private let beforeRead: @Sendable () -> Void
    private let beforeChange: @Sendable () -> Void

    init(_ file: any VolumeFile, _ beforeRead: @escaping @Sendable () -> Void, _ beforeChange: @escaping @Sendable () -> Void) {
        (self.file, self.beforeRead, self.beforeChange) = (file, beforeRead, beforeChange)
    }

    func byteCount() throws(CambiumError) -> Int {
        beforeRead()
        return try file.byteCount()
    }
    func read(at offset: Int, count: Int) throws(CambiumError) -> [UInt8] {
        beforeRead()
        return try file.read(at: offset, count: count)
    }
    func write(_ bytes: [UInt8], at offset: Int) throws(CambiumError) {
        let half = bytes.count / 2
        beforeChange()
        try file.write(Array(bytes[..<half]), at: offset)
        beforeChange()
        try file.write(Array(bytes[half...]), at: offset + half)
    }
    func truncate(to byteCount: Int) throws(CambiumError) {
        beforeChange()
        try file.truncate(to: byteCount)
    }
    func sync() throws(CambiumError) { try file.sync() }
    func close() { file.close() }
    func isSame(as other: any VolumeFile) -> Bool { file.isSame(as: (other as? PacedFile)?.file ?? other) }
}
