import CambiumJSON
import Testing

@Suite struct `Values of JSON` {
    private static let composed = "\u{E9}"
    private static let decomposed = "e\u{301}"

    @Test func `texts that differ only in their code points are different values`() {
        let (left, right) = (Self.composed, Self.decomposed)
        #expect(JSONValue.string(left) != .string(right))
        #expect(JSONValue.array([.string(left)]) != .array([.string(right)]))
        #expect(JSONValue.object([.init(left, .null)]) != .object([.init(right, .null)]))
        #expect(Set([JSONValue.string(left), .string(right), .string(left)]).count == 2)
        #expect(JSONValue.string("1") != .number("1") && JSONValue.number("1") != .number("1.0"))
    }

    @Test func `a member is found by the bytes of its key`() {
        let value = JSONValue.object([.init(Self.composed, .number("1")), .init(Self.decomposed, .number("2"))])
        #expect(value[Self.composed] == .number("1") && value[Self.decomposed] == .number("2"))
        #expect(JSONValue.object([.init(Self.composed, .null)])[Self.decomposed] == nil)
    }
}
