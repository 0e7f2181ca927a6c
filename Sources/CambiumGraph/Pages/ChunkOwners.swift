/// The owners of chunks apart from the versions of this process: checkpoint records that are kept, and graphs that outlive their store.
///
/// A `PageSpace` asks the owners before it uses a chunk again. See Docs/CHECKPOINTS.md, "Which chunks are used again".
package struct ChunkOwners: Sendable {
    private let isRooted: [Bool]
    private let leased: Set<Int>

    /// There are no owners, because the page file is new.
    package static let none = ChunkOwners(isRooted: [])

    /// - Parameters:
    ///   - isRooted: For each chunk, whether a checkpoint record that is kept contains it. No record contains chunks beyond the array.
    ///   - leased: The chunks that are mapped by surviving graphs of closed stores.
    package init(isRooted: [Bool], leased: Set<Int> = []) {
        self.isRooted = isRooted
        self.leased = leased
    }

    /// Whether one of these owners needs the chunk. O(1).
    func have(_ chunk: Int) -> Bool { chunk < isRooted.count && isRooted[chunk] || leased.contains(chunk) }
}

/// The progress of releasing the memory and the disk space of empty chunks.
///
/// The operating system may take a long time to release disk space. So the caller takes a few of the chunks that writers may open, releases
/// their memory and disk space while other threads write, and puts them back.
package struct ChunkRelease {
    let spareCount: Int
    /// The next index in the list of empty chunks. The first chunk of this list is opened last.
    var next = 0
    /// The chunks that were taken, in the order of the list.
    var taken: [UInt32] = []
    /// The taken chunks that have something to release, ascending.
    var released: [Int] = []
    /// The addresses of the released chunks whose memory is on the heap, or is a file mapped instead of heap memory.
    var memory: [(base: UnsafeMutableRawPointer, isFile: Bool)] = []
    var disk = DiskRelease()
    package internal(set) var isDone: Bool

    init(spareCount: Int, isDone: Bool) { (self.spareCount, self.isDone) = (spareCount, isDone) }

    /// Releases the memory and the disk space of the taken chunks. Any thread may call it while others write.
    package func releaseTaken() {
        for (base, isFile) in memory {
            if isFile { PageMemory.map(PageLayout.chunkByteCount, at: base) } else { PageMemory.release(base) }
        }
        disk.run()
    }

    /// The maximum number of chunks that one step releases: 1 MiB.
    static let stepCountMax = 16
    /// The maximum number of chunks that one step examines.
    static let lookCountMax = 4096
}

/// Disk space that is no longer needed.
package struct DiskRelease: Sendable {
    var steps: [@Sendable () -> Void] = []

    /// Releases the disk space. Any thread may call it while no thread stores or maps these chunks.
    package func run() { for step in steps { step() } }
}

/// The only rule that decides whether a chunk is used again.
extension PageSpace {
    /// Whether the writer may write into a chunk again. No version of this process may have a page in it, and no checkpoint record that is
    /// kept may have it. No checkpoint in progress may have taken it for its table, and no graph that outlives its store may map it. The
    /// same rule applies to a chunk that is new to the space.
    func mayUse(_ chunk: Int) -> Bool { live[chunk] == 0 && !owners.have(chunk) && !tableChunks.contains(chunk) }

    /// Makes all chunks available to writers that may be used again, and no other chunks, until the next call. Complexity: O(chunks).
    ///
    /// - Parameter owners: The new owners. Compared with the old owners, they may add only chunks that versions of this process use, or
    ///   that were taken for tables. A chunk that was taken for a table before this call either belongs to these owners, or may be used.
    /// - Parameter spareCount: The number of available chunks that keep their memory and disk space.
    /// - Returns: A value that releases the memory and disk space of the other chunks. The caller calls `take` and `releaseTaken`
    ///   alternately until it is done.
    func reuse(_ owners: ChunkOwners, spareCount: Int = PageSpace.spareChunkCount) -> ChunkRelease {
        self.owners = owners
        tableChunks = []
        let open = Set(openChunks.map(Int.init))
        let end = min(chunkCount, capacity.chunkCountMax)
        // A storage preallocates disk space for the chunks that follow the existing ones. A writer may open those chunks at any time, so
        // their space is released immediately.
        if spareCount == 0 { storage?.discard(chunkCount..<chunkCount + PageSpace.spareChunkCount)?() }
        return setEmpty((0..<end).filter { mayUse($0) && !open.contains($0) }, spareCount: spareCount)
    }

    /// The chunks of this process's versions whose memory is mapped from a file, or will be. Other processes may write to that file.
    var mappedChunks: (ofSource: [Int], ofStorage: [Int]) {
        let used = memories.indices.filter { live[$0] > 0 }
        return (used.filter { memories[$0] == .source }, used.filter { memories[$0].isStorage })
    }
}
