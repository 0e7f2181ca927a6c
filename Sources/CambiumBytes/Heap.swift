internal import CMachine

/// The memory that the C library keeps for later.
public enum Heap {
    /// Gives free memory back to the system, after work that took much of it for a short time. Takes some milliseconds.
    public static func giveBack() { malloc_trim(0) }
}
