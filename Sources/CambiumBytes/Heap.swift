internal import CMachine

/// The memory that the C library keeps for later allocations.
package enum Heap {
    /// Releases free memory to the operating system, after work that needed much memory for a short time. Takes some milliseconds.
    package static func trim() { malloc_trim(0) }
}
