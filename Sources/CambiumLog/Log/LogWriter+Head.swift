package import CambiumModel
package import CambiumProofs

extension LogWriter {
    /// Writes one of the two slots of the file HEAD, without a sync: HEAD is only a hint about the durable part of the log. If the slot is
    /// torn, the other slot is still valid.
    func writeHead(isClosed: Bool) throws(CambiumError) {
        headSequence += 1
        let head = Head(
            sequence: headSequence, segment: header.firstTransaction, position: UInt64(durablePosition),
            lastTransaction: durableTransaction, isClosed: isClosed, tree: headTree)
        try poisoning { () throws(CambiumError) in
            let offset = Int(headSequence % 2) * Format.Head.slotByteCount
            try headFile.write(head.encode(store: settings.store), at: offset)
        }
        headTime = clockTime
    }

    /// Cuts off the bytes after the slots. No write of a slot replaces these bytes, so every verification would report them.
    func cutHead() throws(CambiumError) {
        let byteCount = 2 * Format.Head.slotByteCount
        if try headFile.byteCount() > byteCount { try headFile.truncate(to: byteCount) }
    }

    /// Makes HEAD durable. After a failure, the caller must write HEAD again before it repeats the call.
    func syncHead() throws(CambiumError) {
        do throws(CambiumError) {
            try headFile.sync()
        } catch {
            // Each later sync through the same open file would fail, too, even if the disk is no longer full. So the file is opened again.
            // If that fails, the next sync also fails, and then tries again to open the file.
            if let file = try? volume.open(Head.fileName, .update) {
                headFile.close()
                headFile = file
            }
            throw error
        }
    }

    /// Syncs, releases the preallocated space, records in HEAD that the log is closed, and closes the files.
    ///
    /// Complexity: O(bytes of the log after `base`). At most `LogTuning.closingTreeByteCountMax` of these bytes are hashed.
    ///
    /// - Parameters:
    ///   - tree: the newest known tree; `nil` for the tree of an empty log.
    ///   - base: the position after the last transaction in the tree.
    package func close(_ tree: MerkleTree? = nil, after base: LogPrefix? = nil) throws(CambiumError) {
        defer {
            file.close()
            headFile.close()
        }
        if isAsClosed, !hasStaged { return }
        try checkLock()
        try sync()
        try trim()
        advanceTree(tree ?? MerkleTree(), after: base)
        try writeHead(isClosed: true)
        try headFile.sync()
    }

    /// Advances the Merkle tree in HEAD to the last transaction. If that advance would take a long time, or if the log cannot be read, HEAD
    /// gets the known tree instead: closing must be fast.
    private func advanceTree(_ known: MerkleTree, after base: LogPrefix?) {
        var tree = LogTree(known)
        do {
            try tree.append(LogReader(volume), after: base, upTo: lastTransaction, byteCountMax: tuning.closingTreeByteCountMax)
        } catch {
            // The log is too long, or cannot be read. In both cases, the known tree is correct, and `verify` reports any corruption. A tree
            // in HEAD that contradicts the log stays as evidence for `verify`: the known tree does not extend beyond the tree in HEAD.
        }
        if tree.transaction > headTree?.transaction ?? .none { headTree = Head.Tree(tree.tree) }
    }
}
