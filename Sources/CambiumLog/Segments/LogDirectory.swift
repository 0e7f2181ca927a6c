import CambiumBytes
package import CambiumModel

/// The directory of a store's log, with its segments and other files.
package enum LogDirectory {
    package static let name = LogFileName.directory

    /// Returns the number of the first transaction of each segment, in ascending order.
    package static func segments(_ volume: any Volume) throws(CambiumError) -> [TransactionNumber] {
        try volume.list(name).compactMap { name in
            LogFileName.parse(name).flatMap { $0.suffix == .segment ? $0.number : nil }
        }
    }

    /// Whether compaction removed the ops of a transaction. Complexity: O(files).
    static func hasRetired(_ transaction: TransactionNumber, _ volume: any Volume) throws(CambiumError) -> Bool {
        try whileSegmentsStay { () throws(CambiumError) -> Bool in
            guard let segment = try segments(volume).last(where: { $0 <= transaction }) else { return false }
            return try isRetired(segment: segment, volume)
        }
    }

    /// Whether compaction has removed the ops of a segment's transactions. Returns `false` if the header of the segment cannot be verified.
    private static func isRetired(segment: TransactionNumber, _ volume: any Volume) throws(CambiumError) -> Bool {
        do {
            return try FrameReader(volume, path: LogFileName.path(segment, .segment)).header.kind == .retired
        } catch {
            guard error.headerFailure != nil else { throw error }
            return false
        }
    }

    /// Whether the segment with a transaction is sealed. Returns `false` if this cannot be determined.
    static func isSealed(_ transaction: TransactionNumber, _ volume: any Volume) throws(CambiumError) -> Bool {
        guard let segment = try segments(volume).last(where: { $0 <= transaction }) else { return false }
        // A reader that expects an open segment can also read a sealed one.
        return (try? FrameReader(volume, path: LogFileName.path(segment, .segment)).header.kind.isSealed) ?? false
    }

    /// Returns the segments that begin at or before `last`.
    package static func segments(_ volume: any Volume, upTo last: TransactionNumber) throws(CambiumError) -> [TransactionNumber] {
        try segments(volume).filter { $0 <= last }
    }

    /// Returns the length of a segment in bytes, without its files of ops.
    package static func byteCount(_ volume: any Volume, _ segment: TransactionNumber) throws(CambiumError) -> Int {
        try volume.byteCount(of: LogFileName.path(segment, .segment))
    }

    /// Returns the total length, in bytes, of the files with the ops of the transactions after `first`, up to `last`. Complexity: O(files).
    package static func opsByteCount(
        _ volume: any Volume, after first: TransactionNumber, upTo last: TransactionNumber
    ) throws(CambiumError) -> Int {
        var byteCount = 0
        for name in try volume.list(name) {
            guard let file = LogFileName.parse(name), file.suffix == .ops, file.number > first, file.number <= last else { continue }
            byteCount += try listedByteCount(volume, name)
        }
        return byteCount
    }

    /// Returns the length of a file that was listed; 0 if a writer has removed the file in the meantime.
    private static func listedByteCount(_ volume: any Volume, _ file: String) throws(CambiumError) -> Int {
        do {
            return try volume.byteCount(of: name + "/" + file)
        } catch {
            guard error.code == .notFound else { throw error }
            return 0
        }
    }

    /// Returns the number of a log's segments, and the total length of its files in bytes. Complexity: O(files).
    package static func files(_ volume: any Volume) throws(CambiumError) -> (segmentCount: Int, byteCount: Int) {
        var (segmentCount, byteCount) = (0, 0)
        for name in try volume.list(name) {
            guard let file = LogFileName.parse(name), file.suffix != .pending else { continue }
            if file.suffix == .segment { segmentCount += 1 }
            byteCount += try listedByteCount(volume, name)
        }
        return (segmentCount, byteCount)
    }

    /// Returns, for each checkpoint, the length of the log up to the checkpoint, in bytes, including files of ops.
    ///
    /// - Parameter ends: the positions of the checkpoints, in ascending order.
    ///
    /// Complexity: O(files). For each checkpoint inside a sealed segment, the index of that segment is also read.
    package static func byteCounts(_ volume: any Volume, upTo ends: [LogPrefix]) throws(CambiumError) -> [Int] {
        let files = try volume.list(name).compactMap { name in LogFileName.parse(name).map { (name: name, file: $0) } }
        let segments = files.filter { $0.file.suffix == .segment }.map(\.file.number)
        var counts: [Int] = []
        var total = 0
        for (name, file) in files where file.suffix != .pending {
            while counts.count < ends.count, ends[counts.count].transaction < file.number {
                counts.append(total - (try byteCount(volume, segments, after: ends[counts.count])))
            }
            total += try listedByteCount(volume, name)
        }
        while counts.count < ends.count { counts.append(total - (try byteCount(volume, segments, after: ends[counts.count]))) }
        return counts
    }

    /// Returns the number of bytes of a segment up to a position, or of the whole segment if the position is not inside the segment.
    package static func byteCount(_ volume: any Volume, _ segment: TransactionNumber, upTo end: LogPrefix) throws(CambiumError) -> Int {
        var reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
        return try reader.begin(after: end) ? reader.offset : reader.byteCount
    }

    /// Returns the number of bytes that follow a position in its segment. Returns 0 if the position is at the end, or if the segment cannot
    /// be read.
    private static func byteCount(
        _ volume: any Volume, _ segments: [TransactionNumber], after end: LogPrefix
    ) throws(CambiumError) -> Int {
        guard let segment = segments.last(where: { $0 <= end.transaction }), !segments.contains(end.transaction.next) else { return 0 }
        do throws(CambiumError) {
            var reader = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
            return try reader.begin(after: end) ? reader.byteCount - reader.offset : 0
        } catch {
            guard error.code == .notFound || error.code == .corrupted else { throw error }
            return 0
        }
    }

    /// Returns the last transaction whose ops compaction removed; `.none` if there is no such transaction. Complexity: opens O(log n)
    /// files, where n is the number of segments.
    static func retiredEnd(_ volume: any Volume) throws(CambiumError) -> TransactionNumber {
        try whileSegmentsStay { () throws(CambiumError) -> TransactionNumber in
            // Segments are retired in ascending order, beginning with the first segment.
            let segments = try segments(volume)
            let count = try segments.indices.prefixEnd { place throws(CambiumError) in
                try isRetired(segment: segments[place], volume)
            }
            guard count > 0, count < segments.count else { return .none }
            return TransactionNumber(rawValue: segments[count].rawValue - 1)
        }
    }

    /// The maximum number of attempts to list segments while a writer merges them.
    private static let listingCountMax = 100

    /// Calls `body`, and repeats the call if a listed segment no longer exists, because a writer has merged it.
    private static func whileSegmentsStay<Result>(_ body: () throws(CambiumError) -> Result) throws(CambiumError) -> Result {
        for _ in 1..<listingCountMax {
            do throws(CambiumError) {
                return try body()
            } catch {
                guard error.code == .notFound else { throw error }
            }
        }
        return try body()
    }
}
