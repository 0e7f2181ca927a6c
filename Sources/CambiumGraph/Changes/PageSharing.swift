/// The pages that two graphs have in common. A comparison of the graphs does not need to read these pages.
///
/// A shared page refers only to shared pages, so everything that is reached from a shared page is the same in both graphs.
struct PageSharing {
    private enum Extent {
        /// Both graphs are in one page space. If two versions of one space contain the same reference, this reference means the same page
        /// in both versions. So a page is shared if the references are equal.
        case space
        /// Both graphs map the same checkpoint file, and no process changes its chunks while one of the graphs exists. A page that was born
        /// after the epoch of its graph's checkpoint does not come from this file, so it is not shared.
        case file(oldEpoch: UInt64, newEpoch: UInt64)
        /// The graphs have only the constant leaves in common: pages without content, whose references are the same in every page space.
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

    /// Whether any two equal references mean the same page.
    @inline(__always) var isOneSpace: Bool { if case .space = extent { true } else { false } }

    /// Returns whether two references mean the same page, or both mean no page. Complexity: O(1).
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

    /// Returns whether a page belongs to the checkpoint from which its space was opened. A chunk without an address has never been read, so
    /// its pages come from the checkpoint. The method does not read the chunk, because the first read verifies the checksum of the whole
    /// chunk.
    @inline(__always) private static func isStored(_ page: PageRef, _ chunks: Chunks, _ epoch: UInt64) -> Bool {
        chunks[chunk: Int(page &>> 12)] == nil || chunks.birth(page) <= epoch
    }
}
