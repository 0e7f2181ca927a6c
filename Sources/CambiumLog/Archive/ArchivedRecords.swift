import CambiumModel

/// The transactions of an archive in order, from whichever of its segments has them. They need not be cut as the log is by now.
struct ArchivedRecords {
    private let volume: any Volume
    /// The segments of the archive, ascending.
    private let listed: [TransactionNumber]
    private var records: SegmentRecords?
    /// The segments that transactions came from.
    private(set) var segments: [TransactionNumber] = []
    /// The last transaction that was returned.
    private var last = TransactionNumber.none

    init(_ volume: any Volume, _ listed: [TransactionNumber]) {
        (self.volume, self.listed) = (volume, listed)
    }

    /// A transaction, which has to be the one that follows the last one, if there was one.
    ///
    /// Returns `nil` if no segment has it with what it did. Throws `.damaged` where the segment that should have it does not verify.
    mutating func record(_ number: TransactionNumber) throws(CambiumError) -> LogRecord? {
        if let record = try records?.next() { return note(record) }
        records = nil
        var flaw: CambiumError?
        for segment in listed.reversed() where segment <= number {
            do throws(CambiumError) {
                // Only a sealed segment has transactions after the beginning of the next one.
                let isCovering = segment != listed.last(where: { $0 <= number })
                var found = try SegmentRecords(volume, segment, from: number)
                if found.isRetired || isCovering && (found.sealedEnd ?? .none) < number { continue }
                guard let record = try found.next() else { continue }
                records = found
                segments.append(segment)
                return note(record)
            } catch {
                guard error.code == .damaged else { throw error }
                flaw = flaw ?? error
            }
        }
        if let flaw { throw flaw }
        return nil
    }

    private mutating func note(_ record: LogRecord) -> LogRecord {
        last = record.number
        return record
    }

    /// The checksum of the log after the last transaction that was returned, as far as the archive knows it.
    ///
    /// Throws `.damaged` if what follows in the segment does not verify.
    func checksum() throws(CambiumError) -> UInt32? {
        if let checksum = try endChecksum() ?? records?.checksum(after: last) { return checksum }
        return try records?.jointChecksum()
    }

    /// The same if the segment ends there; `nil` if it goes on.
    func endChecksum() throws(CambiumError) -> UInt32? {
        guard let records, !records.hasRest, records.sealedEnd ?? last == last else { return nil }
        var following = records
        return try following.next() == nil ? following.lastChecksum : nil
    }
}
