import CambiumBytes
import CambiumModel

/// The transactions of one segment, one at a time. Errors name the volume, because two of them have a file of this name.
struct SegmentRecords {
    private let volume: any Volume
    private var reader: SegmentReader
    /// What is left of the frame that was read last, backwards.
    private var rest: [LogRecord] = []

    /// Throws `.damaged` where the file's header or index does not verify, `.notFound` where there is no such file.
    init(_ volume: any Volume, _ segment: TransactionNumber) throws(CambiumError) {
        self.volume = volume
        let path = LogFileName.path(segment, .segment)
        do {
            reader = try SegmentReader(volume, path: path)
        } catch {
            throw Self.named(error, volume, path)
        }
    }

    var isRetired: Bool { reader.header.kind == .retired }

    var first: TransactionNumber { reader.header.firstTransaction }

    /// What the next segment has to name; known when all was read.
    var lastChecksum: UInt32 { reader.lastChecksum }

    /// Nil at the end. Throws `.damaged` where a frame does not verify or something is behind the last one.
    mutating func next() throws(CambiumError) -> LogRecord? {
        do {
            // A joint has no transactions.
            while rest.isEmpty, let records = try reader.nextFrame() { rest = records.reversed() }
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
