internal import CMachine

#if canImport(Glibc)
    import Glibc
#endif

/// A thread that has the system supply fresh memory before it is touched.
///
/// SAFETY: the ranges stay mapped until `wait` has returned.
final class MemoryPreparation {
    private let thread: pthread_t?

    init(_ ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]) {
        let box = Unmanaged.passRetained(Ranges(ranges))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Ranges>.fromOpaque(argument).takeRetainedValue().populate()
                return nil
            }, box.toOpaque())
        // Without the thread the memory is supplied when it is touched.
        if failure != 0 { box.release() }
        self.thread = failure == 0 ? thread : nil
    }

    func wait() {
        if let thread { pthread_join(thread, nil) }
    }

    private final class Ranges {
        private let ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]
        private static let stepByteCount = 2 << 20

        init(_ ranges: [(base: UnsafeMutableRawPointer, byteCount: Int)]) { self.ranges = ranges }

        /// In steps, so that a thread that touches memory meanwhile is let in between.
        func populate() {
            for (base, byteCount) in ranges {
                for offset in stride(from: 0, to: byteCount, by: Self.stepByteCount) {
                    cmachine_populate(base + offset, min(Self.stepByteCount, byteCount - offset))
                }
            }
        }
    }
}
