import CambiumBytes
package import CambiumModel

extension SegmentSealer {
    /// Splits a segment into two sealed segments, so that the second segment begins after a transaction. Does nothing if a segment already
    /// begins there.
    ///
    /// A joint (a frame without transactions that marks a position in the log) must follow the transaction. The caller must first remove
    /// the segments whose transactions the preceding segment also contains. Throws as `seal` does.
    ///
    /// After a crash, the directory contains both parts or the whole segment. If it contains the whole segment, it may also contain the
    /// second part.
    ///
    /// - Parameter segment: the first transaction of the segment. Another segment must follow it.
    /// - Returns: the number of bytes by which the two segments are smaller than the original; 0 if the call did nothing.
    package func split(_ segment: TransactionNumber, after last: TransactionNumber) throws -> Int {
        if try LogDirectory.segments(volume).contains(last.next) { return 0 }
        let before = try LogDirectory.byteCount(volume, segment)
        try seal(segment)
        var reader = try reader(of: segment)
        guard let end = reader.sealedEnd, last >= segment, last < end else { return before - reader.byteCount }
        let header = reader.header
        guard let checksum = reader.index?.checksum(after: last.rawValue - segment.rawValue + 1) else {
            throw CambiumError(
                .corrupted,
                "The log file cannot be split after transaction \(last), because it has no joint (a marked position) there. "
                    + "Run 'cambium verify' to find the cause.",
                place: .init(file: reader.path))
        }
        reader.skip(to: last)
        guard let record = try reader.nextFrame()?.first(where: { $0.number == last }) else {
            throw CambiumError(
                .corrupted,
                "The log file is corrupt, so it stays unchanged. "
                    + "Restore the store from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: reader.path))
        }
        let second = SegmentHeader(
            store: header.store, firstTransaction: last.next, creationTime: record.metadata.time.microsecondsSince1970,
            saltSeed: header.saltSeed, previousChecksum: checksum)
        _ = try write([segment], last.next...end, second, .sealed)
        _ = try write([segment], segment...last, header, .sealed)
        return try before - LogDirectory.byteCount(volume, segment) - LogDirectory.byteCount(volume, last.next)
    }

    /// Removes covered segments. A segment is covered if the sealed segment before it also contains its transactions. An interrupted split
    /// or merge leaves covered segments.
    ///
    /// Throws `.corrupted` if the transactions differ. Complexity: O(segments) if no segment is covered.
    ///
    /// - Parameter end: the first transaction of the segment to which the writer appends. This segment and later segments are not touched.
    package func removeCovered(before end: TransactionNumber) throws {
        var segments = try LogDirectory.segments(volume).filter { $0 < end }[...]
        while let segment = segments.popFirst(), !segments.isEmpty {
            let reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
            guard let last = reader.sealedEnd else { continue }
            try check(reader, is: segment)
            let covered = segments.prefix { $0 <= last }
            segments = segments.dropFirst(covered.count)
            if !covered.isEmpty { try remove(Array(covered), coveredBy: segment) }
        }
    }

    /// Removes segments, after comparing them with the sealed segment that contains the same transactions.
    private func remove(_ covered: [TransactionNumber], coveredBy segment: TransactionNumber) throws {
        for other in covered {
            let reader = try reader(of: other)
            let range = try range(of: reader)
            var (part, same) = (SegmentPart(volume, [segment], range), SegmentPart(volume, [other], range))
            while let record = try same.next() {
                guard let wanted = try part.next(), wanted.isSame(as: record) else {
                    throw CambiumError(
                        .corrupted,
                        "The log file and '\(LogFileName.path(segment, .segment))' should contain the same transactions, but they differ. "
                            + "Run 'cambium verify' to find the cause.",
                        place: .init(file: reader.path))
                }
            }
        }
        try removeNow(covered)
    }

    /// Removes segments, the last segment first, so that the remaining segments stay neighbors.
    func removeNow(_ covered: [TransactionNumber]) throws {
        try checkPlace()
        // The name of the covering segment must be durable before the names of the covered segments are removed.
        try volume.syncDirectory(LogDirectory.name)
        for other in covered.reversed() { try volume.remove(LogFileName.path(other, .segment)) }
        try volume.syncDirectory(LogDirectory.name)
    }
}
