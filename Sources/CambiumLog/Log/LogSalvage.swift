import CambiumBytes
package import CambiumModel

/// A reader of the parts of a log that pass verification, even if other parts are corrupt.
package struct LogSalvage {
    private let log: LogReader

    package init(_ log: LogReader) { self.log = log }

    /// The part of the log that could be read, and the corruption that was found.
    package struct Outcome {
        /// The corruption that was skipped. It did not cause the loss of a transaction.
        package var flaws: [String] = []
        /// The corruption at which reading ended; `nil` if the log was read to its end.
        package var corruption: CambiumError?
        /// The end of the log; `nil` if the log was not read to its end.
        package var end: LogReader.End?
    }

    /// Calls `body` with each transaction after `base`, or with every transaction if `base` is `nil`. Stops where the log is corrupt.
    ///
    /// Skips bytes after the frames of a segment if the next segment continues where the frames end. Another process may write at the same
    /// time. Throws `.ioFailure` if the log cannot be read. Also throws the errors of `body`. Complexity: O(bytes).
    package func read(after base: LogPrefix?, _ body: (LogRecord) throws -> Void) throws -> Outcome {
        var outcome = Outcome()
        let first = base?.transaction.next ?? TransactionNumber(rawValue: 1)
        var cursor: LogCursor
        do {
            cursor = try LogCursor(log, from: first, after: base, mayBeWritten: true, salvages: true)
        } catch {
            guard error.code == .corrupted else { throw error }
            outcome.corruption = error
            return outcome
        }
        do {
            try cursor.advance(body)
            outcome.end = try cursor.judge(body)
        } catch let error as CambiumError where Self.isCorruption(error) {
            outcome.corruption = error
        }
        outcome.flaws = cursor.end.flaws
        return outcome
    }

    /// Calls `body` with each transaction of `range` whose frame verifies. The log before the range need not verify.
    ///
    /// The transactions of one segment are passed in ascending order. An interrupted merge may have left a transaction in two segments. In
    /// that case `body` receives the transaction twice, and the second time may follow a later transaction.
    ///
    /// Throws `.ioFailure` if a segment cannot be read. Also throws the errors of `body`. Complexity: O(bytes of the segments of the
    /// range).
    package func readFrames(of range: ClosedRange<TransactionNumber>, _ body: (LogRecord) throws -> Void) throws {
        let segments = try log.segments()
        for (place, segment) in segments.enumerated() where segment <= range.upperBound {
            if place + 1 < segments.count, segments[place + 1] <= range.lowerBound, !covers(segment, range.lowerBound) { continue }
            do {
                try readFrames(ofSegment: segment, in: range, body)
            } catch let error as CambiumError where Self.isCorruption(error) {
                continue  // If the header is corrupt, no frame of the segment can be verified.
            }
        }
    }

    /// Whether a segment contains a transaction although a later segment begins at or before that transaction. An interrupted merge leaves
    /// such segments.
    private func covers(_ segment: TransactionNumber, _ transaction: TransactionNumber) -> Bool {
        // If the index cannot be read, the segment is searched.
        guard let reader = try? SegmentReader(log.volume, path: LogFileName.path(segment, .segment)) else { return true }
        return reader.sealedEnd.map { transaction <= $0 } ?? false
    }

    private static func isCorruption(_ error: CambiumError) -> Bool {
        error.code == .corrupted || error.code == .unsupportedFormat || error.code == .notFound
    }

    private func readFrames(
        ofSegment segment: TransactionNumber, in range: ClosedRange<TransactionNumber>, _ body: (LogRecord) throws -> Void
    ) throws {
        var reader = try SegmentReader(log.volume, path: LogFileName.path(segment, .segment), salvages: true)
        guard reader.header.store == log.settings.store, reader.header.firstTransaction == segment else { return }
        reader.skip(to: range.lowerBound)
        while reader.next <= range.upperBound {
            do {
                if let records = try reader.nextFrame() {
                    for record in records where range.contains(record.number) { try body(record) }
                    continue
                }
            } catch let error as CambiumError where Self.isCorruption(error) {
                // The frame is corrupt. `skipFrame` skips the frame if the segment has an index that leads to the next frame.
            }
            if !reader.skipFrame() { return }
        }
    }

    /// Returns the names and the lengths of the files of a log, its checkpoints, and its HEAD. If two fingerprints differ, a process has
    /// written to the store between the two calls.
    package func fingerprint() throws(CambiumError) -> [String] {
        var parts: [String] = []
        for name in try log.volume.list(LogDirectory.name) {
            do throws(CambiumError) {
                parts.append("\(name) \(try log.volume.byteCount(of: LogDirectory.name + "/" + name))")
            } catch {
                guard error.code == .notFound else { throw error }
                parts.append("\(name) is gone")
            }
        }
        parts += try CheckpointRecord.list(log.volume).map(\.description)
        let head = try Head.read(log.volume, store: log.settings.store).head
        return parts + ["\(head.map { "\($0.sequence) \($0.position) \($0.lastTransaction)" } ?? "no HEAD")"]
    }
}
