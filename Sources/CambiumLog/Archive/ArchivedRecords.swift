internal import CambiumModel

/// Reads the transactions of an archive in order, from the segments that have them. The archive may be divided into other segments
/// than the log.
struct ArchivedRecords {
    private let volume: any Volume
    /// The segments of the archive, ascending.
    private let listed: [TransactionNumber]
    private var records: SegmentRecords?
    /// The segments from which transactions were returned.
    private(set) var segments: [TransactionNumber] = []
    /// The last transaction that was returned.
    private var last = TransactionNumber.none

    init(_ volume: any Volume, _ listed: [TransactionNumber]) {
        (self.volume, self.listed) = (volume, listed)
    }

    /// Returns a transaction. Each call must ask for the transaction that follows the last returned transaction.
    ///
    /// Returns `nil` if no segment has the transaction with its ops. Throws `.damaged` if the segment that should have it does not verify.
    mutating func record(_ number: TransactionNumber) throws(CambiumError) -> LogRecord? {
        if let record = try records?.next() { return note(record) }
        records = nil
        var flaw: CambiumError?
        for segment in listed.reversed() where segment <= number {
            do throws(CambiumError) {
                // Only a sealed segment can have transactions that the next segment has, too.
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

    /// Returns the checksum of the log after the last transaction that was returned, or `nil` if the archive does not have it.
    ///
    /// Throws `.damaged` if the bytes that follow in the segment do not verify.
    func checksum() throws(CambiumError) -> UInt32? {
        if let checksum = try endChecksum() ?? records?.checksum(after: last) { return checksum }
        return try records?.jointChecksum()
    }

    /// Returns the checksum after the last returned transaction if the segment ends there; otherwise `nil`.
    func endChecksum() throws(CambiumError) -> UInt32? {
        guard let records, !records.hasRest, records.sealedEnd ?? last == last else { return nil }
        var following = records
        return try following.next() == nil ? following.lastChecksum : nil
    }
}
