import CambiumModel
import Testing

@Suite struct StoredValueCheckTests {
    private static let nan = Double.nan.bitPattern

    private static let bits: [(AttributeType, UInt64, Bool)] = [
        (.bool, 1, true), (.bool, 2, false), (.int16, 0xFFFF, true), (.int16, 0x1_0000, false),
        (.int32, 1 << 32, false),
        (.int64, .max, true), (.float, UInt64(Float.greatestFiniteMagnitude.bitPattern), true), (.float, 0x7F80_0000, false),
        (.float, 0xFFC0_0000, false), (.double, (-0.0).bitPattern, true), (.double, nan, false), (.double, 0xFFF0 << 48, false),
        (.date, 0, true), (.date, nan, false), (.date, (252_423_993_600.0).bitPattern, false), (.date, (1e300).bitPattern, false),
        (.uuid, .max, true),
    ]

    @Test(arguments: bits)
    func `bits are a value of their type or have a flaw`(type: AttributeType, bits: UInt64, isValue: Bool) {
        #expect((StoredValueCheck(type).flaw(fixed: bits, 0) == nil) == isValue)
        guard let width = type.byteCount, width <= 8, bits >> UInt64(8 * width - 1) <= 1 else { return }
        let bytes = (0..<width).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        var check = StoredValueCheck(type)
        let zeros = [UInt8](repeating: 0, count: width)
        #expect((check.flaw(in: column(.fixed(width: width, bytes: zeros + bytes + zeros), 3)) == nil) == isValue)
    }

    private static let texts: [(AttributeType, String, Bool)] = [
        (.string, "é\0", true), (.uri, "", true), (.json, "{\"a\":[1.50,\" \"]}", true), (.json, "1e5", true),
        (.json, "", false),
        (.json, "{\"a\": 1}", false), (.json, "1\n", false), (.json, "1,\"b\":2", false), (.json, "[1][2]", false),
        (.json, "{\"a\":1,\"a\":2}", false), (.json, "[" + String(repeating: "[", count: 600), false), (.decimal, "\u{1}\0\u{7}", true),
        (.decimal, "\0", true), (.decimal, "\u{1}\0\u{A}", false), (.decimal, "\u{1}\u{7F}\u{A}", true), (.decimal, "\u{3}\0\u{1}", false),
        (.decimal, "\u{1}\0\0\u{1}", false), (.decimal, "", false), (.data, "any", true),
    ]

    @Test(arguments: texts)
    func `a stored value is a value of its type or has a flaw`(type: AttributeType, text: String, isValue: Bool) {
        #expect((flaw(Array(text.utf8), type) == nil) == isValue)
        #expect((columnFlaw([Array(text.utf8)], type) == nil) == isValue)
    }

    @Test(arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x61, 0xE2, 0x82], [0x80], [0xF5, 0x80, 0x80, 0x80]] as [[UInt8]])
    func `bytes that are not UTF-8 are not text`(bytes: [UInt8]) {
        for type in [AttributeType.string, .uri, .json] { #expect(flaw(bytes, type) != nil && columnFlaw([bytes], type) != nil) }
    }

    @Test func `a character that is split between two texts of a column is a flaw`() {
        let character = Array("é".utf8)
        #expect(columnFlaw([character, character, []], .string) == nil)
        #expect(columnFlaw([[0x61, character[0]], [character[1], 0x62]], .string) != nil)
    }

    private func flaw(_ bytes: [UInt8], _ type: AttributeType) -> String? {
        var check = StoredValueCheck(type)
        return bytes.withUnsafeBytes { check.flaw(bytes: $0) }
    }

    private func columnFlaw(_ values: [[UInt8]], _ type: AttributeType) -> String? {
        var check = StoredValueCheck(type)
        let content = AttributeColumn.Content.variable(byteCounts: values.map { UInt32($0.count) }, bytes: values.flatMap { $0 })
        return check.flaw(in: column(content, values.count))
    }

    private func column(_ content: AttributeColumn.Content, _ count: Int) -> AttributeColumn {
        AttributeColumn(property: PropertyNumber(rawValue: 1), presence: [(1 << UInt64(count)) - 1], content: content)
    }
}
