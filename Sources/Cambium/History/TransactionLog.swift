package import CambiumLog
public import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

/// The transactions of a store, as they are in its log.
public struct TransactionLog {
    private let reader: LogReader

    /// A transaction, and what it took.
    public struct Entry: Sendable {
        public let number: TransactionNumber
        public let metadata: TransactionMetadata
        /// Bytes of log.
        public let byteCount: Int
        private let record: LogRecord

        init(_ record: LogRecord) {
            number = record.number
            metadata = record.metadata
            byteCount = record.byteCount
            self.record = record
        }

        /// Whether what it did was retired, or redacted: only who made it, when and why is left.
        public var isRetired: Bool { if case .redacted = record.payload { true } else { false } }

        /// What it did. Throws `.notFound` where that was redacted, `.damaged` where it cannot be decoded.
        public func ops() throws -> [Op] { try record.ops() }
    }

    /// Throws `.notFound` where there is no store, `.damaged` where its settings cannot be read.
    public init(of path: String) throws(CambiumError) { try self.init(SystemVolume(root: path)) }

    package init(_ volume: any Volume) throws(CambiumError) { reader = try LogReader(volume) }

    /// Calls `body` with every transaction from `first` on, in order.
    ///
    /// Throws `.damaged` where the log is corrupt, after all that verifies before; and what `body` throws.
    public func forEach(from first: TransactionNumber = TransactionNumber(rawValue: 1), _ body: (Entry) throws -> Void) throws {
        try reader.scan(from: first, makesDurable: true) { try body(Entry($0)) }.requireTransaction(in: reader.volume)
    }

    /// Calls `body` with every transaction from `first` on, and then with each that another process commits, as soon as it is seen
    /// and durable, until `body` returns false. The thread sleeps meanwhile.
    ///
    /// Throws as `forEach`.
    ///
    /// - Parameter interval: how long to wait before the log is looked at again.
    public func follow(
        from first: TransactionNumber = TransactionNumber(rawValue: 1), every interval: Duration = .milliseconds(50),
        _ body: (Entry) throws -> Bool
    ) throws {
        struct Stop: Error {}
        var follower = try LogFollower(reader, from: first)
        do {
            while true {
                try follower.advance { if try !body(Entry($0)) { throw Stop() } }
                usleep(UInt32(clamping: interval.microseconds))
            }
        } catch is Stop {}  // That is how it ends.
    }

    /// Segments, and bytes in them up to the last transaction.
    public func size() throws -> (segmentCount: Int, byteCount: Int) {
        let end = try reader.scan(makesDurable: true) { _ in }
        return (end.segmentCount, end.byteCount)
    }
}
