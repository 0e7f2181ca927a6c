/// Characters that a terminal obeys or a viewer hides, in UTF-8. For example, ESC starts a terminal command, and U+202E reverses the
/// direction of text.
///
/// These characters are the C0 and C1 controls, DEL, the line and paragraph separators, and the bidirectional controls.
package enum ControlText {
    /// Returns the number of bytes of the control character at `index`, or 0 if another character begins there.
    @inline(__always)
    static func byteCount(_ utf8: UnsafeRawBufferPointer, at index: Int) -> Int {
        let byte = utf8[index]
        if byte < 0x20 || byte == 0x7F { return 1 }
        if byte < 0xC2 { return 0 }
        return wideByteCount(utf8, at: index)
    }

    private static func wideByteCount(_ utf8: UnsafeRawBufferPointer, at index: Int) -> Int {
        let second = index + 1 < utf8.count ? utf8[index + 1] : 0
        let third = index + 2 < utf8.count ? utf8[index + 2] : 0
        switch (utf8[index], second, third) {
        case (0xC2, 0x80...0x9F, _): return 2  // C1
        case (0xD8, 0x9C, _): return 2  // U+061C
        case (0xE2, 0x80, 0x8E...0x8F), (0xE2, 0x80, 0xA8...0xAE), (0xE2, 0x81, 0xA6...0xA9): return 3  // U+200E... U+2028... U+2066...
        default: return 0
        }
    }

    /// Returns the text with each control character as an escape, such as `\u{1B}`. Complexity: O(bytes).
    package static func escaped(_ text: String) -> String {
        var text = text
        return text.withUTF8 { utf8 in
            let bytes = UnsafeRawBufferPointer(utf8)
            guard bytes.indices.contains(where: { byteCount(bytes, at: $0) > 0 }) else { return nil }
            return escaped(bytes)
        } ?? text
    }

    private static func escaped(_ utf8: UnsafeRawBufferPointer) -> String {
        var output = ""
        var (plain, index) = (0, 0)
        while index < utf8.count {
            let count = byteCount(utf8, at: index)
            if count > 0 {
                output += String(decoding: utf8[plain..<index], as: UTF8.self) + escape(scalar(utf8, at: index, count))
                plain = index + count
            }
            index += max(1, count)
        }
        return output + String(decoding: utf8[plain...], as: UTF8.self)
    }

    private static func escape(_ scalar: UInt32) -> String {
        switch scalar {
        case 0x09: "\\t"
        case 0x0A: "\\n"
        case 0x0D: "\\r"
        default: "\\u{" + String(scalar, radix: 16, uppercase: true) + "}"
        }
    }

    /// Returns the code point of the control character at `index`, which has `byteCount` bytes.
    static func scalar(_ utf8: UnsafeRawBufferPointer, at index: Int, _ byteCount: Int) -> UInt32 {
        let first = UInt32(utf8[index])
        if byteCount == 1 { return first }
        let second = UInt32(utf8[index + 1] & 0x3F)
        if byteCount == 2 { return (first & 0x1F) << 6 | second }
        return (first & 0x0F) << 12 | second << 6 | UInt32(utf8[index + 2] & 0x3F)
    }
}
