public import CambiumModel

extension LogWriter {
    /// HEAD is a hint: it is written, not synced, and a slot that is torn leaves the other one.
    func writeHead(isClosed: Bool) throws(CambiumError) {
        headSequence += 1
        let head = Head(
            sequence: headSequence, segment: header.firstTransaction, position: UInt64(durablePosition),
            lastTransaction: durableTransaction, isClosed: isClosed, tree: headTree)
        try poisoning { () throws(CambiumError) in
            if isHeadOfOldestFormat { return try replaceHead(head) }
            let offset = Int(headSequence % 2) * Format.Head.slotByteCount
            try headFile.write(head.encode(store: settings.store), at: offset)
        }
        headTime = lastTime
    }

    /// A slot of this version would cover both slots of version 1, and leave none if it was torn.
    private func replaceHead(_ head: Head) throws(CambiumError) {
        var other = head
        other.sequence -= 1
        let slots = [head, other].sorted { $0.sequence % 2 < $1.sequence % 2 }.map { $0.encode(store: settings.store) }
        try volume.replace(Head.fileName, slots[0] + slots[1])
        try volume.syncDirectory("")
        headFile.close()
        headFile = try volume.open(Head.fileName, .update)
        isHeadOfOldestFormat = false
    }

    /// Syncs, gives back the room that was kept, notes in HEAD that nothing is left to write, and closes the files.
    ///
    /// Complexity: O(bytes of the log after the base), if these are some KiB.
    ///
    /// - Parameters:
    ///   - tree: the newest tree that is known; nil for none, which is the tree of an empty log.
    ///   - base: the position after the last transaction in it.
    public func close(_ tree: MerkleTree? = nil, after base: LogReader.Prefix? = nil) throws(CambiumError) {
        defer {
            file.close()
            headFile.close()
        }
        if isAsClosed, !hasStaged { return }
        try sync()
        try trim()
        advanceTree(tree ?? MerkleTree(), after: base)
        try writeHead(isClosed: true)
        try headFile.sync()
    }

    /// Has HEAD name the tree up to the last transaction, or at least the one that is known: closing must not take long.
    private func advanceTree(_ known: MerkleTree, after base: LogReader.Prefix?) {
        var tree = LogTree(known)
        do {
            try tree.append(LogReader(volume), after: base, upTo: lastTransaction, byteCountMax: tuning.closingTreeByteCountMax)
        } catch {
            // More was logged, or the log cannot be read, which `verify` reports. The tree that is known is not wrong.
        }
        if tree.transaction > headTree?.transaction ?? .none { headTree = Head.Tree(tree.tree) }
    }
}
