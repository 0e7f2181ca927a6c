import CambiumBytes
public import CambiumModel

/// The segments of a store's log as they were before they were retired, in a directory of their own. Docs/ARCHIVE.md.
///
/// A segment is in it with the files of its ops, under the names that they had in the log. It has no other state.
public struct SegmentArchive: Sendable {
    public let volume: any Volume
    let store: [UInt8]

    /// The archive of a store, which need not be there yet.
    ///
    /// Throws `.conflict` where it is another store's, `.cannotCreate` where something else is in the place. Complexity: O(segments).
    ///
    /// - Parameter store: 16 bytes.
    public init(adding volume: any Volume, of store: [UInt8]) throws {
        (self.volume, self.store) = (volume, store)
        try checkPlace()
    }

    func checkPlace() throws {
        if let kind = try volume.kind(of: LogReader.directory), kind != .directory {
            throw CambiumError(
                .cannotCreate, "'\(volume.name)/\(LogReader.directory)' is not a directory; choose another place for the archive.")
        }
        try checkStore()
        let names = try volume.list("")
        if names.contains(StoreSettings.fileName) {
            throw CambiumError(.cannotCreate, "'\(volume.name)' is a store; choose another place for the archive.")
        }
        guard try names.allSatisfy({ Self.names.contains($0) }) || !Self.segments(volume).isEmpty else {
            throw CambiumError(.cannotCreate, "'\(volume.name)' is not empty, and no archive; choose another place.")
        }
    }

    /// An archive that is there; a backup that has the same segments is one.
    ///
    /// Throws `.notFound` where there is none, `.conflict` where it is another store's. Complexity: O(segments).
    public init(reading volume: any Volume, of store: [UInt8]) throws {
        (self.volume, self.store) = (volume, store)
        try checkStore()
        if try Self.segments(volume).isEmpty { throw CambiumError(.notFound, "There is no archive at '\(volume.name)'.") }
    }

    private func checkStore() throws {
        for segment in try Self.segments(volume) {
            let found: [UInt8]
            do {
                found = try FrameReader(volume, path: LogFileName.path(segment, .segment)).header.store
            } catch {
                guard error.headerFailure != nil else { throw error }
                // Of whom it is nobody can tell; it is told when the segment is needed.
                continue
            }
            if found != store {
                throw CambiumError(
                    .conflict,
                    "'\(volume.name)' is the archive of another store: of \(HexText.encode(found)), not of \(HexText.encode(store)).")
            }
        }
    }

    /// What an archive has beside what somebody adds to it.
    private static let names: Set = [LogWriter.lockFileName, LogReader.directory]

    private static func segments(_ volume: any Volume) throws(CambiumError) -> [TransactionNumber] {
        try volume.list(LogReader.directory).compactMap { name in
            LogFileName.parse(name).flatMap { $0.suffix == .segment ? $0.number : nil }
        }
    }

    /// The transactions that were retired and whose segments the archive does not have. It is looked at names only.
    ///
    /// Complexity: O(files).
    public func missing(of source: any Volume) throws -> [ClosedRange<TransactionNumber>] {
        let retiredEnd = try LogReader(source).retiredEnd()
        let retired = try LogReader.segments(source, upTo: retiredEnd)
        let names = Set(try Self.segments(volume))
        var ranges: [ClosedRange<TransactionNumber>] = []
        for (place, segment) in retired.enumerated() where !names.contains(segment) {
            let end = place + 1 < retired.count ? TransactionNumber(rawValue: retired[place + 1].rawValue - 1) : retiredEnd
            if let last = ranges.last, last.upperBound.next == segment {
                ranges[ranges.count - 1] = last.lowerBound...end
            } else {
                ranges.append(segment...end)
            }
        }
        return ranges
    }

    // MARK: Reading

    /// The files that are to be read in the place of a segment that was retired: each of their transactions is the one whose hash is left.
    ///
    /// Throws `.notFound` where the archive does not have the segment, `.damaged` where it, or what it tells, is not what was retired.
    /// Complexity: O(bytes).
    func paths(inPlaceOf segment: TransactionNumber, to end: TransactionNumber, of source: any Volume) throws -> [String] {
        let path = LogFileName.path(segment, .segment)
        func lost(_ what: String) -> CambiumError {
            CambiumError(
                .notFound, "What transactions \(segment) to \(end) did is not in the archive: \(what).",
                place: .init(file: "\(volume.name)/\(path)"))
        }
        guard try volume.exists(path) else { throw lost("there is no such file") }
        var (kept, whole) = (try SegmentRecords(source, segment), try SegmentRecords(volume, segment))
        if whole.isRetired { throw lost("the segment is retired there, too") }
        var paths = [path]
        while let record = try kept.next() {
            guard let other = try whole.next(), try other.retired().isSame(as: record) else {
                throw whole.damage("Transaction \(record.number) is not the one that was retired.")
            }
            if case .file(let file) = other.payload { paths.append(file.path) }
        }
        // Checksums go on from those of the header, which so is the same, too.
        guard try whole.next() == nil, kept.lastChecksum == whole.lastChecksum else {
            throw whole.damage("The segment does not end as the one that was retired.")
        }
        return paths
    }
}
