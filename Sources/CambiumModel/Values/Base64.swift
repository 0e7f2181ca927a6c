/// Base64 with padding (RFC 4648, section 4).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    package static func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? alphabet[bits >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns a description of valid base64, for the message about a text that is not base64. The description states the fault.
    static func wanted(insteadOf text: String) -> String {
        let digits = Array(text.utf8.reversed().drop { $0 == UInt8(ascii: "=") })
        if digits.contains(where: { values[Int($0)] == 255 }) { return "a string in base64, of the characters A-Z a-z 0-9 + / and =" }
        let isWhole = text.utf8.count % 4 == 0 && text.utf8.count - digits.count <= 2
        if isWhole { return "a string in base64 whose last character has no stray bits" }
        return "a string in base64, filled up with = to groups of four"
    }

    /// Appends the decoded bytes. If the text is not canonical base64, returns `false`. In that case, some bytes may have been appended.
    static func decode(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) -> Bool {
        guard text.count % 4 == 0 else { return false }
        for start in stride(from: 0, to: text.count, by: 4) {
            let isLast = start + 4 == text.count
            var padding = 0
            if isLast, text[start + 3] == UInt8(ascii: "=") { padding = text[start + 2] == UInt8(ascii: "=") ? 2 : 1 }
            var bits = 0
            for place in 0..<4 - padding {
                let value = values[Int(text[start + place])]
                if value == 255 { return false }
                bits |= Int(value) << (18 - 6 * place)
            }
            if bits & (padding == 2 ? 0xFFFF : padding == 1 ? 0xFF : 0) != 0 { return false }
            for place in 0..<3 - padding { bytes.append(UInt8(truncatingIfNeeded: bits >> (16 - 8 * place))) }
        }
        return true
    }

    /// Returns the bytes of a canonical text; `nil` if the text is not canonical base64.
    package static func bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        return Array(text).withUnsafeBytes({ decode($0, to: &bytes) }) ? bytes : nil
    }
}
