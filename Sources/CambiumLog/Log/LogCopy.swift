import CambiumBytes
package import CambiumModel

/// A copy of a store's files. Another process may write to the store while the copy is made.
package struct LogCopy {
    /// The last transaction in the copy.
    package private(set) var lastTransaction = TransactionNumber.none
    package internal(set) var byteCount = 0
    /// The number of checkpoints in the copy.
    package internal(set) var rootCount = 0

    /// The last segment that was copied, and whether it was sealed.
    private var last = (segment: TransactionNumber.none, isSealed: false)
    /// The segment with the end of the log, if it was copied with all of its bytes because another segment already followed it.
    private var ended: TransactionNumber?
    /// The segments that were copied, and the last transaction of the sealed ones. A segment that begins at or before that transaction is
    /// not copied, because the sealed segments already contain its transactions.
    private(set) var copied: (segments: [TransactionNumber], end: TransactionNumber) = ([], .none)
    /// The maximum number of attempts to copy the segments while a writer replaces some of them.
    private static let attemptCountMax = 10
    let source: LogReader
    let target: any Volume

    /// Copies the log up to its durable end, and the checkpoints that can be used.
    ///
    /// The caller holds the lock of the target, which contains nothing else. Throws `.corrupted` if the log is corrupt, and `.ioFailure` if
    /// a disk operation fails. The files that were copied before an error do not form a store, because the settings are copied last.
    /// Complexity: O(bytes).
    package init(_ source: LogReader, to target: any Volume) throws {
        self.source = source
        self.target = target
        var numbers: [TransactionNumber] = []
        let stored = try source.newestCheckpoint()
        let end = try source.scan(makesDurable: true) { if case .file = $0.payload { numbers.append($0.number) } }
        try end.requireTransaction(in: source.volume)
        // A copy omits the checkpoints after the end of its log. Without this check, nothing in the copy would show that durable
        // transactions are missing.
        try end.requireTransactions(of: stored, in: source.volume)
        guard let tail = end.tail else { throw LogReader.withoutSegment(source.volume) }
        lastTransaction = end.lastTransaction
        try target.createDirectory(LogDirectory.name)
        let roots = try copySegments(upTo: tail)
        try copyOps()
        for number in try numbers + laterNumbersWithFile() { try checkOps(of: number) }
        try target.syncDirectory(LogDirectory.name)
        try copyCheckpoints(roots)
        if try source.archive() != nil {
            try ArchiveNote.read(source.volume, store: source.settings.store)?.write(to: target, store: source.settings.store)
        }
        try target.create(StoreSettings.fileName, source.settings.encode())
        try target.syncDirectory("")
    }

    /// Returns the paths of the files that a copy of the store would contain at this moment.
    package static func names(in source: any Volume) throws(CambiumError) -> [String] {
        let log = try source.list(LogDirectory.name).filter { LogFileName.parse($0) != nil }.map { "\(LogDirectory.name)/\($0)" }
        let roots = try CheckpointRecord.list(source).map(CheckpointRecord.path)
        let files = try source.list("").filter { PageFile.isName($0) || $0 == ArchiveNote.fileName }
        return log + files + (roots + [ArchiveNote.fileName]).flatMap { [$0, $0 + LogFileName.replacementSuffix] }
    }

    /// Copies the segments up to the segment that contains the end of the log. If that segment was sealed while it was being copied, also
    /// copies the header of the next segment. Repeats the copy until all segments come from one state of the directory.
    ///
    /// Returns the checkpoints that existed after the log was copied.
    private mutating func copySegments(upTo tail: LogReader.SegmentTail) throws -> [TransactionNumber] {
        for _ in 0..<Self.attemptCountMax {
            let before = byteCount
            do {
                if let roots = try copySegmentsOnce(upTo: tail) { return roots }
            } catch let error as CambiumError where error.code == .notFound {}  // A writer has merged the segment into another one.
            // A writer has split or merged segments, so the copied segments may not fit together.
            for segment in copied.segments where try target.exists(LogFileName.path(segment, .segment)) {
                try target.remove(LogFileName.path(segment, .segment))
            }
            copied = ([], .none)
            byteCount = before
        }
        throw CambiumError(
            .ioFailure,
            "Compactions changed the log during each of \(Self.attemptCountMax) attempts to copy it. "
                + "Repeat the backup when no compaction is running.")
    }

    /// Copies the segments once. Returns `nil` if a writer has changed the list of segments in the meantime. Throws `.notFound` if a
    /// segment no longer exists.
    private mutating func copySegmentsOnce(upTo tail: LogReader.SegmentTail) throws -> [TransactionNumber]? {
        let all = try source.segments()
        let listed = all.filter { $0 <= tail.header.firstTransaction }
        let isEnded = try all.dropFirst(listed.count).first.map { try hasWholeHeader($0) } ?? false
        ended = isEnded ? tail.header.firstTransaction : nil
        for segment in listed where segment > copied.end {
            try copySegment(segment, byteCount: segment == tail.header.firstTransaction && !isEnded ? tail.position : nil)
        }
        if try source.segments().filter({ $0 <= tail.header.firstTransaction }) != listed { return nil }
        // The checkpoints are listed before the following segments are copied, because a checkpoint of the last transaction may need the
        // segment after that transaction.
        let roots = try CheckpointRecord.list(source.volume).filter { $0 <= lastTransaction }
        // If a segment was sealed while it was being copied, another segment must follow it. The copy needs only the header of that
        // segment.
        while let next = try source.segments().first(where: { $0 > max(last.segment, copied.end) }),
            last.isSealed || next == lastTransaction.next
        {
            // If a segment is missing between the copied segments and `next`, a writer has merged the missing segment into another one.
            if last.isSealed, next != copied.end.next { return nil }
            if try copyBeginning(of: next) { continue }
            // A writer ended the segment that was just copied up to `tail`. The copy may lack joints at the segment's end, and `next`
            // continues the last of them.
            if !last.isSealed, !isEnded { return nil }
            try copySegment(next, byteCount: Format.Segment.headerByteCount)
        }
        return roots
    }

    private func hasWholeHeader(_ segment: TransactionNumber) throws(CambiumError) -> Bool {
        let file = try source.volume.open(LogFileName.path(segment, .segment), .read)
        defer { file.close() }
        return try file.byteCount() >= Format.Segment.headerByteCount
    }

    /// Copies a segment whose header is incomplete: a writer is creating the segment, or ended before the header was complete. A store may
    /// end with such a segment. If the header is complete, returns `false` and copies nothing.
    private mutating func copyBeginning(of segment: TransactionNumber) throws(CambiumError) -> Bool {
        let path = LogFileName.path(segment, .segment)
        let file = try source.volume.open(path, .read)
        defer { file.close() }
        let count = try file.byteCount()
        guard count < Format.Segment.headerByteCount else { return false }
        copied.segments.append(segment)
        try copy(file, path, byteCount: count)
        last = (segment, false)
        return true
    }

    /// Copies a segment.
    ///
    /// - Parameter byteCount: the number of bytes of an open segment to copy; `nil` for all of its bytes. A segment that was sealed while
    ///   it was being copied is copied completely.
    private mutating func copySegment(_ segment: TransactionNumber, byteCount: Int?) throws {
        let path = LogFileName.path(segment, .segment)
        let file = try source.volume.open(path, .read)
        defer { file.close() }
        let (header, _) = try SegmentHeader.read(file, path: path)
        let end = try file.byteCount()
        let count = header.kind.isSealed ? end : min(byteCount ?? end, end)
        copied.segments.append(segment)
        try copy(file, path, byteCount: count)
        last = (segment, header.kind.isSealed)
        if last.isSealed { copied.end = try SegmentReader(target, path: path).sealedEnd ?? segment }
    }

    /// Copies the files of ops to which the segments refer. May also copy later files of ops, which are removed when the copy is first
    /// opened.
    private mutating func copyOps() throws(CambiumError) {
        for name in try source.volume.list(LogDirectory.name) where LogFileName.parse(name)?.suffix == .ops {
            let path = LogDirectory.name + "/" + name
            do throws(CambiumError) {
                let file = try source.volume.open(path, .read)
                defer { file.close() }
                try copy(file, path, byteCount: try file.byteCount())
            } catch {
                guard error.code == .notFound else { throw error }
                throw CambiumError(
                    .ioFailure, "A compaction removed files of the store while they were copied. Repeat the backup.", underlying: error)
            }
        }
    }

    /// Returns the transactions after `lastTransaction` whose ops are in a separate file. The copy has such transactions if a segment was
    /// sealed or ended after the end of the log was determined, because such a segment is copied completely.
    private func laterNumbersWithFile() throws(CambiumError) -> [TransactionNumber] {
        var numbers: [TransactionNumber] = []
        guard copied.end > lastTransaction || ended != nil else { return numbers }
        for segment in copied.segments where segment <= copied.end || segment == ended {
            var reader = try SegmentReader(target, path: LogFileName.path(segment, .segment))
            guard segment == ended || reader.sealedEnd.map({ $0 > lastTransaction }) == true else { continue }
            reader.skip(to: lastTransaction.next)
            while let records = try reader.nextFrame() {
                for record in records where record.number > lastTransaction {
                    if case .file = record.payload { numbers.append(record.number) }
                }
            }
        }
        return numbers
    }

    /// Checks that the copy has the file of ops of a transaction; otherwise, throws `.ioFailure`. A compaction may have retired the segment
    /// of the transaction and removed the file while the log was being copied.
    private func checkOps(of number: TransactionNumber) throws(CambiumError) {
        let path = LogFileName.path(number, .ops)
        if try target.exists(path) { return }
        guard let segment = try LogDirectory.segments(target, upTo: number).last else { return }
        var reader = try SegmentReader(target, path: LogFileName.path(segment, .segment))
        while let records = try reader.nextFrame() {
            guard let record = records.first(where: { $0.number == number }) else { continue }
            guard case .file = record.payload else { return }
            throw CambiumError(
                .ioFailure,
                "The file with the changes of transaction \(number) is missing. If the store was compacted while it was copied, repeat the "
                    + "backup. Otherwise, run 'cambium verify' on the store.",
                place: .init(file: path))
        }
    }

    private mutating func copy(_ file: any VolumeFile, _ path: String, byteCount: Int) throws(CambiumError) {
        try file.copy(byteCount, to: target, path)
        self.byteCount += byteCount
    }
}

extension VolumeFile {
    /// Creates a file in another volume with the first bytes of this file, and syncs it. The caller syncs the directory.
    func copy(_ byteCount: Int, to target: any Volume, _ path: String) throws(CambiumError) {
        let partByteCount = 1 << 20
        let copy = try target.open(path, .create)
        defer { copy.close() }
        var offset = 0
        while offset < byteCount {
            let bytes = try read(at: offset, count: min(partByteCount, byteCount - offset))
            guard !bytes.isEmpty else {
                throw CambiumError(.ioFailure, "'\(path)' became shorter while it was copied. Repeat the command.")
            }
            try copy.write(bytes, at: offset)
            offset += bytes.count
        }
        try copy.sync()
    }
}

/// Copies the checkpoints of a store after its log.
extension LogCopy {
    /// Copies checkpoints. Omits a checkpoint that cannot be opened, and a checkpoint whose position in the log is not in the copy.
    mutating func copyCheckpoints(_ roots: [TransactionNumber]) throws(CambiumError) {
        var copied = Set<String>()
        for number in roots {
            do throws(CambiumError) {
                let root = try PageFile.root(source.volume, store: source.settings.store, number)?.record
                guard let root else { continue }
                let pages = try PageFile(source.volume, store: source.settings.store, number, fanOutShift: Int(root.fanOutShift))
                // A writer may have replaced the record with one that names another position in the log.
                guard try has(pages.root) else { continue }
                try pages.checkAll()
                try copy(pages, &copied)
                rootCount += 1
            } catch { if error.code != .corrupted, error.code != .notFound { throw error } }
        }
    }

    /// Whether the log in the copy contains the position of a checkpoint. A writer marks the position with a joint (a frame without
    /// transactions). The copy lacks a joint that the writer appended after the end of the log was determined.
    private func has(_ root: CheckpointRecord) throws(CambiumError) -> Bool {
        let position = LogPrefix(root)
        if copied.segments.contains(position.transaction.next) {
            let path = LogFileName.path(position.transaction.next, .segment)
            do throws(CambiumError) {
                let header = try FrameReader(target, path: path).header
                return position.isChecksumLost || header.previousChecksum == position.position.checksum
            } catch {
                guard error.code == .corrupted else { throw error }  // Only the beginning of the segment was copied.
            }
        }
        guard let segment = copied.segments.last(where: { $0 <= position.transaction }) else { return false }
        var reader = try SegmentReader(target, path: LogFileName.path(segment, .segment))
        return try reader.begin(after: position)
    }

    /// Copies those chunks of a checkpoint that were not copied yet, and writes the checkpoint's record. The table of the checkpoint goes
    /// to the same chunks as in the source.
    private mutating func copy(_ pages: PageFile, _ copied: inout Set<String>) throws(CambiumError) {
        var writer = try PageFileWriter(target, pages.root.pageFile, isNamed: false)
        defer { writer.close() }
        let chunks = pages.root.chunks.indices.filter {
            pages.root.chunks[$0].hasPages && copied.insert("\(pages.root.pageFile) \($0)").inserted
        }
        let isPacked = { pages.root.chunks[$0].packedByteCount > 0 }
        _ = try writer.write(chunks.filter { !isPacked($0) }) { chunk, body in
            body(UnsafeRawBufferPointer(start: pages.chunk(chunk), count: PageFile.chunkByteCount))
        }
        for chunk in chunks where isPacked(chunk) { try writer.write(try pages.packed(chunk), as: chunk) }
        _ = try writer.finish(pages.root)
        byteCount += writer.byteCount
    }
}
