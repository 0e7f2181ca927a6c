import CambiumBytes
package import CambiumModel

extension LogWriter {
    /// Makes everything that was written durable, and continues in another segment. The caller ensures that no transaction is staged
    /// (encoded, but not written).
    func rotate() throws(CambiumError) {
        try beginRotation()
        try finishRotation()
    }

    /// Makes everything that was written durable, and begins another segment. Does nothing if the current segment begins after
    /// `transaction`. The caller ensures that no transaction is staged.
    package func endSegment(with transaction: TransactionNumber) throws(CambiumError) {
        try checkPoison()
        try checkLock()
        precondition(!hasStaged, "The staged transactions must be written first: they belong to the previous segment.")
        if header.firstTransaction <= transaction { try rotate() }
    }

    /// Returns the transactions of the last segment that ended, or `nil` if no segment has ended since the last call.
    package func takeEndedSegment() -> ClosedRange<TransactionNumber>? {
        defer { endedSegment = nil }
        return endedSegment
    }

    /// Cuts off the preallocated space beyond the last frame.
    func trim() throws(CambiumError) {
        guard preallocatedEnd > position else { return }
        try poisoning { () throws(CambiumError) in
            try file.truncate(to: position)
            try file.sync()
        }
        preallocatedEnd = position
    }

    /// Creates the file of another segment, and continues in it. The preceding segment is complete and durable, or contains no transaction.
    func beginSegment(time: Int64) throws(CambiumError) {
        let next = nextHeader(time: time)
        let bytes = next.encode()
        let made = SegmentRotation.make(volume, LogFileName.path(next.firstTransaction, .segment), bytes)
        poison = poison ?? made.poison
        file = try made.file.get()
        enter(next, bytes)
    }

    /// Returns the header of the segment that follows everything that was written.
    func nextHeader(time: Int64) -> SegmentHeader {
        SegmentHeader(
            store: settings.store, firstTransaction: lastTransaction.next, creationTime: time, saltSeed: makeSaltSeed(),
            previousChecksum: lastChecksum)
    }

    /// Prepares the writer for the frames of a segment that has no frame yet.
    func enter(_ segment: SegmentHeader, _ bytes: [UInt8]) {
        path = LogFileName.path(segment.firstTransaction, .segment)
        header = segment
        headerChecksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        codec = TransactionCodec(time: segment.creationTime)
        position = bytes.count
        preallocatedEnd = position
        durablePosition = position
        jointOffset = nil
        jointEnd = position
        namedEnd = 0
        ownByteCount += bytes.count
    }

    // MARK: Poison

    /// Throws `.notWritable` if an earlier write failed, so that the log accepts no more writes.
    package func checkPoison() throws(CambiumError) {
        guard let poison else { return }
        throw CambiumError(
            .notWritable, "An earlier write failed, so the store accepts no more writes; open it again. The failure was: \(poison.message)",
            underlying: poison)
    }

    /// Poisons the writer and throws if the lock file of the store was removed or replaced, because another process may be writing to the
    /// same files. If the directory of the store was removed, too, no other process writes to these files, and the next sync reports the
    /// removal.
    func checkLock() throws(CambiumError) {
        // During a rotation, `path` is already the path of the next segment, but `file` is still the file of the full segment.
        guard let lock, !lock.isInPlace, try volume.names(rotation?.ended.path ?? path, file) else { return }
        let error = CambiumError(
            .ioFailure,
            "The lock file of the store '\(volume.name)' was removed or replaced while the store was open, so another process may have "
                + "written to the store. This process writes nothing more. Close the store and open it again.",
            place: .init(file: Self.lockFileName))
        poison = error
        throw error
    }

    /// Throws as `checkLock` does. Also throws if the directory of the store was removed or replaced, because the files at its paths may
    /// then belong to another store.
    package func checkPlace() throws(CambiumError) {
        try checkLock()
        if let lock, !lock.isInPlace { throw Self.displaced(volume) }
    }

    /// Poisons the writer if `body` throws: the writer then refuses all later writes. If the disk is full, or if the process has too many
    /// open files, does not poison the writer, because the caller can repeat the action later.
    func poisoning(_ body: () throws(CambiumError) -> Void) throws(CambiumError) {
        do {
            try body()
        } catch {
            if !error.isShortage { poison = error }
            throw error
        }
    }
}
