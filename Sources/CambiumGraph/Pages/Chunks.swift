import Synchronization

/// The table of chunks: turns a page reference into an address. It never moves, so readers need no lock. Whoever touches a chunk first may
/// put its address there: it is the same for all of them.
///
/// SAFETY: a reference is only handed out for a page inside a chunk that is in the table, or that the space's source supplies when it is
/// first touched; what is in the table stays there as long as a page in it is in use; whoever holds a reference holds the page space.
struct Chunks {
    private let table: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>

    /// What is at `memory` is zero, and stays there.
    init(in memory: UnsafeMutableRawPointer) { table = memory.assumingMemoryBound(to: Atomic<UnsafeMutableRawPointer?>.self) }

    static let byteCount = (PageLayout.chunkCountMax + 1) * MemoryLayout<UnsafeMutableRawPointer?>.stride

    var memory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(table) }

    /// Where a chunk is; nil for one that has no memory, or that nobody has touched.
    subscript(chunk chunk: Int) -> UnsafeMutableRawPointer? {
        @inline(__always) get { table[chunk].load(ordering: .acquiring) }
        nonmutating set { table[chunk].store(newValue, ordering: .releasing) }
    }

    @inline(__always) subscript(_ page: PageRef) -> UnsafeMutableRawPointer {
        let base = self[chunk: Int(page &>> 12)]
        return (base ?? supply(Int(page &>> 12))) + (Int(page & 4095) &<< 4)
    }

    @inline(__always) func birth(_ page: PageRef) -> UInt64 {
        self[page].load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self)
    }

    @inline(__always) func granules(_ page: PageRef) -> Int {
        Int(self[page].load(fromByteOffset: PageLayout.granulesOffset, as: UInt16.self))
    }

    func kind(_ page: PageRef) -> PageKind? {
        PageKind(rawValue: self[page].load(fromByteOffset: PageLayout.kindOffset, as: UInt8.self))
    }

    /// The place in the table behind all chunks, which has the address of the space itself.
    static let spacePlace = PageLayout.chunkCountMax

    /// Whether all pages were proven to be a graph before they were read.
    var isProven: Bool {
        guard let space = self[chunk: Self.spacePlace] else { return false }
        return Unmanaged<PageSpace>.fromOpaque(space).takeUnretainedValue().isProven
    }

    /// Counts the overflow pages of a bucket, of which a graph that is not proven has a limited number.
    @inline(never) func countOverflow(_ count: inout Int) {
        count += 1
        if count > Bucket.overflowCountMax, !isProven { refuse("the overflow of a bucket goes in circles") }
    }

    /// Ends the process: what a page that was stored says cannot be.
    @inline(never) func refuse(_ reason: String) -> Never {
        guard let space = self[chunk: Self.spacePlace] else { preconditionFailure("A table of chunks belongs to a space.") }
        Unmanaged<PageSpace>.fromOpaque(space).takeUnretainedValue().refuse(reason)
    }

    @inline(never) private func supply(_ chunk: Int) -> UnsafeMutableRawPointer {
        guard let space = self[chunk: Self.spacePlace] else { preconditionFailure("A table of chunks belongs to a space.") }
        return Unmanaged<PageSpace>.fromOpaque(space).takeUnretainedValue().supply(chunk)
    }
}
