import CambiumBytes
public import CambiumModel

extension QueryCursor: CustomStringConvertible {
    /// The cursor as hexadecimal digits. The last four bytes are a checksum.
    public var description: String {
        var bytes: [UInt8] = [Self.version]
        for word in [order, serial] {
            for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
        }
        bytes += key
        let checksum = Self.checksum(bytes[...])
        for shift in stride(from: 24, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: checksum >> UInt32(shift))) }
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let version: UInt8 = 2
    private static let headerByteCount = 17
    private static let checksumByteCount = 4

    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        UInt32(truncatingIfNeeded: bytes.withUnsafeBytes { XXH3.hash64($0, seed: 0) })
    }

    /// Parses the text of a cursor. Throws `.invalidInput` if the text is malformed, cut short or altered.
    ///
    /// A sort key is as long as the values that it contains, so there is no maximum length. The cursor takes half as much memory as the
    /// text.
    public init(parsing text: String) throws(CambiumError) {
        let digits = Array(text.utf8)
        guard digits.count >= 2 * (Self.headerByteCount + Self.checksumByteCount), digits.count.isMultiple(of: 2),
            let bytes = Self.bytes(digits), bytes[0] == Self.version
        else { throw Self.malformed }
        let content = bytes.dropLast(Self.checksumByteCount)
        guard bytes.suffix(Self.checksumByteCount).reduce(0, { $0 << 8 | UInt32($1) }) == Self.checksum(content) else {
            throw CambiumError(.invalidInput, "The cursor was cut short or altered. Pass the whole text of an answer's cursor.")
        }
        func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        let serial = word(9)
        guard serial <= ObjectID.serialMax else { throw Self.malformed }
        self.init(key: Array(content[Self.headerByteCount...]), serial: serial, order: word(1))
    }

    private static var malformed: CambiumError {
        CambiumError(.invalidInput, "The text is not a cursor. Pass the cursor of an earlier answer.")
    }

    private static func bytes(_ digits: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        for start in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[start]), let low = value(digits[start + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension SortSpecification {
    /// Returns a hash of everything that determines the bytes of the keys: the entity, the sort keys, and the types of their values.
    func hash(of query: Query) -> UInt64 {
        let names = zip(query.sort, keys).map { sort, key in "\(sort) \(key.reader.type?.rawValue ?? key.reader.kind.text)" }
        let text = ([query.entity] + names).joined(separator: "\n")
        return Array(text.utf8).withUnsafeBytes { XXH3.hash64($0, seed: 0) }
    }
}
