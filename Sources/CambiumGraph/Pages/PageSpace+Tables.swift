/// Chunks that have no pages, but a part of the table of a checkpoint. Docs/CHECKPOINTS.md, "Roots".
extension PageSpace {
    /// Takes chunks for the table of a checkpoint: until `reuse` is called, no page comes there. Between two drafts only.
    ///
    /// They are the empty chunks that would be opened last, and then new ones. The reserve for deletions is left alone: a graph that has
    /// nearly used up its pages has its tables in chunks beyond those that pages may have.
    ///
    /// What is not written there must take no disk space, so a page that comes there later takes its own.
    ///
    /// - Returns: them, ascending; `nil` if there are not enough. Complexity: O(empty chunks).
    func takeTableChunks(_ count: Int) -> [Int]? {
        let spareCount = min(count, max(0, freeChunkCount - capacity.reserveChunkCount))
        var taken = takeEmptyChunks(spareCount)
        while taken.count < spareCount, chunkCount < capacity.chunkCountMax {
            if let chunk = addEmptyChunk() { taken.append(chunk) }
        }
        if taken.count < count { takeBeyondPages(count, &taken) }
        guard taken.count == count else {
            emptyChunks.insert(contentsOf: taken.filter { $0 < capacity.chunkCountMax }.map(UInt32.init), at: 0)
            return nil
        }
        tableChunks.formUnion(taken)
        return taken.sorted()
    }

    private func takeEmptyChunks(_ count: Int) -> [Int] {
        var taken: [Int] = []
        var kept: [UInt32] = []
        for (place, chunk) in emptyChunks.enumerated() {
            if taken.count == count {
                emptyChunks = kept + emptyChunks[place...]
                return taken
            }
            let memory = memories[Int(chunk)]
            let isLent = memory == .none || memory == .lent
            if isLent || mayLend(Int(chunk)) {
                // A file's memory would need the disk space.
                if !isLent { lend(Int(chunk)) }
                taken.append(Int(chunk))
            } else {
                kept.append(chunk)
            }
        }
        emptyChunks = kept
        return taken
    }

    /// The next new chunk; `nil` if somebody else needs it, so that it is an empty chunk for later.
    private func addEmptyChunk() -> Int? {
        let chunk = chunkCount
        if chunk == memories.count { memories.append(.none) }
        chunkCount += 1
        return mayUse(chunk) ? chunk : nil
    }

    private func takeBeyondPages(_ count: Int, _ taken: inout [Int]) {
        var new: [UInt32] = []
        while chunkCount < capacity.chunkCountMax {
            if let chunk = addEmptyChunk() { new.append(UInt32(chunk)) }
        }
        emptyChunks.insert(contentsOf: new.reversed(), at: 0)
        for chunk in capacity.chunkCountMax..<chunkCount where taken.count < count && mayUse(chunk) { taken.append(chunk) }
        while taken.count < count, chunkCount < PageLayout.chunkCountMax {
            if let chunk = addEmptyChunk() { taken.append(chunk) }
        }
    }
}
