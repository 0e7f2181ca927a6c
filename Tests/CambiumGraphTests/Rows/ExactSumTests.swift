import CambiumTesting
import Testing

@testable import CambiumGraph

/// Exact sums of doubles, compared with sums of whole numbers of a smallest unit, and with sums whose result is known.
@Suite struct ExactSumTests {
    private func sum(_ numbers: [Double]) -> ExactSum { numbers.reduce(into: ExactSum()) { $0.add($1) } }

    private static let known: [([Double], Double)] = [
        ([1e300, 1, -1e300], 1), ([0.1, 0.2], 0.1 + 0.2), ([], 0), ([-0.0], 0), ([0x1p-1074, 0x1p-1074], 0x1p-1073),
        ([0x1p-1022, -0x1p-1074], 0x1p-1022 - 0x1p-1074), ([0x1p53, 1], 0x1p53), ([0x1p53, 1, 0x1p-60], 0x1p53 + 2),
        ([0x1p53, 3], 0x1p53 + 4),
        ([-0x1p53, -1, -0x1p-60], -0x1p53 - 2), ([1e308, 1e308, -1e308], 1e308), ([1e308, 1e308], .infinity),
        ([-1e308, -1e308], -.infinity),
        ([0x1.fffffffffffffp1023, 0x1p969], 0x1.fffffffffffffp1023), ([0x1.fffffffffffffp1023, 0x1p970], .infinity),
    ]

    @Test(arguments: known)
    func `a sum is rounded once, to the nearest even double`(numbers: [Double], total: Double) {
        #expect(sum(numbers).total.bitPattern == total.bitPattern)
        #expect(sum(numbers.reversed()).total.bitPattern == total.bitPattern)
    }

    @Test func `the order and numbers that were subtracted again leave no trace`() {
        var random = SplitMix64(for: "ExactSumTests")
        for _ in 0..<200 {
            let kept = (0..<20).map { _ in random.finiteDouble() }
            let removed = (0..<20).map { _ in random.finiteDouble() }
            var left = sum(kept.shuffled(using: &random) + removed)
            for number in removed.shuffled(using: &random) { left.subtract(number) }
            #expect(left == sum(kept))
            #expect(left.bytes.withUnsafeBytes { ExactSum($0) } == left)
        }
    }

    @Test func `a sum of whole numbers of one unit equals the sum of these numbers`() {
        var random = SplitMix64(for: "ExactSumTests.whole")
        for _ in 0..<500 {
            let power = Int.random(in: -1000...900, using: &random)
            let numbers = (0..<10).map { _ in
                Int64.random(in: -1 << 53...1 << 53, using: &random) >> Int64.random(in: 0...53, using: &random)
            }
            let unit = Double(sign: .plus, exponent: power, significand: 1)
            let total = Double(numbers.reduce(Int128(0)) { $0 + Int128($1) }) * unit
            #expect(sum(numbers.map { Double($0) * unit }).total == total)
        }
    }

    @Test(arguments: [[], [0, 1], [34, 0, 0, 0, 0, 0, 0, 0, 1], [255], [33] + [UInt8](repeating: 1, count: 16)])
    func `bytes that are not the stored form of a sum are refused`(bytes: [UInt8]) {
        #expect(bytes.withUnsafeBytes { ExactSum($0) } == nil)
    }
}

extension SplitMix64 {
    /// Returns a finite double with random bits.
    fileprivate mutating func finiteDouble() -> Double {
        while true {
            let number = Double(bitPattern: next())
            if number.isFinite { return number }
        }
    }
}
