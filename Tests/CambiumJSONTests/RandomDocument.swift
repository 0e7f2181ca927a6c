import CambiumTesting

/// Random JSON texts, and random changes to them.
enum RandomDocument {
    private static let scalars = [
        "0", "-1", "12.5e-3", "true", "false", "null", "\"\"", "\"text\"", "\"\\n\\u00e9\\\\\"", "\"\\ud83d\\ude00\"",
        "\"\u{E9}\u{20AC}\u{1F600}\"", "[]", "{}",
    ]
    private static let spaces = ["", "", "", " ", "\n", "\t\r\n "]

    /// Returns a valid document of about `byteCount` bytes.
    static func text(of byteCount: Int, _ random: inout SplitMix64) -> [UInt8] {
        Array(value(byteCount, depth: 0, &random).utf8)
    }

    private static func value(_ byteCount: Int, depth: Int, _ random: inout SplitMix64) -> String {
        if byteCount < 12 || depth > 20 { return scalars.randomElement(using: &random) ?? "0" }
        let isObject = Bool.random(using: &random)
        var parts: [String] = []
        var left = byteCount - 2
        while left > 0 {
            let size = Int.random(in: 1...left, using: &random)
            let element = value(size, depth: depth + 1, &random)
            let space = spaces.randomElement(using: &random) ?? ""
            parts.append(isObject ? "\(space)\"key\(parts.count)\"\(space):\(element)\(space)" : space + element + space)
            left -= max(1, parts[parts.count - 1].utf8.count)
        }
        return (isObject ? "{" : "[") + parts.joined(separator: ",") + (isObject ? "}" : "]")
    }

    static func mutate(_ text: inout [UInt8], _ random: inout SplitMix64) {
        let special = Array("{}[]:,\"\\u0e-. \n".utf8) + [0, 0x1F, 0x80, 0xC3, 0xED, 0xF4, 0xFF]
        let place = Int.random(in: 0...text.count, using: &random)
        let byte = special.randomElement(using: &random) ?? 0
        switch Int.random(in: 0..<6, using: &random) {
        case 0 where place < text.count: text[place] = UInt8(truncatingIfNeeded: random.next())
        case 1 where place < text.count: text[place] = byte
        case 2: text.insert(byte, at: place)
        case 3 where place < text.count: text.remove(at: place)
        case 4: text.removeLast(text.count - place)
        default:
            let end = Int.random(in: place...text.count, using: &random)
            text.insert(contentsOf: text[place..<end], at: place)
        }
    }
}
