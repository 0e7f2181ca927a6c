import CambiumBytes
public import CambiumModel

/// Requests and the transactions that applied them, as they stand in a root record: there may be a million of them, which nobody looks at
/// before one comes again.
public struct EncodedRequests: Sendable {
    public private(set) var count = 0
    private var writer = ByteWriter()

    public init() {}

    init(_ reader: inout ByteReader) throws(DecodingError) {
        count = Int(try reader.read(UInt32.self))
        let byteCount = Int(try reader.read(UInt32.self))
        writer.write(try reader.readBytes(byteCount))
    }

    var bytes: [UInt8] { writer.bytes }

    public mutating func append(_ request: some Collection<UInt8>, _ transaction: TransactionNumber) {
        writer.write(transaction.rawValue)
        writer.write(UInt32(request.count))
        writer.write(request)
        count += 1
    }

    /// Calls `body` with each, oldest first. Throws where the bytes are not what a writer wrote.
    public func forEach(_ body: (_ request: [UInt8], TransactionNumber) -> Void) throws(DecodingError) {
        var reader = ByteReader(writer.bytes)
        for _ in 0..<count {
            let transaction = TransactionNumber(rawValue: try reader.read(UInt64.self))
            let byteCount = Int(try reader.read(UInt32.self))
            body(Array(try reader.readBytes(byteCount)), transaction)
        }
        try reader.finish()
    }
}
