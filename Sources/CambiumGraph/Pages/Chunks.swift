import Synchronization

/// The table of chunks, which turns a page reference into an address. The table never moves, so readers need no lock. The first thread that
/// touches a chunk stores the chunk's address in the table. If several threads touch the chunk at the same time, all of them store the same
/// address.
///
/// SAFETY: a page reference leads to a chunk that is in the table, or that the space's source supplies on the first touch. A chunk stays in
/// the table as long as a page in it is in use. The holder of a reference also holds the page space.
struct Chunks {
    private let table: UnsafeMutablePointer<Atomic<UnsafeMutableRawPointer?>>

    /// - Parameter memory: Zeroed memory of `byteCount` bytes. The memory must outlive the table.
    init(in memory: UnsafeMutableRawPointer) { table = memory.assumingMemoryBound(to: Atomic<UnsafeMutableRawPointer?>.self) }

    static let byteCount = (PageLayout.chunkCountMax + 2) * MemoryLayout<UnsafeMutableRawPointer?>.stride

    var memory: UnsafeMutableRawPointer { UnsafeMutableRawPointer(table) }

    /// The address of a chunk. It is `nil` if the chunk has no memory, or if the chunk is stored and no thread has touched it yet.
    subscript(chunk chunk: Int) -> UnsafeMutableRawPointer? {
        @inline(__always) get { table[chunk].load(ordering: .acquiring) }
        nonmutating set { table[chunk].store(newValue, ordering: .releasing) }
    }

    @inline(__always) subscript(_ page: PageRef) -> UnsafeMutableRawPointer {
        let base = self[chunk: Int(page &>> 12)]
        return (base ?? supply(Int(page &>> 12))) + (Int(page & 4095) &<< 4)
    }

    /// Returns the address of a page, or `nil` if no thread has touched its chunk.
    @inline(__always) func touched(_ page: PageRef) -> UnsafeMutableRawPointer? {
        self[chunk: Int(page &>> 12)].map { $0 + (Int(page & 4095) &<< 4) }
    }

    @inline(__always) func birth(_ page: PageRef) -> UInt64 {
        PageHeader(self[page]).birth
    }

    @inline(__always) func granules(_ page: PageRef) -> Int {
        PageHeader(self[page]).granules
    }

    func kind(_ page: PageRef) -> PageKind? {
        PageHeader(self[page]).kind
    }

    @inline(__always) func group(_ page: PageRef) -> GroupPage { GroupPage(self[page]) }

    /// The index of the table entry with the address of the page space. This entry follows the entries of all chunks.
    static let spacePlace = PageLayout.chunkCountMax

    /// The index of the table entry with the address of the numbers for hashes.
    static let hashNumbersPlace = spacePlace + 1

    /// The function that computes the hashes in the indexes of the space's graphs.
    @inline(__always) var hasher: KeyHasher {
        guard let numbers = self[chunk: Self.hashNumbersPlace] else { preconditionFailure("A space with a graph has numbers for hashes.") }
        return KeyHasher(UnsafePointer(numbers.assumingMemoryBound(to: HashNumbers.self)))
    }

    /// Whether a check has proved, before the first read, that the pages form a valid graph.
    var isProven: Bool {
        guard let space = self[chunk: Self.spacePlace] else { return false }
        return Unmanaged<PageSpace>.fromOpaque(space).takeUnretainedValue().isProven
    }

    /// Counts an overflow page of a bucket. Ends the process if the graph has not been proven valid and the bucket has too many overflow
    /// pages.
    @inline(never) func countOverflow(_ count: inout Int) {
        count += 1
        if count > Bucket.overflowCountMax, !isProven { refuse("the overflow pages of a bucket form a cycle") }
    }

    /// Ends the process because the content of a stored page is impossible.
    @inline(never) func refuse(_ reason: String) -> Never {
        guard let space = self[chunk: Self.spacePlace] else { preconditionFailure("A table of chunks must belong to a space.") }
        Unmanaged<PageSpace>.fromOpaque(space).takeUnretainedValue().refuse(reason)
    }

    @inline(never) private func supply(_ chunk: Int) -> UnsafeMutableRawPointer {
        guard let space = self[chunk: Self.spacePlace] else { preconditionFailure("A table of chunks must belong to a space.") }
        return Unmanaged<PageSpace>.fromOpaque(space).takeUnretainedValue().supply(chunk)
    }
}
