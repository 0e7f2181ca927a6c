/// Bytes as a text of lower-case hexadecimal digits.
package enum HexText {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(HexPacking.digits[Int(byte >> 4)])
            text.append(HexPacking.digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes a text that `encode` returned. Returns `nil` if `text` does not consist of pairs of lower-case hexadecimal digits.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 2 == 0, digits.allSatisfy({ HexPacking.values[Int($0)] < 16 }) else { return nil }
        return HexPacking.pack(digits)
    }
}

/// The packed form of a text of lower-case hexadecimal digits: two digits in each byte.
package enum HexPacking {
    package static let digits = Array("0123456789abcdef".utf8)
    /// The value of each lower-case hexadecimal digit; 255 for every other character.
    package static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        return values
    }()

    package static func isHex(_ text: [UInt8]) -> Bool {
        text.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) }
    }

    package static func pack(_ text: [UInt8]) -> [UInt8] {
        let values = values
        if text.isEmpty { return [] }  // The initializer below would write to the memory that all empty arrays share.
        return [UInt8](unsafeUninitializedCapacity: (text.count + 1) / 2) { buffer, done in
            for index in 0..<text.count / 2 {
                buffer[index] = values[Int(text[2 * index])] << 4 | values[Int(text[2 * index + 1])]
            }
            if let last = text.last, text.count % 2 == 1 { buffer[text.count / 2] = values[Int(last)] << 4 }
            done = (text.count + 1) / 2
        }
    }

    package static func unpack(_ packed: ArraySlice<UInt8>, count: Int) -> [UInt8] {
        let digits = digits
        if count == 0 { return [] }  // The initializer below would write to the memory that all empty arrays share.
        return packed.withUnsafeBytes { packed in
            [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
                for index in 0..<count {
                    let byte = packed[index / 2]
                    buffer[index] = digits[Int(index % 2 == 0 ? byte >> 4 : byte & 15)]
                }
                done = count
            }
        }
    }
}
