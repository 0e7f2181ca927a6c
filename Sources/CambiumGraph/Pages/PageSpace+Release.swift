extension PageSpace {
    /// Replaces the list of empty chunks that writers may open. The caller must ensure that the given chunks have no page in use, and that
    /// no other owner needs these chunks.
    ///
    /// - Parameters:
    ///   - empty: The chunks, in ascending order.
    ///   - spareCount: The number of these chunks that keep their memory and disk space.
    /// - Returns: The task that releases the memory and disk space of the other chunks. The caller alternately calls `take` and
    ///   `releaseTaken` until the task is done.
    func setEmpty(_ empty: [Int], spareCount: Int = PageSpace.spareChunkCount) -> ChunkRelease {
        // Writers open the last chunk of the list first, so the lowest chunk is the last.
        emptyChunks = empty.reversed().map(UInt32.init)
        return ChunkRelease(spareCount: spareCount, isDone: empty.count <= spareCount)
    }

    /// Puts back the chunks that the last call took, and takes the next empty chunks that have memory or disk space. The caller must
    /// release the taken chunks before the next call. Writers cannot open a chunk while it is taken.
    ///
    /// Complexity: examines O(1) chunks, and moves at most eight bytes for each empty chunk.
    func take(_ rest: inout ChunkRelease) {
        putBack(&rest)
        let end = max(0, emptyChunks.count - rest.spareCount)
        let lookEnd = min(end, rest.next + ChunkRelease.lookCountMax)
        while rest.next < lookEnd, !hasMemory(Int(emptyChunks[rest.next])) { rest.next += 1 }
        // Writers may have opened chunks since the last call, so the list may have become shorter than `rest.next`.
        if rest.next >= lookEnd {
            rest.isDone = rest.next >= end
            return
        }
        // Consecutive chunks of the list are taken together, so that the rest of the list is moved only once. Some of these chunks may have
        // nothing to release.
        let places = rest.next..<min(rest.next + ChunkRelease.stepCountMax, end)
        rest.taken = Array(emptyChunks[places])
        emptyChunks.removeSubrange(places)
        rest.released = rest.taken.map { Int($0) }.filter { mayLend($0) }.sorted()
        rest.memory = []
        for chunk in rest.released where memories[chunk] == .heap || memories[chunk] == .file {
            if let base = chunks[chunk: chunk] { rest.memory.append((base, isFile: memories[chunk] == .file)) }
        }
        rest.disk = discard(rest.released)
    }

    private func hasMemory(_ chunk: Int) -> Bool { memories[chunk] != .none && memories[chunk] != .lent }

    private func putBack(_ rest: inout ChunkRelease) {
        for chunk in rest.released {
            switch memories[chunk] {
            case .heap:
                memory.trackGone(chunkCount: 1)
                memories[chunk] = .lent
            case .file: memories[chunk] = .lent
            default: memories[chunk] = .none
            }
        }
        // The taken chunks return to their position in the list. This position must be before the chunks that keep their memory and disk
        // space, even if the list has become shorter.
        rest.next = min(rest.next, emptyChunks.count)
        emptyChunks.insert(contentsOf: rest.taken, at: rest.next)
        rest.next += rest.taken.count
        (rest.taken, rest.released, rest.memory, rest.disk) = ([], [], [], DiskRelease())
    }

    /// Records that the given chunks need no disk space, and returns the steps that release the space. One step can handle several
    /// consecutive chunks.
    ///
    /// - Parameter chunks: The chunks, in ascending order.
    func discard(_ chunks: [Int]) -> DiskRelease {
        var release = DiskRelease()
        var discarded = 0..<0
        func end() { if !discarded.isEmpty, let step = storage?.discard(discarded) { release.steps.append(step) } }
        for chunk in chunks {
            if chunk != discarded.upperBound {
                end()
                discarded = chunk..<chunk
            }
            discarded = discarded.lowerBound..<chunk + 1
        }
        end()
        return release
    }

    func mayLend(_ chunk: Int) -> Bool {
        switch memories[chunk] {
        case .none, .lent: false
        case .file: mappings.mayCut(counted: countCuts)
        case .heap, .window, .source: true
        }
    }

    /// Lends the memory of a chunk to the kernel. A chunk at a heap address keeps the address for its next use.
    func lend(_ chunk: Int) {
        switch (memories[chunk], chunks[chunk: chunk]) {
        case (.heap, let base?): memory.lend(base)
        case (.file, let base?): PageMemory.map(PageLayout.chunkByteCount, at: base)
        default:
            memories[chunk] = .none
            return
        }
        memories[chunk] = .lent
    }
}
