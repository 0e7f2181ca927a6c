import CambiumModel
import CambiumTesting
import Foundation
import Testing

@Suite struct `Decimal numbers` {
    static let nines = String(repeating: "9", count: 38)

    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("0.000", "0"), ("0E999999", "0"), ("1", "1"), ("-1", "-1"), ("10", "10"), ("1.0", "1"), ("1.50", "1.5"),
        ("-0.05", "-0.05"), ("00.5", "0.5"),
        ("100e-2", "1"), ("1e2", "100"), ("1E+2", "100"), ("12.34e1", "123.4"), ("12.34e-5", "0.0001234"),
        ("1000000.000001", "1000000.000001"), (nines, nines), ("-\(nines)", "-\(nines)"),
        ("0.\(nines)", "0.\(nines)"), ("1e59", "1" + String(repeating: "0", count: 59)), ("1e60", "1E60"),
        ("1e-58", "0." + String(repeating: "0", count: 57) + "1"), ("1e-59", "1E-59"),
        ("34028236692093846346337460743176821145", "34028236692093846346337460743176821145"), ("9.87654321e-100", "987654321E-108"),
        ("1e-128", "1E-128"), ("1e127", "1E127"),
        ("1" + String(repeating: "0", count: 60) + "e-60", "1"),
        ("0." + String(repeating: "0", count: 50) + "1", "0." + String(repeating: "0", count: 50) + "1"),
    ])
    func `a number is normalized, and its description reads back`(_ text: String, _ description: String) throws {
        let number = try #require(DecimalNumber(text))
        #expect(number.description == description)
        #expect(DecimalNumber(description) == number)
        #expect(DecimalNumber(storedBytes: number.storedBytes) == number)
    }

    @Test(arguments: [
        "", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "e5", "--1", "1-", "1 ", " 1", "1,5", "0x10", "1_0", "NaN", "inf", "1.2.3", "1e5.0",
        "\u{661}", "1\0",
        // More than 38 significant digits.
        "1" + nines, nines + ".5", "1" + String(repeating: "0", count: 37) + "1", "0.1" + String(repeating: "0", count: 37) + "1",
        // Powers of ten out of range.
        "1e-129", "1e165", "1e999999999999999999999", "1e-999999999999999999999", "\(nines)e128",
    ])
    func `text that is not a number of up to 38 digits is refused`(_ text: String) {
        #expect(DecimalNumber(text) == nil)
    }

    @Test(arguments: 1...38)
    func `a number of up to 38 digits keeps all digits`(_ count: Int) throws {
        for digit in ["1", "3", "4", "9"] {
            let text = String(repeating: digit, count: count)
            #expect(try #require(DecimalNumber(text)).description == text)
            #expect(try #require(DecimalNumber("-0." + text)).description == "-0." + text)
        }
    }

    @Test(arguments: [(128, 37), (140, 25), (164, 1)])
    func `a power of ten above 127 is stored in the digits`(_ exponent: Int, _ digitCount: Int) throws {
        let number = try #require(DecimalNumber("1e\(exponent)"))
        #expect(number.exponent == 127)
        #expect(DecimalNumber(number.description) == number)
        #expect(DecimalNumber(storedBytes: number.storedBytes) == number)
        #expect(DecimalNumber(String(repeating: "7", count: digitCount) + "e\(exponent)") != nil)
        #expect(DecimalNumber(String(repeating: "7", count: digitCount + 1) + "e\(exponent)") == nil)
    }

    @Test func `a power of ten beyond all numbers is refused`() {
        for exponent in [Int.max, Int.min, 257, -257, 200, -200] {
            #expect(DecimalNumber(negative: false, coefficient: 10, exponent: exponent) == nil)
        }
        #expect(DecimalNumber(negative: true, coefficient: 0, exponent: .max) == .zero)
    }

    static let samples = [
        "-1e130", "-\(nines)e127", "-\(nines)", "-1000", "-999.9", "-10.1", "-10", "-9.99", "-1", "-0.5", "-0.05", "-1e-128", "0", "1e-128",
        "2e-128", "0.0999", "0.1", "0.10001",
        "0.11", "1", "1.5", "9", "10", "10.5", "11", "99", "100", "101", "1e40", "1e127", "1e130", "1001e127", "\(nines)e127",
    ]

    @Test(arguments: samples)
    func `numbers have the order of their doubles`(_ text: String) throws {
        let number = try #require(DecimalNumber(text))
        let double = try #require(Double(text))
        for other in Self.samples {
            #expect(try (number < #require(DecimalNumber(other))) == (double < #require(Double(other))), "\(text) and \(other)")
        }
    }

    @Test func `the last of 38 digits decides the order`() throws {
        let less = try #require(DecimalNumber(String(repeating: "9", count: 37) + "8"))
        let more = try #require(DecimalNumber(Self.nines))
        #expect(less < more)
        #expect(try #require(DecimalNumber("-\(Self.nines)")) < #require(DecimalNumber("-" + less.description)))
    }

    @Test(arguments: samples)
    func `a number is the same as a decimal of Foundation`(_ text: String) throws {
        let number = try #require(DecimalNumber(text))
        #expect(DecimalNumber(Decimal(number)) == number)
        #expect(Decimal(number) == Decimal(string: number.description))
    }

    @Test func `numbers add, subtract and multiply exactly`() throws {
        func number(_ text: String) throws -> DecimalNumber { try #require(DecimalNumber(text)) }
        #expect(try number("0.1") + number("0.2") == number("0.3"))
        #expect(try number("19.99") * number("3") == number("59.97"))
        #expect(try number("1") - number("1.000001") == number("-0.000001"))
        #expect(try number(Self.nines) + number("1") == number("1e38"))
    }

    @Test func `a decimal of 39 digits is rounded, and one that is not a number has no number`() throws {
        let digits = String(repeating: "3", count: 38)
        #expect(try DecimalNumber(#require(Decimal(string: digits + "5"))) == DecimalNumber(digits.dropLast() + "4e1"))
        #expect(DecimalNumber(Decimal.nan) == nil)
        // 39 digits and the power of ten 127: the rounded number would have the power 128.
        #expect(DecimalNumber(Decimal.greatestFiniteMagnitude) == nil)
        #expect(try DecimalNumber(#require(Decimal(string: digits + "E127"))) == DecimalNumber(digits + "e127"))
    }

    @Test func `random numbers of one scale have the order of whole numbers`() throws {
        var random = SplitMix64(for: "order of decimal numbers")
        for _ in 0..<5000 {
            let values = (0..<2).map { _ in Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<63, using: &random) }
            let numbers = try values.map { try #require(DecimalNumber("\($0)e-7")) }
            #expect((numbers[0] < numbers[1]) == (values[0] < values[1]))
            #expect((numbers[0] == numbers[1]) == (values[0] == values[1]))
        }
    }

    @Test(arguments: [Int64.min, -100, -1, 0, 1, 7, 10, 1000, 1_234_567_890, .max])
    func `a whole number equals the number of its text`(_ value: Int64) {
        #expect(DecimalNumber(value) == DecimalNumber(String(value)))
        #expect(DecimalNumber(value).description == String(value))
    }

    // MARK: Stored bytes

    @Test(
        arguments: [
            ("0", [0]), ("1", [1, 0, 1]), ("-1", [2, 0, 1]), ("100", [1, 2, 1]), ("0.01", [1, 0xFE, 1]), ("256", [1, 0, 1, 0]),
            ("-2.57", [2, 0xFE, 1, 1]), ("1e-128", [1, 0x80, 1]),
            ("1e127", [1, 0x7F, 1]),
        ] as [(String, [UInt8])])
    func `the stored bytes are a sign, a power of ten and a coefficient`(_ text: String, _ bytes: [UInt8]) {
        #expect(DecimalNumber(text)?.storedBytes == bytes)
    }

    @Test(
        arguments: [
            [], [1], [2], [1, 0], [0, 0], [0, 0, 1], [3, 0, 1], [255, 0, 1], [1, 0, 0], [1, 0, 0, 5], [1, 0, 10], [1, 0, 100], [2, 5, 0],
            [1, 0] + [UInt8](repeating: 255, count: 16),
            [1, 0] + [UInt8](repeating: 1, count: 17),
            [1, 0, 0x4B, 0x3B, 0x4C, 0xA8, 0x5A, 0x86, 0xC4, 0x7A, 0x09, 0x8A, 0x22, 0x40, 0, 0, 0, 0],
        ] as [[UInt8]])
    func `bytes that are not canonical are refused`(_ bytes: [UInt8]) {
        #expect(DecimalNumber(storedBytes: bytes) == nil)
    }

    @Test func `random bytes are refused or are the stored bytes of a number`() {
        var random = SplitMix64(for: "stored bytes of decimal numbers")
        for _ in 0..<20_000 {
            let bytes = [UInt8.random(in: 0...3, using: &random)] + random.bytes(Int.random(in: 0...18, using: &random))
            if let number = DecimalNumber(storedBytes: bytes) { #expect(number.storedBytes == bytes) }
        }
    }
}
