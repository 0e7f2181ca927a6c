import CambiumBytes
public import CambiumModel

/// Names of transactions, as they stand in a root record: the requests that they applied, of which there may be a million that nobody
/// looks at before one comes again; and labels.
public struct NamedTransactions: Sendable {
    public private(set) var count = 0
    private var writer = ByteWriter()

    public init() {}

    init(_ reader: inout ByteReader) throws(DecodingError) {
        count = Int(try reader.read(UInt32.self))
        let byteCount = Int(try reader.read(UInt32.self))
        let bytes = try reader.readBytes(byteCount)
        var names = ByteReader(bytes)
        for _ in 0..<count {
            _ = try names.readBytes(8)
            _ = try names.readBytes(Int(try names.read(UInt32.self)))
        }
        try names.finish()
        writer.write(bytes)
    }

    var bytes: [UInt8] { writer.bytes }

    public mutating func append(_ name: some Collection<UInt8>, _ transaction: TransactionNumber) {
        writer.write(transaction.rawValue)
        writer.write(UInt32(name.count))
        writer.write(name)
        count += 1
    }

    /// Calls `body` with each, in the order in which they were appended.
    public func forEach(_ body: (_ name: [UInt8], TransactionNumber) -> Void) throws(DecodingError) {
        var reader = ByteReader(writer.bytes)
        for _ in 0..<count {
            let transaction = TransactionNumber(rawValue: try reader.read(UInt64.self))
            let byteCount = Int(try reader.read(UInt32.self))
            body(Array(try reader.readBytes(byteCount)), transaction)
        }
        try reader.finish()
    }
}
