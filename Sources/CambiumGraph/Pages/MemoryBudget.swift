import CambiumBytes
import Glibc
import Synchronization

/// Limits the memory that the pages of stores take outside of files. Pages beyond the limit are in files, which the operating system can
/// evict from memory. Stores that are opened with the same budget share the limit.
///
/// ```swift
/// let budget = MemoryBudget(byteCount: 256 << 20)
/// let notes = try Store.open(at: "notes", memory: budget)
/// let orders = try Store.open(at: "orders", memory: budget)
/// ```
///
/// The budget covers only pages. A transaction also takes a few bytes of other memory for each page that it changes.
public final class MemoryBudget: Sendable {
    /// The size of the budget, in bytes.
    package let byteCount: Int
    private let used = Atomic(0)

    /// The default budget: half of the smallest of these: the machine's memory, the memory limits of the process's control groups, and
    /// the memory that the limits of the process leave (`ulimit -v` and `ulimit -d`).
    public static let standard = MemoryBudget(byteCount: chosenByteCount.withLock { $0 } ?? systemByteCount / 2)

    private static let chosenByteCount = Mutex<Int?>(nil)

    /// Replaces the size of `standard`, in bytes. Programs call this before they open a store: later calls have no effect.
    package static func setStandard(byteCount: Int) { chosenByteCount.withLock { $0 = byteCount } }

    /// Creates a budget of this number of bytes. A negative number counts as 0.
    public init(byteCount: Int) { self.byteCount = max(0, byteCount) }

    /// The number of bytes that pages have taken from the budget. This number exceeds `byteCount` if pages cannot be in files, because the
    /// store has no disk or the disk is full.
    package var usedByteCount: Int { used.load(ordering: .relaxed) }

    /// The number of bytes that are left; 0 if the budget is exhausted.
    var leftByteCount: Int { max(0, byteCount - usedByteCount) }

    /// Whether more than three quarters of the budget are in use, or no chunk fits into the rest. If so, the stores move pages from memory
    /// to files.
    package var isTight: Bool { usedByteCount > byteCount / 4 * 3 || leftByteCount < PageLayout.chunkByteCount }

    package var isHalfUsed: Bool { usedByteCount > byteCount / 2 }

    func take(_ byteCount: Int) { used.add(byteCount, ordering: .relaxed) }

    func release(_ byteCount: Int) { used.subtract(byteCount, ordering: .relaxed) }

    private static var systemByteCount: Int {
        let physical = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        return min(physical, ControlGroup.memoryLimit() ?? physical, ProcessMemory.leftByteCount ?? physical)
    }
}
