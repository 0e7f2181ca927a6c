internal import CMachine
import Glibc
import Synchronization

/// A thread that makes the kernel supply fresh memory in advance. Otherwise, the first touch by a writer would have to wait for the kernel.
///
/// SAFETY: the ranges stay mapped until `wait` or `cancel` returns.
final class MemoryPreparation {
    private let thread: pthread_t?
    private let ranges: Ranges

    init(_ ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]) {
        self.ranges = Ranges(ranges)
        let box = Unmanaged.passRetained(self.ranges)
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Ranges>.fromOpaque(argument).takeRetainedValue().populate()
                return nil
            }, box.toOpaque())
        // If no thread can be started, the kernel supplies the memory at the first touch.
        if failure != 0 {
            box.release()
            self.ranges.isDone.store(true, ordering: .relaxed)
        }
        self.thread = failure == 0 ? thread : nil
    }

    /// Whether `wait` returns immediately.
    var isDone: Bool { ranges.isDone.load(ordering: .relaxed) }

    /// Waits until all of the memory is supplied.
    func wait() {
        if let thread { pthread_join(thread, nil) }
    }

    /// Stops the thread. The kernel supplies the rest of the memory at the first touch.
    func cancel() {
        ranges.isCancelled.store(true, ordering: .relaxed)
        wait()
    }

    private final class Ranges: Sendable {
        let isCancelled = Atomic(false)
        let isDone = Atomic(false)
        // SAFETY: only `populate` uses these addresses.
        nonisolated(unsafe) private let ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]
        private static let stepByteCount = 2 << 20

        init(_ ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]) { self.ranges = ranges }

        /// Supplies the ranges in steps, so that `cancel` waits for at most one step.
        func populate() {
            defer { isDone.store(true, ordering: .relaxed) }
            for (base, byteCount) in ranges {
                for offset in stride(from: 0, to: byteCount, by: Self.stepByteCount) {
                    if isCancelled.load(ordering: .relaxed) { return }
                    cmachine_populate(base + offset, min(Self.stepByteCount, byteCount - offset))
                }
            }
        }
    }
}
