import CambiumModel
import Testing

@Suite struct `Sums of decimal numbers` {
    private static let nines = String(repeating: "9", count: 38)

    private func sum(_ numbers: [String], times: Int128 = 1) throws -> DecimalSum {
        var sum = DecimalSum()
        for number in numbers { sum.add(try #require(DecimalNumber(number)), times: times) }
        return sum
    }

    @Test(
        arguments: [
            ([], "0"), (["0"], "0"), (["1.5", "-1.5"], "0"), (["0.1", "0.2"], "0.3"), ([nines, "1"], "1E38"),
            ([nines, nines, "2"], "2E38"),
            (["95e36", "95e36"], "1.9E38"), ([nines, nines, "-\(nines)", "-\(nines)"], "0"), (["1e127", "1e-128", "-1e127"], "1E-128"),
            (["-1e164", "-1e-128", "1e164"], "-1E-128"), (["1e100", "7", "-1e100", "-8.25"], "-1.25"),
            (["9e164", "9e164", "-9e164"], "9E164"),
        ] as [([String], String)])
    func `a sum is exact in both directions`(_ numbers: [String], _ expected: String) throws {
        let expected = try #require(DecimalNumber(expected))
        for numbers in [numbers, numbers.reversed(), numbers.sorted()] {
            #expect(try sum(numbers).number == expected)
            #expect(try sum(numbers).real == Double(expected.description))
        }
    }

    @Test(
        arguments: [
            (["1e38", "1"], 1e38), ([nines, "0.1"], 1e38), (["1e30", "1e-30"], 1e30), (["9e164", "1e164"], 1e165),
            (["-1e164", "-9e164"], -1e165), (["1", "1e-128"], 1.0), (["9007199254740993", "1e-100"], 0x20_0000_0000_0002p0),
            (["9007199254740993", "-1e-100"], 0x1p53),
        ] as [([String], Double)])
    func `a sum of more than 38 digits has the nearest double`(_ numbers: [String], _ expected: Double) throws {
        for numbers in [numbers, numbers.reversed()] {
            #expect(try sum(numbers).number == nil)
            #expect(try sum(numbers).real == expected)
        }
    }

    @Test(
        arguments: [
            (["0.1", "0.2", "0.3"], 3, 0.2), (["15.47"], 20, 0.7735), (["-0.6"], 3, -0.2), (["0"], 7, 0), (["3e15"], 3, 1e15),
            (["7406021713088757.4247"], 17, 435_648_336_064_044.56), (["1e-30"], 3, 3.3333333333333333e-31),
            (["-1e-128"], 3, -3.3333333333333335e-129), (["9e164", "1e164", "1"], 3, 3.333333333333333e164),
            ([nines, nines], 3, 6.6666666666666665e37),
            ([nines], .max, 5421010862427522170.3),
        ] as [([String], UInt64, Double)])
    func `a mean is rounded only once`(_ numbers: [String], _ count: UInt64, _ expected: Double) throws {
        #expect(try sum(numbers).mean(of: count) == expected)
    }

    @Test func `a number may occur many times`() throws {
        #expect(try sum(["1.5"], times: 0).number == .zero)
        #expect(try sum(["1.5"], times: 1_000_000).number == DecimalNumber(1_500_000))
        #expect(try sum(["1e-100"], times: .max).number == nil)
        #expect(try sum(["1e-100", "-1e-100"], times: .max).number == .zero)
        #expect(try sum([Self.nines + "e127"], times: .max).real == Double(Int128.max) * 1e165)
    }

    @Test(arguments: [0, 1, -1, Int128(Int64.min) - 1, .max, .min])
    func `a whole number is added exactly`(_ number: Int128) throws {
        var sum = DecimalSum()
        sum.add(whole: number)
        #expect(sum.real == Double(number))
        sum.add(try #require(DecimalNumber("0.25")))
        sum.add(whole: ~number)
        #expect(sum.number == DecimalNumber("-0.75"))
    }
}
