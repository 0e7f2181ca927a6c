/// The owners that need chunks of pages, besides the versions of this process: kept checkpoint records, and graphs that exist longer than
/// their store.
///
/// A `PageSpace` asks the owners before it uses a chunk again. See Docs/Formats/CHECKPOINTS.md, "Which chunks are used again".
package struct ChunkOwners: Sendable {
    private let isRooted: [Bool]
    private let leased: Set<Int>

    /// No owners. For example, no other owner needs a chunk of a new page file.
    package static let none = ChunkOwners(isRooted: [])

    /// - Parameters:
    ///   - isRooted: For each chunk, whether a kept checkpoint record contains it. No record contains chunks beyond the end of the array.
    ///   - leased: The chunks that graphs of closed stores still map.
    package init(isRooted: [Bool], leased: Set<Int> = []) {
        self.isRooted = isRooted
        self.leased = leased
    }

    /// Returns whether an owner needs a chunk. Complexity: O(1).
    func have(_ chunk: Int) -> Bool { chunk < isRooted.count && isRooted[chunk] || leased.contains(chunk) }
}

/// The progress of a task that releases the memory and the disk space of empty chunks.
///
/// The operating system may take a long time to release disk space. So the task takes a few empty chunks out of the list from which writers
/// open chunks. It releases their memory and disk space while other threads write, and then puts the chunks back into the list.
package struct ChunkRelease {
    let spareCount: Int
    /// The next index in the list of empty chunks. Writers open the last chunk of the list first, so the task begins at index 0.
    var next = 0
    /// The chunks that the last call of `take` removed from the list of empty chunks, in the order of the list.
    var taken: [UInt32] = []
    /// The taken chunks that have memory or disk space to release, in ascending order.
    var released: [Int] = []
    /// The address of each chunk in `released` that keeps its address after its memory is released. `isFile` states whether a file is
    /// mapped at the address instead of heap memory.
    var memory: [(base: UnsafeMutableRawPointer, isFile: Bool)] = []
    var disk = DiskRelease()
    package internal(set) var isDone: Bool

    init(spareCount: Int, isDone: Bool) { (self.spareCount, self.isDone) = (spareCount, isDone) }

    /// Releases the memory and the disk space of the taken chunks. Any thread may call this method while other threads write.
    package func releaseTaken() {
        for (base, isFile) in memory {
            if isFile { PageMemory.map(PageLayout.chunkByteCount, at: base) } else { PageMemory.release(base) }
        }
        disk.run()
    }

    /// The maximum number of chunks that one step releases. These chunks together take 1 MiB.
    static let stepCountMax = 16
    /// The maximum number of chunks that one step examines.
    static let lookCountMax = 4096
}

/// Steps that release unneeded disk space.
package struct DiskRelease: Sendable {
    var steps: [@Sendable () -> Void] = []

    /// Releases the disk space. Any thread may call this method, as long as no thread stores or maps the chunks whose space is released.
    package func run() { for step in steps { step() } }
}

/// Decides whether a chunk can be used again. No other code makes this decision.
extension PageSpace {
    /// Returns whether writers may use a chunk, because no owner needs it. A version of this process needs each chunk in which it has a
    /// page. A kept checkpoint record needs the chunks that it contains. A checkpoint in progress needs the chunks for its table, and a
    /// graph of a closed store needs the chunks that it maps. The same rule applies to a chunk that is new to the space.
    func mayUse(_ chunk: Int) -> Bool { live[chunk] == 0 && !owners.have(chunk) && !tableChunks.contains(chunk) }

    /// Lets writers use exactly the chunks that `mayUse` permits, until the next call. After this call, a chunk that was taken for a table
    /// is protected only if `owners` need it. Complexity: O(chunks).
    ///
    /// - Parameter owners: The new owners. A chunk that only the new owners need must be in use by a version of this process, or taken for
    ///   a table.
    /// - Parameter spareCount: The number of empty chunks that keep their memory and disk space for the next writes.
    /// - Returns: The task that releases the memory and disk space of the other empty chunks. The caller alternately calls `take` and
    ///   `releaseTaken` until the task is done.
    func reuse(_ owners: ChunkOwners, spareCount: Int = PageSpace.spareChunkCount) -> ChunkRelease {
        self.owners = owners
        tableChunks = []
        let open = Set(openChunks.map(Int.init))
        let end = min(chunkCount, capacity.chunkCountMax)
        // The storage also has disk space for chunks beyond the last chunk of this space. Writers may open these chunks at any time, so
        // their disk space is released at once instead of by the task. Chunks that graphs of closed stores still map are omitted.
        if spareCount == 0 {
            let next = chunkCount..<min(chunkCount + PageSpace.spareChunkCount, PageLayout.chunkCountMax)
            discard(next.filter(mayUse)).run()
        }
        return setEmpty((0..<end).filter { mayUse($0) && !open.contains($0) }, spareCount: spareCount)
    }

    /// The chunks that versions of this process use and whose bytes are in a file: the file of the source or of the storage. Another
    /// process must not use these chunks of the file.
    var mappedChunks: (ofSource: [Int], ofStorage: [Int]) {
        let used = memories.indices.filter { live[$0] > 0 }
        return (used.filter { memories[$0] == .source }, used.filter { memories[$0].isStorage })
    }
}
