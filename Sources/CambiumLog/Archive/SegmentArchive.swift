import CambiumBytes
public import CambiumModel

/// The segments of a store's log as they were before they were retired, in a directory of their own. Docs/ARCHIVE.md.
///
/// A segment is in it with the files of its ops, under the names that they had in the log. It has no other state.
public struct SegmentArchive: Sendable {
    public let volume: any Volume
    private let store: [UInt8]

    /// The archive of a store, which need not be there yet.
    ///
    /// Throws `.conflict` where it is another store's, `.cannotCreate` where something else is in the place. Complexity: O(segments).
    ///
    /// - Parameter store: 16 bytes.
    public init(adding volume: any Volume, of store: [UInt8]) throws {
        (self.volume, self.store) = (volume, store)
        try checkPlace()
    }

    private func checkPlace() throws {
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
            } catch is DecodingError {
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

    // MARK: Adding

    /// Takes the lock that who adds to the archive has to have, and makes the directories.
    ///
    /// Throws `.locked`, `.ioFailure`; `.cannotCreate` where the files of the archive would be those of the store itself.
    public func begin(beside source: any Volume) throws -> any VolumeLock {
        try volume.createDirectory("")
        let lock = try volume.lock(LogWriter.lockFileName)
        do {
            // Another process may have begun an archive of another store here since.
            try checkPlace()
            try volume.createDirectory(LogReader.directory)
            try volume.syncDirectory("")
            try checkApart(from: source)
        } catch {
            lock.unlock()
            throw error
        }
        return lock
    }

    /// Who retires what is in the same directory by another name removes it.
    private func checkApart(from source: any Volume) throws(CambiumError) {
        let path = LogReader.directory + "/archive" + LogFileName.replacementSuffix
        if try volume.exists(path) { try volume.remove(path) }
        try volume.open(path, .create).close()
        let isSame = try source.exists(path)
        try volume.remove(path)
        if isSame {
            throw CambiumError(.cannotCreate, "'\(volume.name)/\(LogReader.directory)' is the store's own log; choose another place.")
        }
    }

    /// Makes segments, and the files of their ops, durable in the archive as they are in a log, and reads them there.
    ///
    /// What is there already is read and compared, and replaced only if it is damaged. Throws `.conflict` where the archive has another
    /// history of the store, `.damaged` where the log is, `.ioFailure`; then some of it may be in the archive. Complexity: O(bytes).
    ///
    /// - Returns: the segments that were not there in whole, and the bytes of the files that were made.
    public func add(_ segments: [TransactionNumber], from source: any Volume) throws -> (segmentCount: Int, byteCount: Int) {
        var (segmentCount, byteCount) = (0, 0)
        for segment in segments {
            let files = try files(of: segment, in: source)
            // Who put them there need not have waited for the disk.
            for path in files.present { try sync(path) }
            if files.lacking.isEmpty { continue }
            segmentCount += 1
            for path in files.lacking { byteCount += try put(path, from: source) }
            if let path = try self.files(of: segment, in: source).lacking.first {
                throw CambiumError(.ioFailure, "What was written is not what is read.", place: .init(file: "\(volume.name)/\(path)"))
            }
        }
        try volume.syncDirectory(LogReader.directory)
        return (segmentCount, byteCount)
    }

    /// What `add` would do. Throws as that does.
    public func measure(_ segments: [TransactionNumber], of source: any Volume) throws -> (segmentCount: Int, byteCount: Int) {
        var (segmentCount, byteCount) = (0, 0)
        for segment in segments {
            let lacking = try files(of: segment, in: source).lacking
            if !lacking.isEmpty { segmentCount += 1 }
            for path in lacking { byteCount += try source.byteCount(of: path) }
        }
        return (segmentCount, byteCount)
    }

    private func sync(_ path: String) throws(CambiumError) {
        let file = try volume.open(path, .read)
        defer { file.close() }
        try file.sync()
    }

    /// Copies a file, or gives it a second name: files of a log that others follow are never written to again.
    private func put(_ path: String, from source: any Volume) throws(CambiumError) -> Int {
        let newPath = path + LogFileName.replacementSuffix
        if try volume.exists(newPath) { try volume.remove(newPath) }
        do throws(CambiumError) {
            let isLinked = try source.link(path, into: volume, as: newPath)
            let file = try isLinked ? volume.open(newPath, .read) : source.open(path, .read)
            defer { file.close() }
            let byteCount = try file.byteCount()
            if isLinked { try file.sync() } else { try file.copy(byteCount, to: volume, newPath) }
            try volume.rename(newPath, to: path)
            return byteCount
        } catch {
            if (try? volume.exists(newPath)) == true { try? volume.remove(newPath) }  // Else who adds next removes it.
            throw error
        }
    }

    /// The files of a segment in a log, by whether the archive has them as they are there; none where the segment was retired before.
    private func files(of segment: TransactionNumber, in source: any Volume) throws -> (lacking: [String], present: [String]) {
        var records = try SegmentRecords(source, segment)
        if records.isRetired { return ([], []) }
        var archived = try archived(segment)
        var (lacking, present): ([String], [String]) = ([], [])
        while let record = try records.next() {
            if archived != nil { archived = try next(archived, record) }
            guard case .file(let file) = record.payload else { continue }
            if try has(file) {
                present.append(file.path)
            } else {
                try file.forEachPart { _ in }  // What is damaged is not worth keeping, and not to be retired.
                lacking.append(file.path)
            }
        }
        if archived != nil { archived = try next(archived, nil) }
        let path = LogFileName.path(segment, .segment)
        guard let archived else { return (lacking + [path], present) }
        guard archived.origin == records.origin, archived.lastChecksum == records.lastChecksum else { throw conflict(segment, segment) }
        return (lacking, present + [path])
    }

    /// Goes on to the transaction that has to be the next one; nil where the archive's is damaged.
    private func next(_ archived: SegmentRecords?, _ record: LogRecord?) throws -> SegmentRecords? {
        guard var archived else { return nil }
        let other: LogRecord?
        do { other = try archived.next() } catch let error as CambiumError where error.code == .damaged { return nil }
        switch (record, other) {
        case (nil, nil): return archived
        case (let record?, let other?) where other.isSame(as: record): return archived
        default: throw conflict(archived.origin.firstTransaction, record?.number ?? other?.number ?? archived.origin.firstTransaction)
        }
    }

    /// Nil where there is none that can be read, or what is there has lost its ops.
    private func archived(_ segment: TransactionNumber) throws -> SegmentRecords? {
        guard try volume.exists(LogFileName.path(segment, .segment)) else { return nil }
        do {
            let records = try SegmentRecords(volume, segment)
            return records.isRetired ? nil : records
        } catch let error as CambiumError where error.code == .damaged {
            return nil
        }
    }

    private func has(_ file: OpsFile) throws -> Bool {
        do {
            try OpsFile(volume: volume, store: store, transaction: file.transaction, reference: file.reference).forEachPart { _ in }
            return true
        } catch let error as CambiumError where error.code == .damaged {
            return false
        }
    }

    private func conflict(_ segment: TransactionNumber, _ transaction: TransactionNumber) -> CambiumError {
        CambiumError(
            .conflict,
            "The archive has another transaction \(transaction) than the log: it is of a copy of the store that went on in another way. "
                + "Choose another place for the archive.",
            place: .init(file: "\(volume.name)/\(LogFileName.path(segment, .segment))"))
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
        guard kept.origin == whole.origin else { throw whole.damage("The segment is not the one that was retired.") }
        var paths = [path]
        while let record = try kept.next() {
            guard let other = try whole.next(), try other.retired().isSame(as: record) else {
                throw whole.damage("Transaction \(record.number) is not the one that was retired.")
            }
            if case .file(let file) = other.payload { paths.append(file.path) }
        }
        guard try whole.next() == nil, kept.lastChecksum == whole.lastChecksum else {
            throw whole.damage("The segment does not end as the one that was retired.")
        }
        return paths
    }
}
