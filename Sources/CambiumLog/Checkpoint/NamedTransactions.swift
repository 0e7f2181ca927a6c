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
            let length = try names.read(UInt32.self)
            _ = try names.readBytes(Int(length & ~Self.digestBit))
            if length & Self.digestBit != 0 { _ = try names.readBytes(RequestDigest.byteCount) }
        }
        try names.finish()
        writer.write(bytes)
    }

    var bytes: [UInt8] { writer.bytes }

    /// The bit of a length that says that a digest of what the request asked for follows the name.
    private static let digestBit: UInt32 = 1 << 31

    public mutating func append(_ name: some Collection<UInt8>, _ transaction: TransactionNumber, _ digest: RequestDigest? = nil) {
        writer.write(transaction.rawValue)
        writer.write(UInt32(name.count) | (digest == nil ? 0 : Self.digestBit))
        writer.write(name)
        if let digest { writer.write(digest.bytes) }
        count += 1
    }

    /// Calls `body` with each, in the order in which they were appended.
    public func forEach(_ body: (_ name: [UInt8], TransactionNumber, RequestDigest?) -> Void) throws(DecodingError) {
        var reader = ByteReader(writer.bytes)
        for _ in 0..<count {
            let transaction = TransactionNumber(rawValue: try reader.read(UInt64.self))
            let length = try reader.read(UInt32.self)
            let name = Array(try reader.readBytes(Int(length & ~Self.digestBit)))
            let digest = length & Self.digestBit == 0 ? nil : RequestDigest(try reader.readBytes(RequestDigest.byteCount))
            body(name, transaction, digest)
        }
        try reader.finish()
    }
}
