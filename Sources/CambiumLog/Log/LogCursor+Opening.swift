import CambiumBytes
internal import CambiumModel

extension LogCursor {
    /// Opens the next segment. Returns `false` if the next segment is the last segment and cannot be read. In that case, the creation of
    /// the segment is in progress or was interrupted, or a writer has removed the segment.
    mutating func openNext() throws -> Bool {
        unfinished = nil
        while true {
            do {
                return try open()
            } catch let error as CambiumError where mayBeWritten && (error.code == .notFound || error.code == .corrupted) {
                // A writer may have replaced, split or merged segments after the directory was listed.
                guard try relist() else { throw error }
            }
        }
    }

    /// Whether more than `limit` bytes of the log remain to be read. Zeros at the end of a segment count, too.
    mutating func hasMore(than limit: Int) throws -> Bool {
        guard try reader != nil || openNext(), let reader else { return false }
        var byteCount = reader.byteCount - reader.offset
        for segment in segments where byteCount <= limit && segment > reader.header.firstTransaction {
            do {
                byteCount += try volume.byteCount(of: LogFileName.path(segment, .segment))
            } catch {
                // A writer may have merged the segment with other segments after the directory was listed.
                guard error.code == .notFound else { throw error }
            }
        }
        return byteCount > limit
    }

    private mutating func open() throws -> Bool {
        guard let base else {
            guard let next = try openSegment(at: index) ?? precedingSegment() else { return false }
            if index == 0, segments[0].rawValue != 1 {
                throw damage(
                    next.path, 0, "The first log file begins with transaction \(segments[0]), and the earlier transactions are missing.")
            }
            try begin(next, from: nil)
            return true
        }
        let wanted = base.transaction.next
        try passOverCovered(before: wanted)
        if index < segments.count, segments[index] == wanted {
            if let next = try openSegment(at: index) {
                guard base.isChecksumLost || next.header.previousChecksum == base.position.checksum else { throw mismatch(next.path, base) }
                try begin(next, from: nil)
                return true
            }
            if lastRead != nil || base.position.jointOffset == 0 { return false }
            // The segment that begins after the position `base` is incomplete. The position lies at the end of the preceding segment, so
            // reading begins in the preceding segment. The cursor finds the incomplete segment again at the end of that segment.
            unfinished = nil
        }
        try begin(try segment(with: base), from: base)
        return true
    }

    /// Opens the segment before the current one, which is incomplete and thus has no transaction. Otherwise, the log would seem to end
    /// before its first transaction. The cursor finds the incomplete segment again at the end of the preceding one.
    private mutating func precedingSegment() throws -> SegmentReader? {
        guard index > 0 else { return nil }
        (index, unfinished) = (index - 1, nil)
        return try openSegment(at: index)
    }

    /// Opens a segment, and checks its name and its store. Returns `nil` for a last segment that no longer exists or is incomplete.
    private mutating func openSegment(at place: Int) throws -> SegmentReader? {
        let path = LogFileName.path(segments[place], .segment)
        guard let next = try segmentReader(path, at: place) else { return nil }
        guard next.header.store == settings.store else { throw damage(path, 0, "The log file belongs to another store.") }
        guard next.header.firstTransaction == segments[place] else {
            throw damage(path, 0, "The log file does not begin with the transaction that its file name states.")
        }
        return next
    }

    /// Opens the file of a segment. Sets `unfinished`, and returns `nil`, for a last segment that no longer exists or is incomplete.
    private mutating func segmentReader(_ path: String, at place: Int) throws(CambiumError) -> SegmentReader? {
        do {
            return try SegmentReader(volume, path: path, salvages: salvages)
        } catch {
            guard error.headerFailure != nil else {
                unfinished = (path, isGone: try isGone(path, at: place, error, byteCount: 0))
                return nil
            }
        }
        // A writer may have written the header since. The length is read before the header, because a header that is incomplete later was
        // incomplete at that time, too.
        let byteCount = try volume.byteCount(of: path)
        do {
            return try SegmentReader(volume, path: path, salvages: salvages)
        } catch {
            unfinished = (path, isGone: try isGone(path, at: place, error, byteCount: byteCount))
            return nil
        }
    }

    /// Skips segments that begin inside the last read segment. Such segments are in the list if another process split or merged
    /// the last read segment after it was read.
    private mutating func passOverCovered(before wanted: TransactionNumber) throws {
        guard let lastRead, index < segments.count, segments[index] < wanted else { return }
        guard mayBeWritten, try isSealedByNow(lastRead) else {
            let path = LogFileName.path(segments[index], .segment)
            throw damage(
                path, 0, "The log file begins with transaction \(segments[index]), which the previous log file also contains.")
        }
        segments.removeAll { $0 > lastRead && $0 < wanted }
    }

    /// Whether a segment that was open when the cursor read it is now sealed, or is now a part of another segment.
    private func isSealedByNow(_ segment: TransactionNumber) throws(CambiumError) -> Bool {
        do throws(CambiumError) {
            return try FrameReader(volume, path: LogFileName.path(segment, .segment)).header.kind.isSealed
        } catch {
            guard error.code == .notFound else { throw error }
            return true
        }
    }

    /// Returns the segment in which reading continues from a position in the log. The segment begins before the position.
    private mutating func segment(with base: LogPrefix) throws -> SegmentReader {
        // An interrupted merge may have left several segments that contain the position. The search goes from the last segment to the
        // first, so it finds the original segment before the merged one.
        for place in segments.indices.reversed() where segments[place] <= base.transaction {
            do {
                guard var next = try openSegment(at: place) else { break }
                guard try next.begin(after: base) else { continue }
                // The position is at the end of the last read segment or of an earlier segment, so the log continues in another segment.
                if lastRead != nil, (next.sealedEnd ?? .none) <= base.transaction { continue }
                index = place
                return next
            } catch let error as CambiumError where lastRead != nil && Self.mayBeElsewhere(error, mayBeWritten) {
                continue  // If no other segment has the position, the code after the loop throws.
            }
        }
        guard lastRead != nil, index < segments.count else {
            throw mismatch(LogFileName.path(segments.last { $0 <= base.transaction } ?? segments[0], .segment), base)
        }
        throw damage(
            LogFileName.path(segments[index], .segment), 0,
            "The log file begins with transaction \(segments[index]), and transaction \(base.transaction.next) is missing.")
    }

    /// Whether the search for a transaction continues after a segment could not be opened. A writer may have merged the segment into
    /// another segment, which then contains its transactions.
    private static func mayBeElsewhere(_ error: CambiumError, _ mayBeWritten: Bool) -> Bool {
        error.code == .corrupted || error.code == .notFound && mayBeWritten
    }

    private func mismatch(_ path: String, _ base: LogPrefix) -> CambiumError {
        let before = lastRead == nil ? "log that checkpoint \(base.transaction) was made from" : "previous log file"
        return damage(path, 0, "The log file does not continue the \(before).")
    }

    /// Moves the cursor to the first transaction to read in a segment.
    ///
    /// - Parameter base: the position in the segment at which reading begins; `nil` for the beginning of the segment.
    private mutating func begin(_ segment: SegmentReader, from base: LogPrefix?) throws {
        var next = segment
        begin = 0
        end.flaws += next.flaws.map(\.description)
        if base == nil {
            guard next.header.creationTime >= end.lastTime else {
                throw damage(next.path, 0, "The log file states an earlier time than the preceding log file.")
            }
            next.skip(to: first)
            if let place, next.resume(at: place, notAfter: first) {
                end.lastTime = next.codec.time
                begin = next.offset
            } else if !salvages {
                try skipToJoint(&next)
            }
        }
        end.lastTransaction = base?.transaction ?? TransactionNumber(rawValue: next.next.rawValue - 1)
        if let base {
            first = max(first, base.transaction.next)
            begin = next.offset
        }
        if let last = next.sealedEnd {
            // The following segments that begin at or before `last`, the end of this segment, are skipped. An interrupted merge or split
            // left them, and this segment contains their transactions.
            let covered = segments[(index + 1)...].prefix { $0 <= last }
            segments.removeSubrange(covered.indices)
        }
        reader = next
        isFresh = true
        left = nil
    }

    /// Moves the reader of an open segment to the last joint before the first transaction to read.
    private mutating func skipToJoint(_ segment: inout SegmentReader) throws(CambiumError) {
        guard !segment.isSealed, first > segment.next else { return }
        let checkpoint = try joints.unknownCheckpoint(before: first) { () throws(CambiumError) in try CheckpointRecord.list(volume) }
        if let checkpoint, let prefix = try PageFile.prefix(volume, store: settings.store, checkpoint), prefix.position.jointOffset > 0 {
            let place = KnownJoints.Place(transaction: checkpoint, offset: prefix.position.jointOffset)
            // A checkpoint of an earlier segment has an offset in that segment.
            if checkpoint >= segment.header.firstTransaction { joints.add([place], headerChecksum: segment.headerChecksum) }
        }
        let offset = segment.offset
        try segment.skip(toJointBefore: first, joints)
        if segment.offset > offset { (end.lastTime, begin) = (segment.codec.time, segment.offset) }
    }

    /// Lists the directory again. Returns `false` if the directory contains the same segments as last time, or no segments.
    private mutating func relist() throws(CambiumError) -> Bool {
        let found = try LogDirectory.segments(volume)
        guard found != listed, !found.isEmpty else { return false }
        (listed, segments) = (found, found)
        let wanted = base?.transaction.next ?? first
        index = lastRead.map(place) ?? segments.lastIndex { $0 <= wanted } ?? 0
        return true
    }

    /// Whether the last segment was removed after it was listed. Returns `false` if the segment exists, but only its beginning was written.
    /// Throws in all other cases.
    ///
    /// - Parameter byteCount: the length of the file when its header was read, or earlier.
    private func isGone(_ path: String, at place: Int, _ error: CambiumError, byteCount: Int) throws(CambiumError) -> Bool {
        let isLast = place == segments.count - 1
        if let failure = error.headerFailure {
            let isDurable = head.map { $0.segment == segments[place] } ?? false
            if isLast, place > 0, byteCount <= Format.Segment.headerByteCount, !isDurable { return false }
            throw damage(path, failure.offset, "The header of the file is corrupt (\(failure)).")
        }
        guard error.code == .notFound, mayBeWritten, isLast, lastRead != nil else { throw error }
        return true
    }
}
