import CambiumModel
import Testing

@Suite struct `Decimal numbers next to a number` {
    private static let last = "\(String(repeating: "9", count: 38))e127"

    @Test(
        arguments: [
            ("0e999", "0", "0"), ("-12.50", "-12.5", "-12.5"), ("1e165", last, nil), ("-1e165", nil, "-\(last)"),
            ("7e999999999", last, nil),
            ("1e-129", "0", "1e-128"), ("-1e-129", "-1e-128", "0"), ("19e-129", "1e-128", "2e-128"), ("-995e-130", "-10e-128", "-9e-128"),
            ("1e-999999999", "0", "1e-128"),
            ("99999999999999999999999999999999999999e-129", "9999999999999999999999999999999999999e-128", "1e-91"),
        ] as [(String, String?, String?)])
    func `a number lies between two decimal numbers`(_ text: String, _ floor: String?, _ ceiling: String?) throws {
        let bracket = try #require(DecimalBracket(text))
        #expect(bracket.floor == floor.flatMap { DecimalNumber($0) })
        #expect(bracket.ceiling == ceiling.flatMap { DecimalNumber($0) })
    }

    @Test(arguments: ["", "x", "1e", "inf", "nan", "123456789012345678901234567890123456789"])
    func `a text that is not a number of 38 digits has no such numbers`(_ text: String) {
        #expect(DecimalBracket(text) == nil)
    }
}
