public import CambiumModel
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// How much memory the pages of stores may take that is nobody's file. What they need beyond it they have in files, which the system
/// writes and takes out of memory as it likes. Stores that are opened with the same budget share it.
///
/// It bounds pages, not what a transaction needs beside them: some bytes for each page that it changes.
public final class MemoryBudget: Sendable {
    /// In bytes.
    public let byteCount: Int
    private let used = Atomic(0)

    /// Half of the memory of the machine, or half of the smallest limit of the control groups that the process is in.
    /// The environment's `CAMBIUM_MEMORY` overrides it: bytes, or a number followed by K, M or G. Another text is ignored here;
    /// programs report it with `checkEnvironment`.
    public static let standard = MemoryBudget(byteCount: environmentText.flatMap { byteCount($0) } ?? systemByteCount / 2)

    /// Throws `.invalidInput` where `CAMBIUM_MEMORY` is set to what is no number of bytes.
    public static func checkEnvironment() throws(CambiumError) {
        guard let text = environmentText, byteCount(text) == nil else { return }
        throw CambiumError(.invalidInput, "CAMBIUM_MEMORY is '\(text)', which is no number of bytes; it is such as 536870912, 512M or 4G.")
    }

    public init(byteCount: Int) { self.byteCount = max(0, byteCount) }

    /// What pages take of it, in bytes. More than there is where there is no disk, or no room on it.
    public var usedByteCount: Int { used.load(ordering: .relaxed) }

    /// Bytes that are left; 0 where there are none.
    var leftByteCount: Int { max(0, byteCount - usedByteCount) }

    /// Whether three quarters are in use, so that it is time to have files take the place of memory.
    package var isTight: Bool { usedByteCount > byteCount / 4 * 3 }

    package var isHalfUsed: Bool { usedByteCount > byteCount / 2 }

    func take(_ byteCount: Int) { used.add(byteCount, ordering: .relaxed) }

    func giveBack(_ byteCount: Int) { used.subtract(byteCount, ordering: .relaxed) }

    /// Bytes that a text such as `512M` says; nil for one that is none.
    public static func byteCount(_ text: String) -> Int? {
        let shift = ["K": 10, "M": 20, "G": 30][text.last.map(String.init) ?? ""]
        guard let count = Int(shift == nil ? text[...] : text.dropLast()), count >= 0 else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: 1 << (shift ?? 0))
        return overflow ? nil : product
    }

    private static var environmentText: String? { getenv("CAMBIUM_MEMORY").map { String(cString: $0) } }

    private static var systemByteCount: Int {
        let physical = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
        return min(physical, ControlGroup.memoryLimit() ?? physical)
    }
}
