internal import CMachine
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A thread that has the system supply fresh memory before it is touched.
///
/// SAFETY: the ranges stay mapped until `wait` or `cancel` has returned.
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
        // Without the thread the memory is supplied when it is touched.
        if failure != 0 {
            box.release()
            self.ranges.isDone.store(true, ordering: .relaxed)
        }
        self.thread = failure == 0 ? thread : nil
    }

    /// Whether `wait` returns at once.
    var isDone: Bool { ranges.isDone.load(ordering: .relaxed) }

    /// Waits until all of the memory is there.
    func wait() {
        if let thread { pthread_join(thread, nil) }
    }

    /// Lets the rest be supplied when it is touched.
    func cancel() {
        ranges.isCancelled.store(true, ordering: .relaxed)
        wait()
    }

    private final class Ranges: Sendable {
        let isCancelled = Atomic(false)
        let isDone = Atomic(false)
        // SAFETY: addresses, which nothing but `populate` looks at.
        nonisolated(unsafe) private let ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]
        private static let stepByteCount = 2 << 20

        init(_ ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]) { self.ranges = ranges }

        /// In steps, so that a thread that touches memory meanwhile is let in between.
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
