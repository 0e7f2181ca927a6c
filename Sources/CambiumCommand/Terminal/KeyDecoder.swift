/// Decodes keys from the bytes that a terminal sends: UTF-8, control characters, and the escape sequences of xterm (ECMA-48).
struct KeyDecoder {
    private static let escape: UInt8 = 0x1B
    /// The maximum number of bytes of an escape sequence. A longer sequence is dropped.
    private static let byteCountMax = 32

    /// The bytes of an unfinished key.
    private var bytes: [UInt8] = []

    /// Adds a byte. Returns the key that the byte completes, or `nil` if the key is still incomplete.
    mutating func push(_ byte: UInt8) -> Key? {
        // The escape key sends ESC, with which the sequence of the next key also begins. So repeated ESC bytes count as one.
        if byte == Self.escape, bytes == [Self.escape] { return nil }
        bytes.append(byte)
        guard let key = key() else {
            if bytes.count < Self.byteCountMax { return nil }
            bytes.removeAll()
            return .unknown
        }
        bytes.removeAll()
        return key
    }

    private func key() -> Key? {
        switch bytes[0] {
        case Self.escape: bytes.count == 1 ? nil : sequence()
        case 0x09: .tab
        case 0x0A, 0x0D: .enter
        case 0x08, 0x7F: .backspace
        case 0x00..<0x20: bytes[0] < 0x1B && bytes[0] > 0 ? .control(Character(Unicode.Scalar(bytes[0] + 0x60))) : .unknown
        default: character()
        }
    }

    /// Returns the key of an escape sequence, or `nil` if the sequence is unfinished.
    private func sequence() -> Key? {
        switch bytes[1] {
        case UInt8(ascii: "["), UInt8(ascii: "O"):
            guard bytes.count > 2, let last = bytes.last else { return nil }
            guard (0x40...0x7E).contains(last) else { return nil }
            return Self.named(last, parameters: String(decoding: bytes[2..<bytes.count - 1], as: UTF8.self))
        case UInt8(ascii: "b"): return .wordLeft
        case UInt8(ascii: "f"): return .wordRight
        case UInt8(ascii: "d"): return .deleteWord
        case 0x7F: return .control("w")
        default: return .unknown
        }
    }

    private static func named(_ last: UInt8, parameters: String) -> Key {
        let hasModifier = parameters.hasPrefix("1;")
        return switch (last, parameters) {
        case (UInt8(ascii: "A"), _): .up
        case (UInt8(ascii: "B"), _): .down
        case (UInt8(ascii: "C"), _): hasModifier ? .wordRight : .right
        case (UInt8(ascii: "D"), _): hasModifier ? .wordLeft : .left
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): .home
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): .end
        case (UInt8(ascii: "~"), "3"): .delete
        default: .unknown
        }
    }

    /// Returns the character that the bytes encode, or `nil` if bytes are still missing.
    private func character() -> Key? {
        let count =
            switch bytes[0] {
            case 0xC2..<0xE0: 2
            case 0xE0..<0xF0: 3
            case 0xF0..<0xF5: 4
            default: 1
            }
        if bytes.count < count { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else { return .unknown }
        return .character(character)
    }
}
