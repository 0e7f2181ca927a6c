/// The bytes of an input as a sequence of choices. After the end of the input, every choice is 0, which is valid if there is anything to
/// choose from.
struct Choices {
    private var bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    var isOver: Bool { bytes.isEmpty }

    mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

    /// Returns an index from 0 to `count` - 1, or 0 if `count` is 0.
    mutating func index(below count: Int) -> Int {
        guard count > 1 else { return 0 }
        return Int(count <= 256 ? UInt64(byte()) : raw(byteCount: 2)) % count
    }

    mutating func isTrue() -> Bool { byte() & 1 == 1 }

    /// Returns `true` for one in 32 values of the next byte, and never after the end of the input.
    mutating func isRare() -> Bool { byte() & 31 == 31 }

    mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.isEmpty ? nil : elements[index(below: elements.count)] }

    mutating func raw(byteCount: Int) -> UInt64 { (0..<byteCount).reduce(0) { $0 | UInt64(byte()) << UInt64(8 * $1) } }

    mutating func bytes(countMax: Int) -> [UInt8] { (0..<index(below: countMax + 1)).map { _ in byte() } }

    /// Returns a small number, a number at a limit, or any number.
    mutating func number() -> UInt64 {
        let limits: [UInt64] = [
            0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 38 - 1, 1 << 38, 1 << 53, 1 << 63 - 1, 1 << 63,
            .max,
        ]
        switch byte() & 3 {
        case 0, 1: return UInt64(byte())
        case 2: return pick(limits) ?? 0
        default: return raw(byteCount: 8)
        }
    }

    /// Returns a text from the input, or one of the listed texts, which often break a rule.
    mutating func text() -> String {
        let texts = [
            "", "a", "red", "{}", "[1]", "\"x\"", "1e400", "{\"a\":1,\"a\":2}", "1,\"flag\":true", "\u{1B}[2J", "\u{2028}\u{202E}",
            "0123456789abcdef0",
            "https://example.org", String(repeating: "long", count: 100), "null", "nul",
        ]
        return isTrue() ? String(decoding: bytes(countMax: 40), as: UTF8.self) : pick(texts) ?? ""
    }
}
