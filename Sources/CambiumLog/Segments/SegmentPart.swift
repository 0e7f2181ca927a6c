import CambiumBytes
internal import CambiumModel

/// A reader of the transactions that become one sealed segment: all or some transactions of a segment, or all transactions of several
/// neighboring segments.
struct SegmentPart {
    private let volume: any Volume
    /// The segments that have not been opened, in reverse order.
    private var following: [TransactionNumber]
    private let range: ClosedRange<TransactionNumber>
    private var reader: SegmentReader?
    /// The time of the last transaction that was read, and the store of its segment.
    private var before: (time: Int64, store: [UInt8])?
    /// The transactions of the last frame that have not been returned, in reverse order.
    private var rest: [LogRecord] = []
    /// The ends of the segments, and the joints (frames without transactions that mark positions in the log). Each entry consists of the
    /// last transaction before the position, and the checksum of the log there.
    private(set) var joints: [(transaction: TransactionNumber, checksum: UInt32)] = []
    /// The total size of the segments that were opened so far, in bytes.
    private(set) var byteCount = 0

    /// - Parameters:
    ///   - segments: neighboring segments, in ascending order.
    ///   - range: the transactions that are returned.
    init(_ volume: any Volume, _ segments: [TransactionNumber], _ range: ClosedRange<TransactionNumber>) {
        self.volume = volume
        self.range = range
        following = segments.reversed()
    }

    /// Returns the next transaction, or `nil` after the last transaction. Throws `.corrupted` if a segment cannot be verified to its end,
    /// or does not continue the preceding segment.
    mutating func next() throws(CambiumError) -> LogRecord? {
        while rest.isEmpty {
            guard reader != nil || !following.isEmpty else { return nil }
            if reader == nil { try openNext() }
            guard let records = try reader?.nextFrame() else {
                try leave()
                continue
            }
            if let reader, reader.jointOffset != nil { track(reader.last, reader.lastChecksum) }
            if let reader, let last = records.last { before = (last.metadata.time.microsecondsSince1970, reader.header.store) }
            rest = records.filter { range.contains($0.number) }.reversed()
        }
        return rest.popLast()
    }

    private mutating func openNext() throws(CambiumError) {
        guard let segment = following.popLast() else { return }
        var next = try SegmentReader(volume, path: LogFileName.path(segment, .segment))
        if let joint = joints.last, let before {
            let header = next.header
            guard joint.transaction.next == segment, joint.checksum == header.previousChecksum, header.firstTransaction == segment,
                header.store == before.store, header.creationTime >= before.time
            else {
                throw CambiumError(
                    .corrupted,
                    "The log file does not continue the previous log file. "
                        + "Restore the store from a backup, or save all intact data with 'cambium repair'.",
                    place: .init(file: next.path))
            }
        }
        byteCount += next.byteCount
        for joint in next.index?.joints ?? [] {
            track(TransactionNumber(rawValue: segment.rawValue + joint.transactionCount - 1), joint.checksum)
        }
        next.skip(to: range.lowerBound)
        reader = next
    }

    private mutating func leave() throws(CambiumError) {
        guard let last = reader else { return }
        guard last.isAtEnd else {
            throw CambiumError(
                .corrupted,
                "The log file is corrupt, so it stays unchanged. "
                    + "Restore the store from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: last.path))
        }
        track(last.last, last.lastChecksum)
        reader = nil
    }

    private mutating func track(_ transaction: TransactionNumber, _ checksum: UInt32) {
        if joints.last?.transaction != transaction { joints.append((transaction, checksum)) }
    }

    /// Returns the joints for the index of the new segment, and the checksum at the end of the segment. The caller must first read all
    /// transactions.
    ///
    /// Throws `.corrupted` if the log has no joint at the end of the range. The log can be split only at a joint.
    func index() throws(CambiumError) -> (joints: [SegmentIndex.Joint], end: UInt32) {
        guard let end = joints.first(where: { $0.transaction == range.upperBound }) else {
            throw CambiumError(
                .corrupted,
                "The log cannot be split after transaction \(range.upperBound), because it has no joint (a marked position) there. "
                    + "Run 'cambium verify' to find the cause.")
        }
        let within = joints.filter { $0.transaction >= range.lowerBound && $0.transaction < range.upperBound }
        return (
            within.map {
                SegmentIndex.Joint(transactionCount: $0.transaction.rawValue - range.lowerBound.rawValue + 1, checksum: $0.checksum)
            }, end.checksum
        )
    }
}
