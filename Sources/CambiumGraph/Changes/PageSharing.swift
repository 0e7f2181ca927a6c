/// Which pages two graphs share, so that a comparison may skip them.
///
/// A page that both share refers to pages that both share: whoever reaches it in one graph finds the same below it in the other one.
struct PageSharing {
    private enum Extent {
        /// Both graphs are of one page space, in which a reference that versions reach means one page.
        case space
        /// Both spaces map the chunks of one file, which nobody writes to while they do. Pages that were born later than a space's own
        /// checkpoint are in other chunks.
        case file(oldEpoch: UInt64, newEpoch: UInt64)
        /// Leaves without content are at the same places in every space.
        case constants
    }

    private let extent: Extent
    private let old: Chunks
    private let new: Chunks
    private let lastConstant = ConstantPages.stored.zeroes

    init(_ old: PageSpace, _ new: PageSpace) {
        (self.old, self.new) = (old.chunks, new.chunks)
        if old === new {
            extent = .space
        } else if let source = old.source, let other = new.source, source.suppliesSameChunks(as: other) {
            extent = .file(oldEpoch: old.storedEpoch, newEpoch: new.storedEpoch)
        } else {
            extent = .constants
        }
    }

    /// Whether equal references are one page, whatever they are.
    @inline(__always) var isOneSpace: Bool { if case .space = extent { true } else { false } }

    /// Whether two references are one page, or none. Complexity: O(1).
    @inline(__always) func isOnePage(_ before: PageRef, _ after: PageRef) -> Bool {
        if before != after { return false }
        if case .space = extent { return true }
        return isOnePageOfSpaces(before)
    }

    @inline(never) private func isOnePageOfSpaces(_ page: PageRef) -> Bool {
        if page <= lastConstant { return true }
        guard case .file(let oldEpoch, let newEpoch) = extent else { return false }
        return Self.isStored(page, old, oldEpoch) && Self.isStored(page, new, newEpoch)
    }

    /// Whether a page is of the checkpoint that its space was opened with. A chunk without an address has never been touched. The
    /// comparison does not touch it either, because the first touch of a chunk reads all of it to check its checksum.
    @inline(__always) private static func isStored(_ page: PageRef, _ chunks: Chunks, _ epoch: UInt64) -> Bool {
        chunks[chunk: Int(page &>> 12)] == nil || chunks.birth(page) <= epoch
    }
}
