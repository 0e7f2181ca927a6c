/// Writing strings. Most strings need no escapes, so runs of plain characters are found eight bytes at a time.
extension JSONWriter {
    mutating func quote(_ value: String) {
        var value = value
        value.withUTF8 { quote(UnsafeRawBufferPointer($0)) }
    }

    mutating func quote(_ utf8: UnsafeRawBufferPointer) {
        bytes.append(UInt8(ascii: "\""))
        appendEscaped(utf8, isQuoted: true)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends text, with escapes for the characters that need them.
    ///
    /// - Parameter isQuoted: Whether the bytes are the content of a string. If not, they are JSON text, in which quotes and line ends are
    ///   not escaped.
    @inline(__always)
    mutating func appendEscaped(_ utf8: UnsafeRawBufferPointer, isQuoted: Bool) {
        var (plain, index) = (0, 0)
        let count = utf8.count
        while index < count {
            if index &+ 8 <= count, Self.isPlain(utf8.loadUnaligned(fromByteOffset: index, as: UInt64.self)) {
                index &+= 8
                continue
            }
            let end = min(index &+ 8, count)
            while index < end {
                let escapedCount = escapedCount(utf8, index, isQuoted)
                if escapedCount == 0 {
                    index &+= 1
                    continue
                }
                bytes.append(contentsOf: utf8[plain..<index])
                escape(ControlText.scalar(utf8, at: index, escapedCount))
                index &+= escapedCount
                plain = index
            }
        }
        bytes.append(contentsOf: utf8[plain...])
    }

    /// Whether eight bytes contain nothing to escape: no quote, no backslash, no control character, and no byte that begins a control
    /// character beyond ASCII.
    @inline(__always)
    private static func isPlain(_ word: UInt64) -> Bool {
        let low = (word &- ones &* 0x20) & ~word
        let found = low | zeros(word, 0x22) | zeros(word, 0x5C) | zeros(word, 0x7F)
        if word & tops == 0 { return found & tops == 0 }
        return (found | zeros(word, 0xC2) | zeros(word, 0xD8) | zeros(word, 0xE2)) & tops == 0
    }

    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var tops: UInt64 { 0x8080_8080_8080_8080 }

    /// Returns a word in which the top bit of each byte is set if the byte at the same position in `word` equals `byte`. The top bits of
    /// bytes after a match may also be set. These bits do not change the result of `isPlain`, because the match alone makes the result
    /// `false`.
    @inline(__always)
    private static func zeros(_ word: UInt64, _ byte: UInt64) -> UInt64 {
        let difference = word ^ (ones &* byte)
        return (difference &- ones) & ~difference
    }

    /// Returns the number of bytes at `index` that must be replaced by one escape, or 0 if the byte needs no escape.
    @inline(__always)
    private func escapedCount(_ utf8: UnsafeRawBufferPointer, _ index: Int, _ isQuoted: Bool) -> Int {
        let byte = utf8[index]
        if byte < 0x7F {
            return isQuoted && (byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")) ? 1 : 0
        }
        return escapes == .controls ? ControlText.byteCount(utf8, at: index) : 0
    }

    private mutating func escape(_ scalar: UInt32) {
        bytes.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22, 0x5C: bytes.append(UInt8(scalar))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            bytes.append(UInt8(ascii: "u"))
            for shift in [12, 8, 4, 0] { bytes.append(Self.digit(scalar >> UInt32(shift) & 15)) }
        }
    }

    private static func digit(_ value: UInt32) -> UInt8 { UInt8(value < 10 ? 0x30 + value : 0x57 + value) }
}
