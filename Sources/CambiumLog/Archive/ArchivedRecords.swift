internal import CambiumModel

/// A reader that returns the transactions of an archive in ascending order. The segments (log files) of the archive need not begin at the
/// same transactions as the segments of the store's log.
struct ArchivedRecords {
    private let volume: any Volume
    /// The first transaction of each segment of the archive, in ascending order.
    private let listed: [TransactionNumber]
    private var records: SegmentRecords?
    /// The segments from which `record` has returned transactions, each named by its first transaction.
    private(set) var segments: [TransactionNumber] = []
    /// The last transaction that `record` has returned.
    private var last = TransactionNumber.none

    init(_ volume: any Volume, _ listed: [TransactionNumber]) {
        (self.volume, self.listed) = (volume, listed)
    }

    /// Returns a transaction. Each call must request the transaction that follows the last returned transaction.
    ///
    /// Returns `nil` if no segment contains the transaction with its ops. Throws `.corrupted` if the segment that should contain it fails
    /// verification.
    mutating func record(_ number: TransactionNumber) throws(CambiumError) -> LogRecord? {
        if let record = try records?.next() { return track(record) }
        records = nil
        var flaw: CambiumError?
        for segment in listed.reversed() where segment <= number {
            do throws(CambiumError) {
                // If a later segment begins at or before the transaction, `segment` contains the transaction only if it is a merged
                // segment. A merged segment is sealed, so its end is known.
                let isCovering = segment != listed.last(where: { $0 <= number })
                var found = try SegmentRecords(volume, segment, from: number)
                if found.isRetired || isCovering && (found.sealedEnd ?? .none) < number { continue }
                guard let record = try found.next() else { continue }
                records = found
                segments.append(segment)
                return track(record)
            } catch {
                guard error.code == .corrupted else { throw error }
                flaw = flaw ?? error
            }
        }
        if let flaw { throw flaw }
        return nil
    }

    private mutating func track(_ record: LogRecord) -> LogRecord {
        last = record.number
        return record
    }

    /// Returns the checksum of the log after the last returned transaction, or `nil` if the archive does not contain this checksum.
    ///
    /// Throws `.corrupted` if the following bytes of the segment fail verification.
    func checksum() throws(CambiumError) -> UInt32? {
        if let checksum = try endChecksum() ?? records?.checksum(after: last) { return checksum }
        return try records?.jointChecksum()
    }

    /// Returns the checksum of the log after the last returned transaction if its segment ends with this transaction; otherwise `nil`.
    func endChecksum() throws(CambiumError) -> UInt32? {
        guard let records, !records.hasRest, records.sealedEnd ?? last == last else { return nil }
        var following = records
        return try following.next() == nil ? following.lastChecksum : nil
    }
}
