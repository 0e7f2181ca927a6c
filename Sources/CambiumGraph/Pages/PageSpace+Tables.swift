/// A checkpoint has a table with an entry for each chunk. If the table is too large for the checkpoint record, some chunks contain parts of
/// the table instead of pages. See Docs/Formats/CHECKPOINTS.md, "Checkpoint records".
extension PageSpace {
    /// Takes chunks for the table of a checkpoint. No page is placed in these chunks until `reuse` is called. Call this method only between
    /// two drafts.
    ///
    /// The method takes the empty chunks that would be opened last, and then new chunks. The method does not use the reserve for deletions.
    /// If only the reserve is left, the method takes chunks beyond the chunks that pages may use.
    ///
    /// If the table does not fill a chunk, the rest of the chunk must take no disk space. So the method first releases the disk space of
    /// the chunk.
    ///
    /// - Returns: The chunks, in ascending order; `nil` if there are too few. Complexity: O(empty chunks).
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
                // Without this call, a chunk that is mapped from the file would keep its disk space.
                if !isLent { lend(Int(chunk)) }
                taken.append(Int(chunk))
            } else {
                kept.append(chunk)
            }
        }
        emptyChunks = kept
        return taken
    }

    /// Adds the next new chunk to the space. Returns `nil` if `mayUse` refuses the chunk, because another owner still needs it, such as a
    /// graph of a closed store. The space contains the chunk in this case, too, and can use it later.
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
