package import CambiumModel

/// A read-only volume with the files of a store and of its archive. It shows the log as if compaction had never removed the ops of a
/// transaction.
package struct ArchivedVolume: Volume {
    private let store: any Volume
    private let archive: any Volume
    /// The files that are read from the archive instead of the store.
    private let paths: Set<String>
    /// The paths of the store's segments that this volume hides, because files of the archive replace them.
    private let hidden: Set<String>
    private let reader: LogReader
    /// The last transaction whose ops compaction has removed from the store; `.none` if there is no such transaction. It is `nil` if the
    /// store is so corrupt that this transaction is not known.
    private let retiredEnd: TransactionNumber?

    package var name: String { store.name }

    /// The maximum number of attempts to list the segments of the store while a writer merges them.
    private static let listingCountMax = 10

    /// Reads the retired transactions from the archive, and compares them with the hashes that the store has kept.
    ///
    /// Throws `.notFound` if there is no store or no archive, or if the archive lacks transactions. Throws `.conflict` if the archive
    /// belongs to another store, and `.corrupted` if the archive's transactions are not the retired ones. Complexity: O(bytes that were
    /// retired).
    package init(_ store: any Volume, archive: any Volume) throws {
        try self.init(store, SegmentArchive(reading: archive, of: StoreSettings.read(store).store))
    }

    /// Combines a store with an archive that is already open. Throws as `init(_:archive:)` does.
    package init(_ store: any Volume, _ source: SegmentArchive) throws { try self.init(LogReader(store), source) }

    /// Combines the store of a log with an archive that is already open. Throws as `init(_:archive:)` does.
    package init(_ reader: LogReader, _ source: SegmentArchive) throws {
        var listed = try reader.segments()
        var end = try reader.retiredEnd()
        var found = Result { try Self.paths(reader, source, listed, end) }
        for _ in 1..<Self.listingCountMax {
            // If a writer merged segments after they were listed, a listed segment may be missing. The segments are then listed again.
            guard case .failure(let error as CambiumError) = found, error.code == .notFound, try reader.segments() != listed else { break }
            (listed, end) = (try reader.segments(), try reader.retiredEnd())
            found = Result { try Self.paths(reader, source, listed, end) }
        }
        paths = try found.get()
        hidden = try Self.hidden(by: paths, of: source, listed, end)
        (store, archive, self.reader, retiredEnd) = (reader.volume, source.volume, reader, end)
    }

    /// Combines the store of a log with files of an archive.
    ///
    /// - Parameters:
    ///   - paths: the files that are read from the archive.
    ///   - end: the last transaction in these files. The store's segments up to this transaction are hidden.
    init(_ reader: LogReader, _ source: SegmentArchive, paths: Set<String>, upTo end: TransactionNumber) throws(CambiumError) {
        self.paths = paths
        hidden = Set(try reader.segments().filter { $0 <= end }.map { LogFileName.path($0, .segment) }).subtracting(paths)
        (store, archive, self.reader, retiredEnd) = (reader.volume, source.volume, reader, nil)
    }

    /// Returns the paths of the archive's files that are read in place of the retired segments.
    ///
    /// - Parameters:
    ///   - listed: the segments of the store.
    ///   - end: the last transaction that was retired.
    private static func paths(
        _ reader: LogReader, _ source: SegmentArchive, _ listed: [TransactionNumber], _ end: TransactionNumber
    ) throws -> Set<String> {
        var paths = Set<String>()
        var covered = TransactionNumber.none
        for segment in listed where segment > covered && segment <= end {
            covered = try SegmentRecords(reader.volume, segment).sealedEnd ?? covered
            paths.formUnion(try source.paths(inPlaceOf: segment, to: min(covered, end), of: reader.volume))
        }
        return paths
    }

    /// Returns those segments of the store that the archive replaces. Throws `.corrupted` if the archive ends inside one of these segments.
    private static func hidden(
        by paths: Set<String>, of source: SegmentArchive, _ listed: [TransactionNumber], _ retiredEnd: TransactionNumber
    ) throws -> Set<String> {
        var end = retiredEnd
        for path in paths where path.hasSuffix(LogFileName.Suffix.segment.rawValue) {
            guard let name = LogFileName.parse(String(path.dropFirst(LogDirectory.name.count + 1))) else { continue }
            end = max(end, try SegmentRecords(source.volume, name.number).sealedEnd ?? end)
        }
        guard end == .none || listed.contains(end.next) else {
            throw CambiumError(
                .corrupted,
                "The archive ends with transaction \(end), but no log file of the store begins with the next transaction. "
                    + "Compact the store to a later moment with this archive.",
                place: .init(file: "\(source.volume.name)/\(LogDirectory.name)"))
        }
        return Set(listed.filter { $0 <= end }.map { LogFileName.path($0, .segment) }).subtracting(paths)
    }

    private var isCompacted: CambiumError {
        CambiumError(.ioFailure, "The store was compacted while it was read together with its archive. Repeat the command.")
    }

    package func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        guard mode == .read else { throw refusal }
        if paths.contains(path) { return try archive.open(path, .read) }
        if hidden.contains(path) {
            throw CambiumError(.notFound, "The archive contains the transactions of this file in other files.", place: .init(file: path))
        }
        let file = try store.open(path, .read)
        if retiredEnd != nil, path.hasPrefix(LogDirectory.name + "/"), try Self.isRetired(file) { throw isCompacted }
        return file
    }

    private static func isRetired(_ file: any VolumeFile) throws(CambiumError) -> Bool {
        let bytes = try file.read(at: 0, count: Format.Segment.headerByteCount)
        // If the header of the segment cannot be read, the reader of the segment reports the corruption later.
        return (try? SegmentHeader.decode(bytes, file: ""))?.header.kind == .retired
    }

    package func list(_ directory: String) throws(CambiumError) -> [String] {
        let prefix = directory + "/"
        var names = Set(try store.list(directory).filter { !hidden.contains(prefix + $0) })
        // If a compaction has retired segments since this volume was opened, it may also have merged segments. The list would lack the
        // files of merged segments.
        if let retiredEnd, directory == LogDirectory.name, try reader.retiredEnd() != retiredEnd { throw isCompacted }
        names.formUnion(paths.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    package func exists(_ path: String) throws(CambiumError) -> Bool {
        if paths.contains(path) { return true }
        if hidden.contains(path) { return false }
        return try store.exists(path)
    }

    package func kind(of path: String) throws(CambiumError) -> FileKind? {
        try paths.contains(path) ? archive.kind(of: path) : hidden.contains(path) ? nil : store.kind(of: path)
    }

    package func names(_ path: String, _ file: any VolumeFile) throws(CambiumError) -> Bool {
        try paths.contains(path) ? archive.names(path, file) : store.names(path, file)
    }

    package func share(_ path: String) throws(CambiumError) -> any VolumeLock { try store.share(path) }
    package func isShared(_ path: String) throws(CambiumError) -> Bool { try store.isShared(path) }
    package func openNameless() throws(CambiumError) -> (any VolumeFile)? { try store.openNameless() }
    package func diskByteCount(of path: String) throws(CambiumError) -> Int { try store.diskByteCount(of: path) }

    package func remove(_ path: String) throws(CambiumError) { throw refusal }
    package func rename(_ path: String, to newPath: String) throws(CambiumError) { throw refusal }
    package func createDirectory(_ path: String) throws(CambiumError) { throw refusal }
    package func syncDirectory(_ path: String) throws(CambiumError) { throw refusal }
    package func lock(_ path: String) throws(CambiumError) -> any VolumeLock { throw refusal }
    package func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { throw refusal }
    package func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool { throw refusal }

    private var refusal: CambiumError {
        CambiumError(.notWritable, "A store that is read with its archive does not accept writes. Open it without the archive.")
    }
}

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
