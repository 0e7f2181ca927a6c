import CambiumBytes
package import CambiumModel

/// The requests and the labels in a checkpoint record of format 1. Only a backup that copies such a record writes them.
package struct FirstFormatNames: Sendable {
    let requests: Names
    let labels: Names

    init(_ reader: inout ByteReader) throws(DecodingError) {
        requests = try Names(&reader)
        labels = try Names(&reader)
    }

    func write(to writer: inout ByteWriter) {
        for names in [requests, labels] {
            writer.write(names.count)
            writer.write(UInt32(names.bytes.count))
            writer.write(names.bytes)
        }
    }

    /// The names and the transactions of requests or labels, as a checkpoint record of format 1 stores them.
    struct Names: Sendable {
        let count: UInt32
        let bytes: [UInt8]

        /// Decodes names. Throws if a part of a name is missing, or if bytes follow the last name.
        fileprivate init(_ reader: inout ByteReader) throws(DecodingError) {
            count = try reader.read(UInt32.self)
            let byteCount = Int(try reader.read(UInt32.self))
            bytes = Array(try reader.readBytes(byteCount))
            try forEach { _, _, _ in }
        }

        /// This bit in the length of a name means that a digest of the request follows the name.
        private static let digestBit: UInt32 = 1 << 31

        fileprivate func forEach(
            _ body: (_ name: ArraySlice<UInt8>, TransactionNumber, RequestDigest?) -> Void
        ) throws(DecodingError) {
            var reader = ByteReader(bytes)
            for _ in 0..<count {
                let transaction = TransactionNumber(rawValue: try reader.read(UInt64.self))
                let length = try reader.read(UInt32.self)
                let name = try reader.readBytes(Int(length & ~Self.digestBit))
                let digest = length & Self.digestBit == 0 ? nil : RequestDigest(try reader.readBytes(RequestDigest.byteCount))
                body(name, transaction, digest)
            }
            try reader.finish()
        }
    }

    /// Calls `body` with each request, oldest first. Omits names that are not UTF-8: no store has written such a name.
    package func forEachRequest(_ body: (String, TransactionNumber, RequestDigest?) -> Void) { Self.forEach(requests, body) }

    /// Calls `body` with each label, as `forEachRequest` does.
    package func forEachLabel(_ body: (String, TransactionNumber) -> Void) {
        Self.forEach(labels) { name, number, _ in body(name, number) }
    }

    private static func forEach(_ names: Names, _ body: (String, TransactionNumber, RequestDigest?) -> Void) {
        do throws(DecodingError) {
            try names.forEach { name, number, digest in
                if let name = String(validating: name, as: UTF8.self) { body(name, number, digest) }
            }
        } catch {
            preconditionFailure("Names that were valid when the record was decoded cannot be read: \(error)")
        }
    }
}
