import CambiumBytes
internal import CambiumModel

/// A reader that returns the transactions of one segment (a log file), one at a time. Its errors contain the name of the volume, because a
/// store and its archive may contain files with the same name.
struct SegmentRecords {
    private let volume: any Volume
    private var reader: SegmentReader
    /// The transactions of the last frame that have not been returned, in reverse order.
    private var rest: [LogRecord] = []
    private let begin: TransactionNumber

    /// Opens a segment. Throws `.corrupted` if its header or its index fails verification, and `.notFound` if there is no such file.
    ///
    /// - Parameter begin: the first transaction that is returned; `nil` for the first transaction of the segment.
    init(_ volume: any Volume, _ segment: TransactionNumber, from begin: TransactionNumber? = nil) throws(CambiumError) {
        self.volume = volume
        self.begin = begin ?? segment
        let path = LogFileName.path(segment, .segment)
        do {
            reader = try SegmentReader(volume, path: path)
        } catch {
            throw Self.named(error, volume, path)
        }
        reader.skip(to: self.begin)
    }

    var isRetired: Bool { reader.header.kind == .retired }

    var first: TransactionNumber { reader.header.firstTransaction }

    /// The last transaction of a sealed segment, which is known before the segment is read; `nil` for an open segment.
    var sealedEnd: TransactionNumber? { reader.sealedEnd }

    /// The checksum that the next segment must state. It is known after all transactions have been read.
    var lastChecksum: UInt32 { reader.lastChecksum }

    /// Whether the last frame contains transactions that have not been returned.
    var hasRest: Bool { !rest.isEmpty }

    /// Returns the checksum of the log after a transaction of a sealed segment, or `nil` if the index does not contain this checksum.
    func checksum(after transaction: TransactionNumber) -> UInt32? {
        guard transaction >= first else { return nil }
        return reader.index?.checksum(after: transaction.rawValue - first.rawValue + 1)
    }

    /// Returns the checksum of the joint after the last transaction in an open segment, or `nil` if no joint follows. A joint is a frame
    /// without transactions that marks a position in the log.
    func jointChecksum() throws(CambiumError) -> UInt32? {
        guard rest.isEmpty, !reader.isSealed else { return nil }
        var following = reader
        guard try following.nextFrame() != nil, following.jointOffset != nil else { return nil }
        return following.lastChecksum
    }

    /// Returns the next transaction, or `nil` at the end. Throws `.corrupted` if a frame fails verification, or if bytes follow the last
    /// frame.
    mutating func next() throws(CambiumError) -> LogRecord? {
        do {
            // A joint has no transactions, so the loop continues with the next frame.
            while rest.isEmpty, let records = try reader.nextFrame() { rest = records.filter { $0.number >= begin }.reversed() }
        } catch {
            throw Self.named(error, volume, reader.path)
        }
        if rest.isEmpty, !reader.isAtEnd {
            throw damage(
                "The log file is corrupt at this offset. Restore the file from a backup, or save all intact data with 'cambium repair'.")
        }
        return rest.popLast()
    }

    func damage(_ message: String) -> CambiumError {
        CambiumError(.corrupted, message, place: .init(file: "\(volume.name)/\(reader.path) offset \(reader.offset)"))
    }

    private static func named(_ error: CambiumError, _ volume: any Volume, _ path: String) -> CambiumError {
        guard error.code == .corrupted else { return error }
        return CambiumError(
            .corrupted, error.message, place: .init(file: "\(volume.name)/\(error.place?.file ?? path)"), underlying: error)
    }
}
