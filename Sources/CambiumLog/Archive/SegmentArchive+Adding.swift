import CambiumBytes
package import CambiumModel

extension SegmentArchive {
    /// Creates the archive's directories, and calls `body` while this process holds the lock of the archive.
    ///
    /// Throws `.locked` if this process or another process is adding to the archive, and `.ioFailure` if a disk operation fails. Throws
    /// `.cannotCreate` if the archive and the store have the same log directory; `source` is the volume of the store. Also throws the
    /// errors of `body`. After an error, removes the lock file and each directory that this call created, unless something was archived.
    package func withLock<Result>(apartFrom source: any Volume, _ body: () throws -> Result) throws -> Result {
        try volume.createDirectory("")
        let made = try [LogDirectory.name, StoreFileName.lock].filter { try !volume.exists($0) }
        let lock = try lock(isNew: made.contains(StoreFileName.lock))
        defer { lock.unlock() }
        do {
            // Another process may have begun an archive of another store in this directory since this object was created.
            try checkPlace()
            try volume.createDirectory(LogDirectory.name)
            try volume.syncDirectory("")
            try checkApart(from: source)
            try removeInterrupted()
            return try body()
        } catch {
            removeIfEmpty(made)
            throw error
        }
    }

    private func lock(isNew: Bool) throws(CambiumError) -> any VolumeLock {
        do throws(CambiumError) {
            return try volume.lock(StoreFileName.lock)
        } catch {
            if error.code == .locked {
                // This error replaces the volume's error, which says that the store is open for writing.
                throw CambiumError(
                    .locked,
                    "Another compaction is adding to the archive '\(volume.name)'. Wait until it ends, then compact the store again.",
                    place: error.place)
            }
            guard isNew, error.code == .ioFailure else { throw error }
            throw CambiumError(.cannotCreate, error.message, place: error.place, underlying: error.underlying)
        }
    }

    /// Removes the files and directories that a call to `withLock` created, if nothing was archived.
    ///
    /// - Parameter made: the names that were missing from the archive's directory before that call.
    private func removeIfEmpty(_ made: [String]) {
        // If a file or a directory cannot be removed, the next call to `withLock` uses it. A process with too many open files can remove an
        // empty directory, but cannot list it. So the log directory is removed without being listed first.
        if made.contains(LogDirectory.name) { try? volume.removeDirectory(LogDirectory.name) }
        let isEmpty = (try? volume.exists(LogDirectory.name)) == false || (try? volume.list(LogDirectory.name))?.isEmpty == true
        if isEmpty, made.contains(StoreFileName.lock) { try? volume.remove(StoreFileName.lock) }
    }

    /// Throws `.cannotCreate` if the archive is the store's own log under another path. In such an archive, retiring segments would also
    /// remove the archived files.
    private func checkApart(from source: any Volume) throws(CambiumError) {
        let path = LogDirectory.name + "/archive" + LogFileName.replacementSuffix
        if try volume.exists(path) { try volume.remove(path) }
        try volume.open(path, .create).close()
        let isSame = try source.exists(path)
        try volume.remove(path)
        if isSame {
            throw CambiumError(
                .cannotCreate, "'\(volume.name)/\(LogDirectory.name)' is the store's own log; choose another place for the archive.")
        }
    }

    /// Copies segments from a log to the archive, together with the files that hold the ops of some transactions. Makes the copies durable
    /// and reads them again to check them.
    ///
    /// Compares the transactions that the archive already contains with those of the log. Replaces a segment of the archive only if the
    /// segment is corrupt. Otherwise, the archive keeps its segments, even if the log has merged its own segments since.
    ///
    /// Throws `.conflict` if a transaction in the archive differs from the transaction with the same number in the log. Also throws
    /// `.conflict` if the archive has transactions after the last of `segments`. Throws `.corrupted` if the log is corrupt, and
    /// `.ioFailure` if a disk operation fails. After an error, some of the files may be in the archive. Complexity: O(bytes).
    ///
    /// - Parameter segments: neighboring segments, in ascending order.
    /// - Returns: the number of segments that were not completely in the archive, and the bytes of the files that were created.
    package func add(_ segments: [TransactionNumber], from source: any Volume) throws -> (segmentCount: Int, byteCount: Int) {
        var (segmentCount, byteCount) = (0, 0)
        for segment in segments {
            let isLast = segment == segments.last
            let files = try files(of: segment, in: source, isLast: isLast)
            // The process that copied these files may have ended before the copies were durable.
            for path in files.present { try sync(path) }
            if files.lacking.isEmpty { continue }
            segmentCount += 1
            for path in files.lacking { byteCount += try put(path, from: source) }
            if let path = try self.files(of: segment, in: source, isLast: isLast).lacking.first {
                throw CambiumError(
                    .ioFailure,
                    "The file in the archive differs from the file that was copied there. Check the disk of the archive, then repeat the "
                        + "compaction.",
                    place: .init(file: "\(volume.name)/\(path)"))
            }
        }
        try volume.syncDirectory(LogDirectory.name)
        return (segmentCount, byteCount)
    }

    /// Returns the result that `add` would return for these segments, and copies nothing. Throws the same errors as `add`, with one
    /// exception. A segment of the archive may continue beyond the last of these segments, because the caller may add more segments.
    package func measure(_ segments: [TransactionNumber], of source: any Volume) throws -> (segmentCount: Int, byteCount: Int) {
        var (segmentCount, byteCount) = (0, 0)
        for segment in segments {
            let lacking = try files(of: segment, in: source, isLast: false).lacking
            if !lacking.isEmpty { segmentCount += 1 }
            for path in lacking { byteCount += try source.byteCount(of: path) }
        }
        return (segmentCount, byteCount)
    }

    /// Returns the files of a segment of the log in two lists. The first list contains the files whose content is not in the archive, and
    /// the second list contains the other files. Returns no files if the segment was already retired.
    ///
    /// The second list contains paths in the archive, because the archive may contain the same transactions in other segments.
    private func files(
        of segment: TransactionNumber, in source: any Volume, isLast: Bool
    ) throws -> (lacking: [String], present: [String]) {
        var records = try SegmentRecords(source, segment)
        if records.isRetired { return ([], []) }
        // `archived` becomes `nil` at a transaction that the archive lacks, or at which the archive is corrupt.
        var archived: ArchivedRecords? = ArchivedRecords(volume, try LogDirectory.segments(volume))
        var (lacking, present): ([String], [String]) = ([], [])
        var last = segment
        while let record = try records.next() {
            last = record.number
            archived = try next(archived, record, records)
            guard case .file(let file) = record.payload else { continue }
            if try has(file) {
                present.append(file.path)
            } else {
                try file.forEachPart { _ in }  // Throws if the ops are corrupt. Corrupt ops must not be retired.
                lacking.append(file.path)
            }
        }
        if let found = archived, try isDamaged({ try checkEnd(found, records, last, isLast: isLast) }) { archived = nil }
        if let archived { return (lacking, present + archived.segments.map { LogFileName.path($0, .segment) }) }
        try checkReplaceable(segment, upTo: last)
        return (lacking + [LogFileName.path(segment, .segment)], present)
    }

    /// Advances `archived` to the transaction of `record`. Returns `nil` if the archive lacks the transaction or is corrupt at that
    /// position.
    ///
    /// - Parameter records: the records of the log's segment.
    private func next(_ archived: ArchivedRecords?, _ record: LogRecord, _ records: SegmentRecords) throws -> ArchivedRecords? {
        guard var archived else { return nil }
        var other: LogRecord?
        var checksum: UInt32?
        if try isDamaged({
            other = try archived.record(record.number)
            checksum = try archived.endChecksum()
        }) {
            return nil
        }
        guard let other else { return nil }
        guard other.isSame(as: record) else { throw conflict(archived.segments.last ?? record.number, record.number) }
        // A segment of the archive may end inside a segment of the log, because the log may have merged segments after they were archived.
        if let checksum, let recorded = records.checksum(after: record.number), recorded != checksum {
            throw conflict(archived.segments.last ?? record.number, record.number)
        }
        return archived
    }

    /// Checks that the archive does not continue with transactions that differ from the transactions of the log; otherwise, throws
    /// `.conflict`.
    private func checkEnd(_ archived: ArchivedRecords, _ records: SegmentRecords, _ last: TransactionNumber, isLast: Bool) throws {
        // The archive must end with the last of the segments. A reader can use the archive only if a segment of the store begins directly
        // after the archive's last segment.
        if isLast, try archived.endChecksum() == nil { throw laterTransactions(archived.segments.last ?? last, after: last) }
        guard try archived.checksum() == records.lastChecksum else { throw conflict(archived.segments.last ?? last, last) }
    }

    /// Throws `.conflict` if the archive has a sealed file of `segment` that continues after `last`. Replacing this file would lose
    /// transactions.
    private func checkReplaceable(_ segment: TransactionNumber, upTo last: TransactionNumber) throws {
        var end: TransactionNumber?
        guard try volume.exists(LogFileName.path(segment, .segment)) else { return }
        if try isDamaged({ end = try SegmentRecords(volume, segment).sealedEnd }) { return }
        if let end, end > last { throw laterTransactions(segment, after: last) }
    }

    private func laterTransactions(_ segment: TransactionNumber, after last: TransactionNumber) -> CambiumError {
        CambiumError(
            .conflict,
            "The archive has transactions after transaction \(last), but this compaction covers only the transactions up to \(last). "
                + "Either a compaction to a later moment was interrupted, or the archive belongs to a copy of the store. "
                + "Compact to a later moment, or choose another place for the archive.",
            place: .init(file: "\(volume.name)/\(LogFileName.path(segment, .segment))"))
    }

    /// Calls `body`, and returns whether it throws `.corrupted`. Throws all other errors of `body`.
    private func isDamaged(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return false
        } catch let error as CambiumError where error.code == .corrupted {
            return true
        }
    }

    private func has(_ file: OpsFile) throws -> Bool {
        do {
            try OpsFile(volume: volume, store: store, transaction: file.transaction, reference: file.reference).forEachPart { _ in }
            return true
        } catch let error as CambiumError where error.code == .corrupted {
            return false
        }
    }

    private func conflict(_ segment: TransactionNumber, _ transaction: TransactionNumber) -> CambiumError {
        CambiumError(
            .conflict,
            "Transaction \(transaction) of the archive differs from transaction \(transaction) of the log. "
                + "The archive belongs to a copy of the store that has other transactions. Choose another place for the archive.",
            place: .init(file: "\(volume.name)/\(LogFileName.path(segment, .segment))"))
    }
}
