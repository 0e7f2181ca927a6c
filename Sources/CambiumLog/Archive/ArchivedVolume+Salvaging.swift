package import CambiumModel

extension ArchivedVolume {
    /// Combines a corrupt store with its archive. The retired segments of the store may be corrupt or missing.
    ///
    /// Uses the archive up to the last transaction that ends a segment of the archive and directly precedes a segment of the store. That
    /// segment of the store must state the checksum at the end of the archive's segment. A transaction that can be read in both the archive
    /// and the store must be the same in both.
    ///
    /// Throws `.corrupted` if a transaction differs. Complexity: O(bytes of the archive).
    ///
    /// - Returns: the combined files, and the last transaction that they take from the archive; `nil` if no segment of the store
    ///   continues the archive.
    package static func salvaging(
        _ reader: LogReader, _ source: SegmentArchive
    ) throws -> (volume: ArchivedVolume, end: TransactionNumber)? {
        guard let part = try ProvenPart(reader, source) else { return nil }
        return (try ArchivedVolume(reader, source, paths: part.paths, upTo: part.end), part.end)
    }
}

/// The part of an archive that provably belongs to a store whose retired segments cannot be read.
private struct ProvenPart {
    /// The last transaction of the proven part.
    var end = TransactionNumber.none
    /// The paths of the archive's files that belong to the part: its segments, and the separate files of ops.
    var paths: Set<String> = []

    init?(_ reader: LogReader, _ source: SegmentArchive) throws {
        var archived = ArchivedRecords(source.volume, try LogDirectory.segments(source.volume))
        let segments = Set(try reader.segments())
        var kept: SegmentRecords?
        var files: [String] = []
        var counts = (segments: 0, files: 0)
        var number = TransactionNumber(rawValue: 1)
        while let record = try Self.sound({ try archived.record(number) }) ?? nil {
            if segments.contains(number) { kept = try Self.sound { try SegmentRecords(reader.volume, number) } }
            if let own = try Self.sound({ try kept?.next() }) ?? nil {
                try Self.compare(record, with: own, in: source)
            } else {
                kept = nil
            }
            if case .file(let file) = record.payload { files.append(file.path) }
            if segments.contains(number.next), try Self.leads(archived, to: number.next, of: reader.volume) {
                end = number
                counts = (archived.segments.count, files.count)
            }
            number = number.next
        }
        if end == .none { return nil }
        paths = Set(archived.segments.prefix(counts.segments).map { LogFileName.path($0, .segment) } + files.prefix(counts.files))
    }

    /// Returns the result of `body`, or `nil` if the bytes that `body` reads are corrupt.
    private static func sound<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch let error as CambiumError where error.code == .corrupted || error.code == .notFound || error.code == .unsupportedFormat {
            return nil
        }
    }

    /// Throws `.corrupted` if a transaction of the archive differs from the same transaction of the store. If the ops of either transaction
    /// cannot be read, nothing is compared.
    private static func compare(_ record: LogRecord, with own: LogRecord, in source: SegmentArchive) throws {
        guard own.number == record.number, let one = try sound({ try record.retired() }), let other = try sound({ try own.retired() })
        else { return }
        if one.isSame(as: other) { return }
        throw CambiumError(
            .corrupted,
            "Transaction \(record.number) of the archive differs from that transaction of the store. Use the archive of this store.",
            place: .init(file: "\(source.volume.name)/\(LogDirectory.name)"))
    }

    /// Whether a segment of the archive ends with the last returned transaction, and the store's segment continues the log after this end.
    private static func leads(_ archived: ArchivedRecords, to segment: TransactionNumber, of volume: any Volume) throws -> Bool {
        guard let checksum = try sound({ try archived.endChecksum() }) ?? nil else { return false }
        let header = try sound { try FrameReader(volume, path: LogFileName.path(segment, .segment), salvages: true).header }
        return header?.previousChecksum == checksum
    }
}
