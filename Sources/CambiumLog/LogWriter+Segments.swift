import CambiumBytes
import CambiumModel

extension LogWriter {
    func rotate() throws(CambiumError) {
        if isAsClosed { try noteOpen() }
        try sync()
        try trim()
        let ended = header.firstTransaction...lastTransaction
        try beginSegment(time: lastTime)
        try writeHead(isClosed: false)
        endedSegment = ended
    }

    /// Makes everything that was written durable, and begins another segment if the one that is written to has a transaction. Nothing may
    /// be staged.
    public func endSegment(with transaction: TransactionNumber) throws(CambiumError) {
        try checkPoison()
        precondition(!hasStaged, "What is staged is written first: it belongs to the segment before.")
        if header.firstTransaction <= transaction { try rotate() }
    }

    /// The transactions of the segment that was ended since this was asked last; `nil` if none was.
    public func takeEndedSegment() -> ClosedRange<TransactionNumber>? {
        defer { endedSegment = nil }
        return endedSegment
    }

    /// Cuts off the room behind the last frame.
    func trim() throws(CambiumError) {
        guard roomEnd > position else { return }
        try poisoning { () throws(CambiumError) in
            try file.truncate(to: position)
            try file.sync()
        }
        roomEnd = position
    }

    func beginSegment(time: Int64) throws(CambiumError) {
        let next = SegmentHeader(
            store: settings.store, firstTransaction: lastTransaction.next, creationTime: time, saltSeed: makeSaltSeed(),
            previousChecksum: lastChecksum)
        let bytes = next.encode()
        let path = LogFileName.path(next.firstTransaction, .segment)
        try make(path, bytes)
        self.path = path
        header = next
        headerChecksum = ByteReader.peek(bytes, at: Format.Segment.checksumOffset)
        codec = TransactionCodec(time: time)
        position = bytes.count
        roomEnd = position
        durablePosition = position
        jointOffset = nil
        namedEnd = 0
        ownByteCount += bytes.count
    }

    /// Makes the file of a new segment the one that is written to.
    private func make(_ path: String, _ header: [UInt8]) throws(CambiumError) {
        // A segment of this name has lost all of its frames; this one takes its place, with another salt.
        let isReplacement = try volume.exists(path)
        do {
            if isReplacement { try volume.replace(path, header) } else { try volume.create(path, header) }
            try volume.syncDirectory(LogReader.directory)
            // The old one is closed when no sync of it is under way any more.
            file = try volume.open(path, .update)
        } catch {
            // A segment that nobody goes on in must not be left behind the one that is gone on in.
            do throws(CambiumError) {
                if !isReplacement, try volume.exists(path) {
                    try volume.remove(path)
                    // Nor come back: HEAD may say that the log was closed before it.
                    try volume.syncDirectory(LogReader.directory)
                }
            } catch { poison = error }
            if isReplacement || !error.isOutOfSpace { poison = error }
            throw error
        }
    }

    // MARK: Poison

    func checkPoison() throws(CambiumError) {
        guard let poison else { return }
        throw CambiumError(
            .notWritable, "An earlier write failed, so nothing more is written; open the store again. It was: \(poison.message)",
            underlying: poison)
    }

    /// Poisons the writer where `body` throws, unless the disk is full: then what it does can be done again later.
    func poisoning(_ body: () throws(CambiumError) -> Void) throws(CambiumError) {
        do {
            try body()
        } catch {
            if !error.isOutOfSpace { poison = error }
            throw error
        }
    }
}
