package import CambiumLog
public import CambiumModel
import Glibc

/// The transactions of a store, read from its log.
///
/// ```swift
/// try TransactionLog(of: "notes").forEach { entry in
///     print(entry.number, entry.time, entry.author.actor ?? "-", entry.author.message ?? "")
/// }
/// ```
public struct TransactionLog {
    private let reader: LogReader

    /// A transaction and its size in the log.
    public struct Entry: Sendable {
        /// The number of the transaction.
        public let number: TransactionNumber
        package let metadata: TransactionMetadata
        /// The number of bytes that the transaction takes in the log.
        package let byteCount: Int
        private let record: LogRecord

        init(_ record: LogRecord) {
            number = record.number
            metadata = record.metadata
            byteCount = record.byteCount
            self.record = record
        }

        /// The time of the transaction, never earlier than the time of the previous transaction.
        public var time: Timestamp { metadata.time }

        /// The author of the transaction, with the message and the request id.
        public var author: Author { Author(metadata) }

        /// Whether the ops of the transaction were retired or redacted. If so, only its author, its time and its size remain.
        package var isRetired: Bool { if case .redacted = record.payload { true } else { false } }

        /// Calls `body` with each op. At most the ops of one frame are in memory. Throws as `ops()` does, and the errors of `body`.
        func forEachOp(_ body: (Op) throws -> Void) throws { try record.forEachOp(body) }

        /// Returns the ops of the transaction. Does not check whether they fit the store.
        ///
        /// Throws `.notFound` if the ops were redacted. Throws `.corrupted` if they cannot be decoded or contain a value that no attribute
        /// can have, such as invalid JSON.
        package func ops() throws -> [Op] {
            let ops = try record.ops()
            for value in ops.lazy.flatMap(\.values) {
                guard let flaw = value.flaw else { continue }
                throw CambiumError(
                    .corrupted, "Transaction \(number) contains a value that \(flaw). Run 'cambium verify'.",
                    place: .init(file: record.file))
            }
            return ops
        }
    }

    /// Opens the log of a store. Throws `.notFound` if there is no store, and `.corrupted` if its settings are corrupt. Throws
    /// `.unsupportedFormat` if a newer version wrote the store, and `.ioFailure` if a file cannot be read. Complexity: O(1).
    public init(of path: String) throws(CambiumError) { try self.init(SystemVolume(root: path)) }

    package init(_ volume: any Volume) throws(CambiumError) { reader = try LogReader(volume) }

    /// Calls `body` with each transaction whose number is `first` or greater, in order.
    ///
    /// Throws `.corrupted` if the log is corrupt, after `body` has received every transaction before the corruption. Also throws
    /// `.corrupted`, after the last transaction, if the log ends before a checkpoint of the store: durable transactions are lost. Throws
    /// `.notFound` if the log has no transaction, and `.ioFailure` if it cannot be read. Also throws the errors of `body`. Does not call
    /// `body` if there is no transaction `first` yet. Complexity: O(bytes of the log).
    public func forEach(from first: TransactionNumber = TransactionNumber(rawValue: 1), _ body: (Entry) throws -> Void) throws {
        let stored = try reader.newestCheckpoint()
        let end = try reader.scan(from: first, makesDurable: true) { try body(Entry($0)) }
        try end.requireTransaction(in: reader.volume)
        try end.requireTransactions(of: stored, in: reader.volume)
    }

    /// Calls `body` with each transaction whose number is `first` or greater, in order, until `body` returns `false`. Does not read the log
    /// that follows the last transaction that `body` receives.
    ///
    /// ```swift
    /// var newest: [TransactionLog.Entry] = []
    /// try TransactionLog(of: "notes").read(from: TransactionNumber(rawValue: 500)) { entry in
    ///     newest.append(entry)
    ///     return newest.count < 20
    /// }
    /// ```
    ///
    /// Throws as `forEach` does. The end of the log is checked only if `body` has not stopped before it. Complexity: O(bytes of the log up
    /// to the last transaction that `body` receives).
    ///
    /// - Parameters:
    ///   - first: The number of the first transaction to pass to `body`.
    ///   - body: Receives a transaction, and returns whether to continue.
    public func read(from first: TransactionNumber = TransactionNumber(rawValue: 1), _ body: (Entry) throws -> Bool) throws {
        struct Stop: Error {}
        do {
            try forEach(from: first) { if try !body($0) { throw Stop() } }
        } catch is Stop {}  // `body` has returned `false`.
    }

    /// Returns a transaction, or `nil` if the log does not have it. Throws as `forEach` does. Complexity: that of `LogReader.record`.
    package func entry(_ number: TransactionNumber) throws -> Entry? { try reader.record(number).map(Entry.init) }

    /// Calls `body` with each transaction whose number is `first` or greater, in order, and then with each transaction that another process
    /// commits.
    ///
    /// A new transaction is passed to `body` once it is durable and this process sees it. The call returns when `body` returns `false`. The
    /// thread sleeps between two reads of the log. Throws as `forEach` does. Also throws `.notFound` if the store is removed or replaced.
    ///
    /// - Parameters:
    ///   - first: The number of the first transaction to pass to `body`.
    ///   - interval: The time between two reads of the log. A time below a millisecond counts as a millisecond.
    ///   - body: Receives a transaction, and returns whether to continue.
    public func follow(
        from first: TransactionNumber = TransactionNumber(rawValue: 1), every interval: Duration = .milliseconds(50),
        _ body: (Entry) throws -> Bool
    ) throws {
        try follow(from: first, pause: { usleep(UInt32(clamping: interval.microsecondsBetweenReads)) }, body)
    }

    /// Does the same as `follow(from:every:_:)`, but calls `pause` between two reads of the log. Throws the errors of `pause`, too.
    package func follow(
        from first: TransactionNumber = TransactionNumber(rawValue: 1), pause: () throws -> Void, _ body: (Entry) throws -> Bool
    ) throws {
        struct Stop: Error {}
        var follower = try LogFollower(reader, from: first)
        do {
            while true {
                try follower.advance { if try !body(Entry($0)) { throw Stop() } }
                try pause()
            }
        } catch is Stop {}  // `body` has returned `false`.
    }

    /// Returns a sentence, preceded by a space, that names the archive of all retired transactions. Returns an empty text if the store
    /// names no such archive.
    package func archiveHint() -> String { reader.archiveHint() }

    /// Returns the number of segments (files of the log), and the number of their bytes up to the last transaction.
    package func size() throws -> (segmentCount: Int, byteCount: Int) {
        let end = try reader.scan(makesDurable: true) { _ in }
        return (end.segmentCount, end.byteCount)
    }
}

extension Op {
    /// The values in the op. Omits the values of an `upsert` op, which contains many objects and keeps its values in columns.
    fileprivate var values: [Value] {
        switch self {
        case .insert(_, entity: _, let assignments), .set(_, let assignments): assignments.map(\.value)
        case .clone(let clone): clone.options.rootValues.map(\.value)
        default: []
        }
    }
}

extension Value {
    /// The reason why no attribute can have the value; `nil` if an attribute can have it.
    fileprivate var flaw: String? {
        guard let type = attributeType, let form = StoredForm(self, type: type) else { return nil }
        var check = StoredValueCheck(type)
        return check.flaw(form)
    }
}
