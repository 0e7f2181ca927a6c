import CambiumBytes
package import CambiumModel

/// A sealer: it rewrites segments (log files) that get no more frames. The new segment has larger frames and an index, and may replace
/// several old segments. FORMAT.md 2, "Segments".
///
/// The sealer needs only the lock of the store. No writer waits for the sealer, because the transactions stay the same.
package struct SegmentSealer: Sendable {
    let volume: any Volume
    let store: [UInt8]
    private let lock: (any VolumeLock)?
    private let frameByteCount: Int
    let mergedByteCountMax: Int

    package init(_ writer: LogWriter) {
        volume = writer.volume
        store = writer.settings.store
        lock = writer.lock
        frameByteCount = writer.tuning.sealedFrameByteCount
        mergedByteCountMax = writer.tuning.mergedByteCountMax
    }

    /// Replaces a segment with a sealed segment with the same transactions.
    ///
    /// Throws `.corrupted` if the segment cannot be verified to its end, or if no segment follows it. Throws `.ioFailure` if a disk
    /// operation fails. After an error, the segment is as it was. Complexity: O(bytes), with memory for one frame.
    ///
    /// - Parameter segment: the first transaction of the segment. Another segment must follow it.
    /// - Returns: the numbers of bytes before and after; `nil` if the segment was already sealed or retired.
    @discardableResult
    package func seal(_ segment: TransactionNumber) throws -> (before: Int, after: Int)? {
        try replace(segment, by: .sealed)
    }

    /// Replaces a segment with a retired segment, and then removes the files with the ops of its transactions. The retired segment contains
    /// only the envelope of each transaction (number, time, actor, message and request id) and the hash of its payload. So a proof that a
    /// transaction is in the Merkle tree over the log is still possible.
    ///
    /// There must be a checkpoint that contains the transactions, and another segment must follow. Throws as `seal` does.
    ///
    /// - Parameter opsFiles: the result of `opsFiles()`. The method removes the transactions of the segment, and all earlier ones, from
    ///   this list.
    /// - Returns: the numbers of bytes before and after, including files of ops; `nil` if the segment was already retired and there were no
    ///   files to remove.
    @discardableResult
    package func retire(
        _ segment: TransactionNumber, removing opsFiles: inout ArraySlice<TransactionNumber>
    ) throws -> (before: Int, after: Int)? {
        let replaced = try replace(segment, by: .retired)
        let opsByteCount = try removeOpsFiles(of: segment, &opsFiles)
        if replaced == nil, opsByteCount == 0 { return nil }
        return ((replaced?.before ?? 0) + opsByteCount, replaced?.after ?? 0)
    }

    /// Returns the transactions whose ops are in a separate file, in ascending order. Complexity: O(files).
    package func opsFiles() throws(CambiumError) -> ArraySlice<TransactionNumber> {
        let files = try volume.list(LogDirectory.name).compactMap { LogFileName.parse($0) }
        return files.filter { $0.suffix == .ops }.map(\.number)[...]
    }

    /// Removes the files of ops of a retired segment, because its transactions no longer refer to these files. Returns the number of bytes
    /// of these files.
    private func removeOpsFiles(of segment: TransactionNumber, _ opsFiles: inout ArraySlice<TransactionNumber>) throws -> Int {
        let range = try range(of: reader(of: segment))
        opsFiles = opsFiles.drop { $0 < range.lowerBound }
        let files = opsFiles.prefix { range.contains($0) }
        opsFiles = opsFiles.dropFirst(files.count)
        // The process that retired the segment may have ended before the name of the retired segment was durable.
        if !files.isEmpty {
            try checkPlace()
            try volume.syncDirectory(LogDirectory.name)
        }
        var byteCount = 0
        for path in files.map({ LogFileName.path($0, .ops) }) {
            byteCount += try volume.byteCount(of: path)
            try volume.remove(path)
        }
        return byteCount
    }

    private func replace(_ segment: TransactionNumber, by kind: Format.FileKind) throws -> (before: Int, after: Int)? {
        let reader = try reader(of: segment)
        if reader.header.kind == kind || reader.header.kind == .retired { return nil }
        let after = try write([segment], try range(of: reader), reader.header, kind)
        return (reader.byteCount, after)
    }

    // MARK: Reading

    /// Opens a segment by its name. Throws `.corrupted` if the file belongs to another store, or contains another segment.
    func reader(of segment: TransactionNumber) throws(CambiumError) -> SegmentReader {
        let reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
        try check(reader, is: segment)
        return reader
    }

    /// Checks that a file contains the segment that its name states; otherwise, throws `.corrupted`.
    func check(_ reader: SegmentReader, is segment: TransactionNumber) throws(CambiumError) {
        guard reader.header.firstTransaction == segment, reader.header.store == store else {
            throw CambiumError(
                .corrupted,
                "The log file does not match its file name, or it belongs to another store. "
                    + "Restore the store from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: reader.path))
        }
    }

    /// Returns the transactions of a segment. Complexity: O(1) for a sealed segment, otherwise O(bytes).
    func range(of segment: SegmentReader) throws(CambiumError) -> ClosedRange<TransactionNumber> {
        var reader = segment
        if !reader.isSealed { while try reader.nextFrame() != nil {} }
        let (first, last) = (reader.header.firstTransaction, reader.sealedEnd ?? reader.last)
        guard first <= last else {
            throw CambiumError(
                .corrupted,
                "The log file contains no transactions. Restore the store from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: reader.path))
        }
        return first...last
    }

    /// Throws `.corrupted` unless a segment follows the transaction `last` and states `checksum` as the checksum of the preceding log.
    private func checkFollowed(_ last: TransactionNumber, _ checksum: UInt32) throws {
        let path = LogFileName.path(last.next, .segment)
        guard try volume.exists(path), try FrameReader(volume, path: path).header.previousChecksum == checksum else {
            throw CambiumError(
                .corrupted,
                "The log file after transaction \(last) is missing, or does not continue the log. The earlier log files stay unchanged. "
                    + "Run 'cambium verify' to find the cause.",
                place: .init(file: path))
        }
    }

    /// Throws `.ioFailure` if the lock file or the directory of the store was removed or replaced. The files at the paths of the segments
    /// may then belong to another writer or to another store.
    func checkPlace() throws(CambiumError) {
        if lock?.isInPlace ?? true { return }
        throw CambiumError(
            .ioFailure,
            "The lock file or the directory of the store '\(volume.name)' was removed or replaced while the store was open, so its log "
                + "files stay unchanged. Close the store and open it again.",
            place: .init(file: LogWriter.lockFileName))
    }

    // MARK: Writing

    /// Writes a segment that contains the transactions of neighboring segments. The new file gets its final name after it is durable and
    /// has been compared with these segments.
    ///
    /// - Parameter header: the header of the new segment. Its kind is ignored.
    /// - Returns: the number of bytes of the file.
    func write(
        _ segments: [TransactionNumber], _ range: ClosedRange<TransactionNumber>, _ header: SegmentHeader, _ kind: Format.FileKind
    ) throws -> Int {
        var header = header
        header.kind = kind
        let path = LogFileName.path(range.lowerBound, .segment)
        let newPath = path + LogFileName.replacementSuffix
        try checkPlace()
        if try volume.exists(newPath) { try volume.remove(newPath) }
        do {
            let byteCount = try write(segments, range, header, to: try volume.open(newPath, .create))
            let checksum = try compare(newPath, with: segments, range, kind)
            try checkFollowed(range.upperBound, checksum)
            try checkPlace()
            try volume.rename(newPath, to: path)
            try volume.syncDirectory(LogDirectory.name)
            return byteCount
        } catch {
            // If the file stays, the next opening removes it. If the place was lost, the file may belong to another writer.
            if lock?.isInPlace ?? true, (try? volume.exists(newPath)) == true { try? volume.remove(newPath) }
            throw error
        }
    }

    private func write(
        _ segments: [TransactionNumber], _ range: ClosedRange<TransactionNumber>, _ header: SegmentHeader, to file: any VolumeFile
    ) throws -> Int {
        defer { file.close() }
        var writer = try SealedSegmentWriter(file, header: header, frameByteCount: frameByteCount)
        var part = SegmentPart(volume, segments, range)
        while let record = try part.next() { try writer.append(header.kind == .retired ? try record.retired() : record) }
        let (joints, checksum) = try part.index()
        return try writer.finish(joints: joints, checksum: checksum)
    }

    /// Compares the new file with the segments that it will replace. Throws if they differ. Returns the checksum at the end of the file.
    private func compare(
        _ newPath: String, with segments: [TransactionNumber], _ range: ClosedRange<TransactionNumber>, _ kind: Format.FileKind
    ) throws -> UInt32 {
        var (part, new) = (SegmentPart(volume, segments, range), try SegmentReader(volume, path: newPath))
        var rest: [LogRecord] = []
        func differs() -> CambiumError {
            CambiumError(
                .ioFailure,
                "The new log file differs from the log files that it replaces, so they stay unchanged. "
                    + "Check the disk for errors, then open the store again or compact it again.",
                place: .init(file: newPath))
        }
        while let record = try part.next() {
            if rest.isEmpty { rest = try new.nextFrame().map { $0.reversed() } ?? [] }
            let wanted = kind == .retired ? try record.retired() : record
            guard let other = rest.popLast(), other.isSame(as: wanted) else { throw differs() }
        }
        let (joints, checksum) = try part.index()
        guard rest.isEmpty, new.isAtEnd, try new.nextFrame() == nil, new.lastChecksum == checksum, new.index?.joints == joints else {
            throw differs()
        }
        return checksum
    }
}

extension LogRecord {
    /// Returns this record with a commitment (a salted hash) in place of its ops.
    func retired() throws -> LogRecord {
        if case .redacted = payload { return self }
        var record = self
        record.payload = .redacted(commitment: try commitment())
        return record
    }

    /// Returns whether this record and another record describe the same transaction, regardless of the files that contain them.
    func isSame(as other: LogRecord) -> Bool {
        let texts = [metadata.actor, metadata.message, metadata.requestID]
        let others = [other.metadata.actor, other.metadata.message, other.metadata.requestID]
        return number == other.number && metadata == other.metadata && payload == other.payload && salt == other.salt
            && texts.map { $0.map { Array($0.utf8) } } == others.map { $0.map { Array($0.utf8) } }
    }
}

/// Neighboring segments that get no more frames, and that the sealer merges into one segment.
package struct SegmentRun: Sendable, Equatable {
    /// The number of the first transaction of each segment, in ascending order.
    package private(set) var segments: [TransactionNumber]
    package private(set) var byteCount: Int
    /// Whether the segments are retired: compaction has removed the ops of their transactions.
    package let isRetired: Bool

    init(_ segment: TransactionNumber, byteCount: Int, isRetired: Bool) {
        (segments, self.byteCount, self.isRetired) = ([segment], byteCount, isRetired)
    }

    /// Adds the segment that precedes the first segment, if that segment fits. Returns whether it was added. A segment fits if it has the
    /// same `isRetired` as the run, and at most twice as many bytes as the run. The extended run must have at most `byteCountMax` bytes.
    mutating func add(_ segment: TransactionNumber, byteCount: Int, isRetired: Bool, byteCountMax: Int) -> Bool {
        guard isRetired == self.isRetired, byteCount <= 2 * self.byteCount, byteCount + self.byteCount <= byteCountMax else { return false }
        segments.insert(segment, at: 0)
        self.byteCount += byteCount
        return true
    }
}

/// A segment that gets no more frames.
package struct ClosedSegment: Sendable {
    /// The number of the first transaction.
    package let first: TransactionNumber
    package let byteCount: Int
    let kind: Format.FileKind

    /// Whether the segment is not sealed yet.
    package var isOpen: Bool { kind == .open }
}

extension SegmentSealer {
    /// Returns the segments before `end`, in ascending order. Complexity: opens O(segments) files.
    package func closedSegments(before end: TransactionNumber) throws(CambiumError) -> [ClosedSegment] {
        var found: [ClosedSegment] = []
        for segment in try LogDirectory.segments(volume) where segment < end {
            let reader = try FrameReader(volume, path: LogFileName.path(segment, .segment))
            found.append(ClosedSegment(first: segment, byteCount: reader.byteCount, kind: reader.header.kind))
        }
        return found
    }

    /// Returns the runs of segments to merge, the newest run first. A segment that could not be sealed is not in any run.
    ///
    /// A run grows from its newest segment. Each older segment joins the run if it is at most twice as large as the run so far. So each
    /// byte is rewritten O(log n) times, and n small segments become O(log n) segments.
    ///
    /// - Parameter closed: the result of `closedSegments(before:)`.
    package func mergeableRuns(in closed: [ClosedSegment]) -> [SegmentRun] {
        if mergedByteCountMax <= 0 { return [] }
        var runs: [SegmentRun] = []
        var run: SegmentRun?
        for segment in closed.reversed() {
            let (first, byteCount, isRetired) = (segment.first, segment.byteCount, segment.kind == .retired)
            if segment.kind.isSealed,
                run?.add(first, byteCount: byteCount, isRetired: isRetired, byteCountMax: mergedByteCountMax) == true
            {
                continue
            }
            if let run { runs.append(run) }
            run = segment.kind.isSealed ? SegmentRun(first, byteCount: byteCount, isRetired: isRetired) : nil
        }
        if let run { runs.append(run) }
        return runs.filter { $0.segments.count > 1 }
    }

    /// Merges segments into one segment, which has the name of the first segment.
    ///
    /// The index lists the checksum of each joint (a frame without transactions that marks a position in the log) and of the end of each
    /// segment. So the positions of checkpoints stay valid. Throws as `seal` does. A crash leaves the segments as they were, or the merged
    /// segment and some of the old segments. Complexity: O(bytes), with memory for one frame.
    ///
    /// - Returns: the number of bytes by which the merged segment is smaller than the old segments together.
    @discardableResult
    package func merge(_ run: SegmentRun) throws -> Int {
        guard let first = run.segments.first, let last = run.segments.last, first < last else { return 0 }
        let header = try reader(of: first).header
        let range = first...(try range(of: reader(of: last)).upperBound)
        let byteCount = try write(run.segments, range, header, run.isRetired ? .retired : .sealed)
        try removeNow(Array(run.segments.dropFirst()))
        return run.byteCount - byteCount
    }
}
