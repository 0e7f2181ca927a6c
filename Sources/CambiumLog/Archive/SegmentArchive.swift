import CambiumBytes
package import CambiumModel

/// An archive: a separate directory with the segments of a store's log, in their form before compaction retired them. See
/// Docs/Operate/ARCHIVE.md.
///
/// The archive contains each segment and its files of ops, with the names that they had in the log. It has no other state.
package struct SegmentArchive: Sendable {
    package let volume: any Volume
    let store: [UInt8]

    /// Opens the archive of a store, so that segments can be added to the archive. The archive need not exist yet.
    ///
    /// Throws `.conflict` if the archive belongs to another store. Throws `.cannotCreate` if the path is not a directory, or if the
    /// directory is a store or contains files that are not an archive. Complexity: O(segments).
    ///
    /// - Parameter store: the id of the store, 16 bytes.
    package init(adding volume: any Volume, of store: [UInt8]) throws {
        (self.volume, self.store) = (volume, store)
        try checkPlace()
    }

    func checkPlace() throws {
        if let kind = try volume.kind(of: LogDirectory.name), kind != .directory {
            throw CambiumError(
                .cannotCreate, "'\(volume.name)/\(LogDirectory.name)' is not a directory; choose another place for the archive.")
        }
        let names = try volume.list("")
        // This check precedes `checkStore`, which would mistake a different store for an archive.
        if names.contains(StoreSettings.fileName) {
            throw CambiumError(.cannotCreate, "'\(volume.name)' is a store; choose another place for the archive.")
        }
        try checkStore()
        guard try names.allSatisfy({ Self.names.contains($0) }) || !LogDirectory.segments(volume).isEmpty else {
            throw CambiumError(.cannotCreate, "'\(volume.name)' is not empty and is not an archive; choose another place.")
        }
    }

    /// Opens an existing archive. A backup with the same segments can serve as an archive, too. An archive has no segments yet if the
    /// compaction that created it retired nothing.
    ///
    /// Throws `.notFound` if there is no archive, and `.conflict` if the archive belongs to another store. Complexity: O(segments).
    package init(reading volume: any Volume, of store: [UInt8]) throws {
        (self.volume, self.store) = (volume, store)
        try checkStore()
        if try LogDirectory.segments(volume).isEmpty, try !Self.names.allSatisfy({ try volume.exists($0) }) {
            throw CambiumError(
                .notFound,
                "There is no archive at '\(volume.name)'. Check the path, or make an archive with 'cambium compact --archive'.")
        }
    }

    private func checkStore() throws {
        for segment in try LogDirectory.segments(volume) {
            let found: [UInt8]
            do {
                found = try FrameReader(volume, path: LogFileName.path(segment, .segment)).header.store
            } catch {
                guard error.headerFailure != nil else { throw error }
                // This segment does not show to which store it belongs. A later call that needs the segment reports the corruption.
                continue
            }
            if found != store {
                throw CambiumError(
                    .conflict,
                    "'\(volume.name)' is the archive of another store: of store \(HexText.encode(found)), not of \(HexText.encode(store)). "
                        + "Choose the archive of this store.")
            }
        }
    }

    /// The names that Cambium itself creates in an archive's directory. Once the archive has segments, other files in the directory are
    /// allowed.
    private static let names: Set = [StoreFileName.lock, LogDirectory.name]

    /// Returns the retired transactions that no segment of the archive contains, according to the names and the indexes of its segments.
    ///
    /// Complexity: O(files).
    package func missing(of source: any Volume) throws -> [ClosedRange<TransactionNumber>] {
        let retiredEnd = try LogReader(source).retiredEnd()
        var gaps: [ClosedRange<TransactionNumber>] = []
        var next = TransactionNumber(rawValue: 1)
        for range in try ranges() where next <= retiredEnd {
            if range.lowerBound > next { gaps.append(next...min(TransactionNumber(rawValue: range.lowerBound.rawValue - 1), retiredEnd)) }
            next = max(next, range.upperBound.next)
        }
        return next <= retiredEnd ? gaps + [next...retiredEnd] : gaps
    }

    /// Returns the transactions of the archive's segments, in ascending order. A segment that is open or cannot be read is assumed to
    /// contain all transactions up to the next segment.
    private func ranges() throws -> [ClosedRange<TransactionNumber>] {
        let listed = try LogDirectory.segments(volume)
        var ranges: [ClosedRange<TransactionNumber>] = []
        for (place, segment) in listed.enumerated() {
            // If the segment is corrupt, a later call that needs it reports the corruption.
            let records = try? SegmentRecords(volume, segment)
            if records?.isRetired == true { continue }
            let following = place + 1 < listed.count ? TransactionNumber(rawValue: listed[place + 1].rawValue - 1) : nil
            ranges.append(segment...max(segment, records?.sealedEnd ?? following ?? end(of: records)))
        }
        return ranges
    }

    /// Returns the last transaction of the archive's last segment, which is open. Returns the largest possible number if the segment cannot
    /// be read.
    ///
    /// If a frame of the segment is corrupt, a later call that needs the segment reports the corruption.
    private func end(of records: SegmentRecords?) -> TransactionNumber {
        guard var records else { return TransactionNumber(rawValue: Format.transactionMax) }
        var last = records.first
        while let record = try? records.next() { last = record.number }
        return last
    }

    // MARK: Reading

    /// Returns the files to read in place of a retired segment. Compares each transaction in these files with the hash in the retired
    /// segment.
    ///
    /// Throws `.notFound` if the archive does not contain the transactions. Throws `.corrupted` if the archive is corrupt, or if its
    /// transactions are not the retired ones. Complexity: O(bytes).
    func paths(inPlaceOf segment: TransactionNumber, to end: TransactionNumber, of source: any Volume) throws -> [String] {
        var kept = try SegmentRecords(source, segment)
        var whole = ArchivedRecords(volume, try LogDirectory.segments(volume))
        var paths: [String] = []
        var place = LogFileName.path(segment, .segment)
        func lost() -> CambiumError {
            CambiumError(
                .notFound,
                "The archive lacks some of the transactions \(segment) to \(end), whose changes the store has removed. "
                    + "Use a complete copy of the archive.",
                place: .init(file: "\(volume.name)/\(place)"))
        }
        func damage(_ message: String) -> CambiumError {
            CambiumError(
                .corrupted, "\(message) Restore the file from a copy of the archive.", place: .init(file: "\(volume.name)/\(place)"))
        }
        while let record = try kept.next() {
            guard let other = try whole.record(record.number) else {
                // The name of the missing segment in the error is only a guess, because a segment of the archive may begin at an earlier
                // transaction.
                place = LogFileName.path(record.number, .segment)
                throw lost()
            }
            if let segment = whole.segments.last { place = LogFileName.path(segment, .segment) }
            guard try other.retired().isSame(as: record) else {
                throw damage("Transaction \(record.number) of the archive differs from that transaction of the store.")
            }
            if case .file(let file) = other.payload { paths.append(file.path) }
            // If `endChecksum` returns a checksum, this record is the last one of a segment of the archive. A retired segment that was
            // merged from several segments lists the checksum at the end of each of them.
            if let checksum = try whole.endChecksum(), checksum != kept.checksum(after: record.number) {
                throw damage("The file in the archive does not end like the log file whose changes the store has removed.")
            }
        }
        // The checksums in a segment depend on its header, so equal checksums also prove that the headers are equal.
        guard try whole.checksum() == kept.lastChecksum else {
            throw damage("The file in the archive does not end like the log file whose changes the store has removed.")
        }
        return whole.segments.map { LogFileName.path($0, .segment) } + paths
    }
}

/// Writes the files of an archive. Each file gets its name only after it is durable.
extension SegmentArchive {
    /// Removes the incomplete files of compactions that were interrupted. Later compactions might never replace these files, because the
    /// log may have merged their segments. The caller holds the lock of the archive.
    func removeInterrupted() throws(CambiumError) {
        let suffix = LogFileName.replacementSuffix
        for name in try volume.list(LogDirectory.name)
        where name.hasSuffix(suffix) && LogFileName.parse(String(name.dropLast(suffix.utf8.count))) != nil {
            try volume.remove(LogDirectory.name + "/" + name)
        }
    }

    /// Makes a file of the archive durable. If the sync fails, replaces the file with a durable copy of itself. The kernel reports a failed
    /// sync only once. Without the copy, a later compaction would mistake the lost bytes for durable ones, and would retire their
    /// transactions.
    func sync(_ path: String) throws(CambiumError) {
        let file = try volume.open(path, .read)
        defer { file.close() }
        do throws(CambiumError) {
            try file.sync()
        } catch {
            try replace(path) { newPath throws(CambiumError) in try file.copy(try file.byteCount(), to: volume, newPath) }
        }
    }

    /// Copies a file of the log, or creates a hard link to it. A link is safe, because a compaction archives a segment only if another
    /// segment follows. Nothing is ever written to such a segment or to its files of ops.
    func put(_ path: String, from source: any Volume) throws(CambiumError) -> Int {
        let file = try source.open(path, .read)
        defer { file.close() }
        let byteCount = try file.byteCount()
        try replace(path) { newPath throws(CambiumError) in
            if try !link(path, from: source, as: newPath) { try file.copy(byteCount, to: volume, newPath) }
        }
        return byteCount
    }

    /// Creates a durable hard link to a file of the log. Returns `false` if the file systems do not allow that, or if the file cannot be
    /// made durable.
    private func link(_ path: String, from source: any Volume, as newPath: String) throws(CambiumError) -> Bool {
        guard try source.link(path, into: volume, as: newPath) else { return false }
        do throws(CambiumError) {
            let file = try volume.open(newPath, .read)
            defer { file.close() }
            try file.sync()
            return true
        } catch {
            try volume.remove(newPath)
            return false
        }
    }

    /// Calls `make`, which must create a durable file with a temporary name. Then gives the file its name in the archive.
    private func replace(_ path: String, _ make: (_ newPath: String) throws(CambiumError) -> Void) throws(CambiumError) {
        let newPath = path + LogFileName.replacementSuffix
        if try volume.exists(newPath) { try volume.remove(newPath) }
        do throws(CambiumError) {
            try make(newPath)
            try volume.rename(newPath, to: path)
        } catch {
            if (try? volume.exists(newPath)) == true { try? volume.remove(newPath) }  // Otherwise the next call removes it.
            throw error
        }
    }
}
