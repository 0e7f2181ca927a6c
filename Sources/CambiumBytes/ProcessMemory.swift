internal import CMachine

/// The memory that the process may still map under its limits: `RLIMIT_AS` for all addresses, and `RLIMIT_DATA` for private data (see
/// getrlimit(2)).
///
/// A failed allocation ends a Swift process. So a step that needs much memory asks first, while it can still throw an error.
package enum ProcessMemory {
    /// The number of bytes that the limits leave; `nil` if the process has no limit. The call takes a few microseconds if there is a limit.
    package static var leftByteCount: Int? {
        let count = cmachine_memory_left()
        return count == .max ? nil : Int(count)
    }

    /// Whether the process has a limit of addresses or of data.
    package static var isLimited: Bool { leftByteCount != nil }

    /// Returns whether the process may map this many bytes and keeps a margin for smaller allocations, stacks and the allocator. Without a
    /// limit, the result is always `true`.
    package static func has(_ byteCount: Int) -> Bool { leftByteCount.map { $0 - marginByteCount >= byteCount } ?? true }

    private static let marginByteCount = 24 << 20
}
