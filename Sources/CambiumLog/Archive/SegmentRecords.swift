import CambiumBytes
import CambiumModel

/// The transactions of one segment, one at a time. Errors name the volume, because two of them have a file of this name.
struct SegmentRecords {
    private let volume: any Volume
    private var reader: SegmentReader
    /// What is left of the frame that was read last, backwards.
    private var rest: [LogRecord] = []
    private let begin: TransactionNumber

    /// Throws `.damaged` where the file's header or index does not verify, `.notFound` where there is no such file.
    ///
    /// - Parameter begin: the first transaction that is returned; `nil` for the first one of the segment.
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

    /// The last transaction of a sealed segment, which is known before it is read; `nil` for an open one.
    var sealedEnd: TransactionNumber? { reader.sealedEnd }

    /// What the next segment has to name; known when all was read.
    var lastChecksum: UInt32 { reader.lastChecksum }

    /// Whether the last frame that was read has transactions that are still to be returned.
    var hasRest: Bool { !rest.isEmpty }

    /// The checksum of the log after a transaction of a sealed segment, as far as the index has it.
    func checksum(after transaction: TransactionNumber) -> UInt32? {
        guard transaction >= first else { return nil }
        return reader.index?.checksum(after: transaction.rawValue - first.rawValue + 1)
    }

    /// The checksum of the joint that follows the last transaction in an open segment; `nil` if none does.
    func jointChecksum() throws(CambiumError) -> UInt32? {
        guard rest.isEmpty, !reader.isSealed else { return nil }
        var following = reader
        guard try following.nextFrame() != nil, following.jointOffset != nil else { return nil }
        return following.lastChecksum
    }

    /// Nil at the end. Throws `.damaged` where a frame does not verify or something is behind the last one.
    mutating func next() throws(CambiumError) -> LogRecord? {
        do {
            // A joint has no transactions.
            while rest.isEmpty, let records = try reader.nextFrame() { rest = records.filter { $0.number >= begin }.reversed() }
        } catch {
            throw Self.named(error, volume, reader.path)
        }
        if rest.isEmpty, !reader.isAtEnd { throw damage("A frame does not verify.") }
        return rest.popLast()
    }

    func damage(_ message: String) -> CambiumError {
        CambiumError(.damaged, message, place: .init(file: "\(volume.name)/\(reader.path) offset \(reader.offset)"))
    }

    private static func named(_ error: CambiumError, _ volume: any Volume, _ path: String) -> CambiumError {
        guard error.code == .damaged else { return error }
        return CambiumError(
            .damaged, error.message, place: .init(file: "\(volume.name)/\(error.place?.file ?? path)"), underlying: error)
    }
}
