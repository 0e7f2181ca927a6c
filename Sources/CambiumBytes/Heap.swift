internal import CMachine

/// Controls the free memory that the C library keeps for later allocations.
public enum Heap {
    /// Releases free memory to the operating system, for example after work that needed a lot of memory for a short time. Takes a few
    /// milliseconds.
    public static func trim() { malloc_trim(0) }
}
