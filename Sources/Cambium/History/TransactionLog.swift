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

        /// What it did. Throws `.notFound` if that was redacted, `.damaged` if it cannot be decoded or holds a value that no attribute can
        /// have, such as JSON that is not JSON. Whether the ops fit the store that they change is not looked at.
        public func ops() throws -> [Op] {
            let ops = try record.ops()
            for value in ops.lazy.flatMap(\.values) {
                guard let flaw = value.flaw else { continue }
                throw CambiumError(
                    .damaged, "Transaction \(number) holds a value that \(flaw). Run 'cambium verify'.", place: .init(file: record.file))
            }
            return ops
        }
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

extension Op {
    /// The values that it names one by one. Those of blocks are in columns.
    fileprivate var values: [Value] {
        switch self {
        case .insert(_, entity: _, let assignments), .set(_, let assignments): assignments.map(\.value)
        case .clone(let clone): clone.options.rootValues.map(\.value)
        default: []
        }
    }
}

extension Value {
    /// What is wrong with the value, whichever attribute has it; nil for nothing.
    fileprivate var flaw: String? {
        guard let type = widestType, let form = StoredForm(self, type: type) else { return nil }
        var check = StoredValueCheck(type)
        return check.flaw(form)
    }

    /// The type that has all values of this kind; nil for null.
    private var widestType: AttributeType? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int: .int64
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .data: .data
        case .date: .date
        case .uuid: .uuid
        case .uri: .uri
        case .json: .json
        }
    }
}
