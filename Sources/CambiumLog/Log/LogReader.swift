import CambiumBytes
package import CambiumModel

/// A reader of a store's log. It returns transactions and determines how the log ends, and writes nothing.
package struct LogReader: Sendable {
    package let volume: any Volume
    package let settings: StoreSettings
    let head: Head?
    let joints = KnownJoints()
    /// The flaws that affect no transaction: a corrupt slot of HEAD, or a file in the log's directory that does not belong to the log.
    package let flaws: [String]
    /// The flaw that states that one slot of HEAD is torn; `nil` if neither slot is torn. `flaws` contains it, too. It is not corruption.
    package let tornHead: String?

    /// Opens the log of a store. Throws `.notFound` if there is no store, and `.corrupted` if its settings cannot be read.
    package init(_ volume: any Volume) throws(CambiumError) {
        try self.init(volume, settings: try StoreSettings.read(volume))
    }

    /// Derives the settings of a store from its segments and checkpoints. A repair uses these settings if the file of the settings is
    /// corrupt or missing.
    ///
    /// Throws `.corrupted` if no header of a segment and no checkpoint record can be read.
    package static func impliedSettings(_ volume: any Volume) throws(CambiumError) -> StoreSettings {
        for segment in try LogDirectory.segments(volume) {
            // If this header cannot be read, the loop tries the next segment.
            guard let header = try? FrameReader(volume, path: LogFileName.path(segment, .segment)).header else { continue }
            return StoreSettings(store: header.store, creationTime: segment.rawValue == 1 ? header.creationTime : 0, durability: .synced)
        }
        for root in try CheckpointRecord.list(volume) {
            // If this record cannot be read, the loop tries the next checkpoint.
            guard let bytes = try? PageFile.bytes(volume, CheckpointRecord.path(root)), let store = CheckpointRecord.store(in: bytes)
            else { continue }
            return StoreSettings(store: store, creationTime: 0, durability: .synced)
        }
        throw CambiumError(
            .corrupted,
            "The settings, the log files and the checkpoints of the store cannot be read. Restore the store from a backup.",
            place: .init(file: volume.name))
    }

    /// Opens the log of a store whose settings are known.
    package init(_ volume: any Volume, settings: StoreSettings) throws(CambiumError) {
        self.volume = volume
        self.settings = settings
        let found = try Head.read(volume, store: settings.store)
        head = found.head
        tornHead = found.isTorn ? found.flaws.first : nil
        var flaws = found.flaws
        for name in try volume.list(LogDirectory.name) where LogFileName.parse(name) == nil {
            if !name.hasSuffix(LogFileName.replacementSuffix) { flaws.append("\(LogDirectory.name)/\(name) is not a file of the log") }
        }
        self.flaws = flaws
    }

    /// The maximum number of calls of the closure of `rereading`.
    private static let rereadCountMax = 10

    /// Calls `body` with a reader of a log. If `body` throws because a compaction retired transactions in the meantime, calls `body` again
    /// with a new reader. Calls it at most ten times, because a compaction may retire one segment after the other.
    ///
    /// - Parameter body: reads the log, and changes nothing that a repetition does not replace.
    package static func rereading<Result>(_ volume: any Volume, _ body: (LogReader) throws -> Result) throws -> Result {
        var count = 1
        while true {
            let reader = try LogReader(volume)
            let retiredEnd = try reader.retiredEnd()
            do {
                return try body(reader)
            } catch let error as CambiumError where [.notFound, .corrupted, .ioFailure].contains(error.code) {
                if try count == rereadCountMax || reader.retiredEnd() == retiredEnd { throw error }
                count += 1
            }
        }
    }

    /// The last transaction that was durable according to HEAD; `.none` if there is no HEAD.
    package var lastDurableTransaction: TransactionNumber { head?.lastTransaction ?? .none }

    /// The Merkle tree over the log, as the file HEAD contains it; `nil` if HEAD contains no tree.
    package var headTree: Head.Tree? { head?.tree }

    /// Returns the last transaction whose ops compaction removed; `.none` if there is no such transaction. Complexity: opens O(log n)
    /// files, where n is the number of segments.
    package func retiredEnd() throws(CambiumError) -> TransactionNumber { try LogDirectory.retiredEnd(volume) }

    /// Returns the newest transaction that has a checkpoint; `.none` if no checkpoint record passes verification. Complexity: O(one
    /// record).
    package func newestCheckpoint() throws(CambiumError) -> TransactionNumber {
        try PageFile.newestRecorded(volume, store: settings.store)
    }

    /// Returns the number of the first transaction of each segment, in ascending order.
    func segments() throws(CambiumError) -> [TransactionNumber] { try LogDirectory.segments(volume) }

    /// Whether the moment of a transaction is lost: compaction removed the ops, and no checkpoint ends with the transaction. Complexity:
    /// O(files).
    package func isRetired(_ transaction: TransactionNumber) throws(CambiumError) -> Bool {
        guard try LogDirectory.hasRetired(transaction, volume) else { return false }
        return try !CheckpointRecord.list(volume).contains(transaction)
    }

    /// Returns the error for a store whose log has no segment.
    static func withoutSegment(_ volume: any Volume) -> CambiumError {
        CambiumError(
            .corrupted,
            "The log has no segment (a file with transactions). Restore the store from a backup, or save its checkpoints with "
                + "'cambium repair'.",
            place: .init(file: "\(volume.name)/\(LogDirectory.name)"))
    }

    /// Returns the error for a directory that looks like a store, but whose log has no transaction.
    package static func withoutTransaction(_ volume: any Volume) -> CambiumError {
        CambiumError(
            .notFound,
            "'\(volume.name)' is not a store yet: its creation was interrupted before the schema was written. "
                + "The directory holds no data; remove it, and create the store again.")
    }

    /// The end of a log, and the verdict on the bytes that follow it.
    package struct End: Sendable {
        package enum Verdict: Sendable, Equatable {
            case clean
            /// Bytes follow the last frame that passes verification. No frame and no HEAD states that any of these bytes was durable.
            case tornTail(file: String, offset: Int, byteCount: Int)
            /// The creation of a segment was interrupted.
            case tornCreation(file: String)
        }

        package var verdict = Verdict.clean
        package var lastTransaction = TransactionNumber.none
        /// The time of the last transaction in microseconds since 1970; the creation time of the store if there is no transaction.
        package var lastTime: Int64
        /// The total length, in bytes, of the segments up to the last frame that passes verification, and of their files of ops.
        package var byteCount = 0
        package var segmentCount = 0
        /// The state of the last segment, in which a writer continues.
        var tail: SegmentTail?
        /// The corruption that the scan skipped, one text for each corrupt part.
        package var flaws: [String] = []
        /// The text of a flaw: the file HEAD is older than the log, although the log passes verification to its end. `nil` if there is no
        /// such flaw.
        package internal(set) var headFlaw: String?

        /// Checks that the log has a transaction; otherwise, throws `.notFound`. A store exists once its first transaction, which has the
        /// schema, is durable.
        ///
        /// - Parameter volume: the volume of the log.
        package func requireTransaction(in volume: any Volume) throws(CambiumError) {
            if lastTransaction == .none { throw LogReader.withoutTransaction(volume) }
        }

        /// Checks that the log does not end before a checkpoint; otherwise, throws `.corrupted`. A writer records a checkpoint only after
        /// its transactions are durable.
        ///
        /// - Parameters:
        ///   - checkpoint: the transaction of the checkpoint, or `.none` if there is no checkpoint.
        ///   - volume: the volume of the log.
        package func requireTransactions(of checkpoint: TransactionNumber, in volume: any Volume) throws(CambiumError) {
            if lastTransaction >= checkpoint { return }
            throw CambiumError(
                .corrupted,
                "The store has a checkpoint of transaction \(checkpoint), but the log ends with \(lastTransaction): durable transactions "
                    + "are lost. Restore the store from a backup, or save all intact data with 'cambium repair'.",
                place: .init(file: "\(volume.name)/\(LogDirectory.name)"))
        }
    }

    /// The state at the end of a segment. A writer continues from the state of the last segment.
    struct SegmentTail: Sendable {
        let header: SegmentHeader
        let headerChecksum: UInt32
        let position: Int
        let lastChecksum: UInt32
        /// Whether the checksum of the last frame is lost, because the index is corrupt. If so, the checksum in the next segment is not
        /// checked.
        let isChecksumLost: Bool
        /// The offset up to which the segment was durable according to HEAD or a frame.
        let durableOffset: Int
        let codec: TransactionCodec
        /// The offset of the joint (a frame without transactions that marks a position in the log) at the end of the frames. It is `nil` if
        /// the last frame contains transactions.
        let jointOffset: Int?
        /// The end of the last joint that was read, or the offset at which reading began.
        let jointEnd: Int
    }

    /// Makes the first transaction durable and returns it.
    ///
    /// Throws `.corrupted` if the transaction fails verification, and `.notFound` if there is no transaction.
    package func firstRecord() throws -> LogRecord {
        struct Reached: Error {
            let record: LogRecord
        }
        do {
            try scan(makesDurable: true) { throw Reached(record: $0) }.requireTransaction(in: volume)
        } catch let reached as Reached { return reached.record }
        throw CambiumError(
            .corrupted, "The log does not begin with a transaction. Restore the store from a backup.",
            place: .init(file: LogDirectory.name))
    }

    /// Calls `body` with every transaction from `first`, in order.
    ///
    /// Throws `.corrupted` if the log is corrupt, after `body` has received every transaction before the corruption. Also throws the errors
    /// of `body`. FORMAT.md 8 has the table of cases. Complexity: O(bytes of the log from the frame that contains `first`, or
    /// from the last joint before it if its segment is open).
    ///
    /// - Parameter makesDurable: whether another process may write at the same time. If so, bytes are made durable before they are read, so
    ///   that no caller acts on a transaction that a power failure may remove.
    /// - Parameter salvages: whether sealed segments with a corrupt index are read. The `flaws` of the returned end report the corruption.
    /// - Parameter base: the known part of the log before the first transaction that is read.
    package func scan(
        from first: TransactionNumber = TransactionNumber(rawValue: 1), after base: LogPrefix? = nil, makesDurable: Bool = false,
        salvages: Bool = false, _ body: (LogRecord) throws -> Void
    ) throws -> End {
        var place: SegmentPlace?
        return try scan(from: first, after: base, makesDurable: makesDurable, salvages: salvages, at: &place, body)
    }

    /// Scans the log like the `scan` without a `place`, but begins at the position at which an earlier scan ended. If that position is no
    /// longer valid or lies after `first`, the scan ignores it.
    ///
    /// - Parameter place: the position at which an earlier scan ended. Receives the position at which this scan ends, even if the scan
    ///   throws.
    package func scan(
        from first: TransactionNumber, after base: LogPrefix?, makesDurable: Bool, salvages: Bool = false, at place: inout SegmentPlace?,
        _ body: (LogRecord) throws -> Void
    ) throws -> End {
        try scan(from: first, after: base, makesDurable: makesDurable, syncs: true, salvages: salvages, at: &place, body)
    }

    /// Scans the log like the `scan` without `syncs`.
    ///
    /// - Parameter syncs: whether bytes that another process may have written are synced before they are read. Pass `false` if the caller
    ///   uses only transactions that HEAD states as durable.
    func scan(
        from first: TransactionNumber, after base: LogPrefix?, makesDurable: Bool, syncs: Bool, salvages: Bool = false,
        at place: inout SegmentPlace?, _ body: (LogRecord) throws -> Void
    ) throws -> End {
        var cursor = try LogCursor(
            self, from: base?.transaction.next ?? first, after: base, mayBeWritten: makesDurable, syncs: syncs, salvages: salvages,
            at: place)
        defer { place = cursor.place }
        try cursor.advance(body)
        return try cursor.judge(body)
    }

    /// Returns a transaction; `nil` if the log does not have it. Does not read the log that follows the transaction.
    ///
    /// Throws as `scan` does. Complexity: O(bytes of one frame) in a sealed segment. In an open segment, O(bytes between two joints), and
    /// O(frames from the preceding checkpoint) for the first transaction after it.
    package func record(_ number: TransactionNumber) throws -> LogRecord? {
        struct Reached: Error {}
        var (found, place): (LogRecord?, SegmentPlace?) = (nil, nil)
        do {
            _ = try scan(from: number, after: nil, makesDurable: true, syncs: number > lastDurableTransaction, at: &place) { record in
                found = record.number == number ? record : nil
                throw Reached()
            }
        } catch is Reached {}
        return found
    }
}
