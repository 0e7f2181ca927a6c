/// The owners of chunks beside the versions of this process: roots that are kept, and graphs that outlive their store.
///
/// A `PageSpace` asks them before it uses a chunk again. Docs/CHECKPOINTS.md, "Which chunks are used again".
package struct ChunkOwners: Sendable {
    private let isRooted: [Bool]
    private let leased: Set<Int>

    /// No owners: the file of pages is new.
    package static let none = ChunkOwners(isRooted: [])

    /// - Parameters:
    ///   - isRooted: for each chunk, whether a root that is kept has it; chunks beyond these are in no root.
    ///   - leased: the chunks that surviving graphs of stores that were closed map.
    package init(isRooted: [Bool], leased: Set<Int> = []) {
        self.isRooted = isRooted
        self.leased = leased
    }

    /// Whether somebody outside of this process's versions needs the chunk. O(1).
    func have(_ chunk: Int) -> Bool { chunk < isRooted.count && isRooted[chunk] || leased.contains(chunk) }
}

/// Empty chunks whose memory and disk space are to be released, and how far that is.
///
/// The system may take long to release disk space. So a few chunks at a time are taken from those that writers may open, are released while
/// others write, and are put back.
package struct ChunkRelease {
    let spareCount: Int
    /// The next place among the empty chunks, from the one that is opened last.
    var next = 0
    /// The chunks that were taken, as they stood.
    var taken: [UInt32] = []
    /// Those of them that have something to release, ascending.
    var released: [Int] = []
    /// The addresses of the released chunks that have memory of the heap, or of a file in its place.
    var memory: [(base: UnsafeMutableRawPointer, isFile: Bool)] = []
    var disk = DiskRelease()
    package internal(set) var isDone: Bool

    init(spareCount: Int, isDone: Bool) { (self.spareCount, self.isDone) = (spareCount, isDone) }

    /// Releases what was taken. Any thread, while others write.
    package func releaseTaken() {
        for (base, isFile) in memory {
            if isFile { PageMemory.map(PageLayout.chunkByteCount, at: base) } else { PageMemory.letGo(base) }
        }
        disk.run()
    }

    /// Chunks that are released in one step: 1 MiB.
    static let stepCountMax = 16
    /// Chunks that are looked at in one step.
    static let lookCountMax = 4096
}

/// Disk space that nobody needs.
package struct DiskRelease: Sendable {
    var steps: [@Sendable () -> Void] = []

    /// Releases it. Any thread, while nobody stores or maps its chunks.
    package func run() { for step in steps { step() } }
}

/// The one rule by which chunks are used again.
extension PageSpace {
    /// Whether a chunk may be written again: no version of this process has a page in it, no root that is kept has it, no checkpoint that
    /// is being made has taken it for its table, and no graph that outlives its store maps it. A chunk beyond those of the space is new to
    /// it, and is judged alike.
    func mayUse(_ chunk: Int) -> Bool { live[chunk] == 0 && !owners.have(chunk) && !tableChunks.contains(chunk) }

    /// Opens chunks again that may be used, and no others, until it is called again. Complexity: O(chunks).
    ///
    /// - Parameter owners: as they are from now on; those that come later own only chunks that versions of this process have, or that
    ///   were taken for tables. What was taken for tables before is theirs, or may be used.
    /// - Parameter spareCount: how many of them keep their memory and disk space.
    /// - Returns: those that lose it, which `release` has to see to.
    func reuse(_ owners: ChunkOwners, spareCount: Int = PageSpace.spareChunkCount) -> ChunkRelease {
        self.owners = owners
        tableChunks = []
        let open = Set(openChunks.map(Int.init))
        let end = min(chunkCount, capacity.chunkCountMax)
        // A storage takes disk space ahead of the chunks that there are. A writer may open those at any time, so it is released at once.
        if spareCount == 0 { storage?.discard(chunkCount..<chunkCount + PageSpace.spareChunkCount)?() }
        return setEmpty((0..<end).filter { mayUse($0) && !open.contains($0) }, spareCount: spareCount)
    }

    /// The chunks that versions of this process have and whose memory is, or will be, that of a file that others may write to.
    var mappedChunks: (ofSource: [Int], ofStorage: [Int]) {
        let used = memories.indices.filter { live[$0] > 0 }
        return (used.filter { memories[$0] == .source }, used.filter { memories[$0].isStorage })
    }
}
