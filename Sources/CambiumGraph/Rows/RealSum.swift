/// The sum of floating-point numbers. The rounding errors of the additions are summed separately, and added at the end (Neumaier's variant
/// of Kahan's summation).
///
/// Once the running sum exceeds the range of a double, it is kept divided by a power of two. So the result is infinite only if the sum of
/// all numbers exceeds the range.
struct RealSum {
    /// The sum of the numbers, not yet corrected by `correction`. The first addition that uses the divided sum sets this sum to infinity,
    /// so that all further additions use the divided sum, too.
    private var sum = 0.0
    /// The sum of the rounding errors of `sum`.
    private var correction = 0.0
    /// The sum and its rounding errors, divided by `divisor`.
    private var dividedSum = 0.0
    private var dividedCorrection = 0.0

    /// Each call adds a number fewer than 2^128 times. So with this divisor, the sum of fewer than 2^63 calls is always finite.
    private static let divisor = 0x1p256

    @inline(__always) mutating func add(_ number: Double) {
        let next = sum + number
        if !next.isFinite { return addDivided(number / Self.divisor) }
        correction += Self.error(of: next, sum, number)
        sum = next
    }

    /// Adds the product of a number and `times`, even if the product exceeds the range of a double.
    mutating func add(_ number: Double, times: Double) {
        let product = number * times
        // If the product is infinite, the sum would become infinite, too. So the number is divided before it is multiplied.
        if product.isFinite { add(product) } else { addDivided(number / Self.divisor * times) }
    }

    @inline(never) private mutating func addDivided(_ number: Double) {
        if sum.isFinite { (dividedSum, dividedCorrection) = (sum / Self.divisor, correction / Self.divisor) }
        sum = .infinity
        let next = dividedSum + number
        dividedCorrection += Self.error(of: next, dividedSum, number)
        dividedSum = next
    }

    /// Returns the rounding error of an addition. Knuth's algorithm need not compare the two numbers ("The Art of Computer Programming",
    /// volume 2, 4.2.2, theorem B).
    @inline(__always) private static func error(of next: Double, _ sum: Double, _ number: Double) -> Double {
        let added = next - sum
        return (sum - (next - added)) + (number - added)
    }

    /// The sum; infinite if the sum exceeds the range of a double.
    var total: Double { sum.isFinite ? Self.total(sum, correction) : Self.total(dividedSum, dividedCorrection) * Self.divisor }

    /// Returns the sum divided by a number of at least 1. The quotient may be in the range of a double even if the sum is not.
    func mean(of count: Double) -> Double {
        sum.isFinite ? Self.total(sum, correction) / count : Self.total(dividedSum, dividedCorrection) / count * Self.divisor
    }

    private static func total(_ sum: Double, _ correction: Double) -> Double {
        // The rounding error is infinite or NaN if a number of the addition is infinite. Adding this error could make the result NaN.
        sum.isFinite && correction.isFinite ? sum + correction : sum
    }
}
