internal import CMachine

/// The memory that the C library keeps for later allocations.
public enum Heap {
    /// Releases free memory to the operating system, after work that needed much memory for a short time. Takes some milliseconds.
    public static func trim() { malloc_trim(0) }
}
