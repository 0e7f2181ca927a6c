/// An exact sum of decimal numbers. The order of the additions does not matter, even if an intermediate sum has too many digits for a
/// decimal number.
package struct DecimalSum: Sendable {
    /// The sum of the numbers that could be added without exceeding 38 digits.
    private var small = DecimalNumber.zero
    /// The sum of the numbers that could not be added to `small`: a whole number of units of 10^-128, in two's complement, the lowest word
    /// first. It is empty if all numbers were added to `small`.
    private var words: [UInt64] = []

    /// A number is less than 10^38 x 10^(127 + 128) units, so it has at most 974 bits. A sum has fewer than 2^63 numbers, each of which
    /// occurs fewer than 2^127 times. So 1,164 bits and a sign suffice.
    private static let wordCount = 19
    /// The exponent of the greatest power of ten that fits into a word.
    private static let wordDigits = 19
    /// 10^`wordDigits`.
    private static let wordPower: UInt64 = 10_000_000_000_000_000_000

    package init() {}

    /// Adds a number `times` times. `times` must not be negative.
    package mutating func add(_ number: DecimalNumber, times: Int128 = 1) {
        if let product = number.multiplied(by: times.magnitude), let sum = small.adding(product) {
            small = sum
        } else {
            addWords(number.coefficient, times.magnitude, exponent: number.exponent, isNegative: number.isNegative)
        }
    }

    /// Subtracts a number that was added before.
    package mutating func subtract(_ number: DecimalNumber) {
        // Every number has a negative with as many digits.
        if let negative = DecimalNumber(negative: !number.isNegative, coefficient: number.coefficient, exponent: number.exponent) {
            add(negative)
        }
    }

    /// Adds a whole number.
    package mutating func add(whole number: Int128) {
        if let number = Int64(exactly: number) { return add(DecimalNumber(number)) }
        addWords(number.magnitude, 1, exponent: 0, isNegative: number < 0)
    }

    /// The sum, or `nil` if it has more digits than a decimal number can have.
    package var number: DecimalNumber? { words.isEmpty ? small : DecimalNumber(text) }

    /// The double that is nearest to the sum.
    package var real: Double { Double(words.isEmpty ? small.description : text) ?? 0 }

    // MARK: Words

    private mutating func addWords(_ coefficient: UInt128, _ times: UInt128, exponent: Int, isNegative: Bool) {
        if words.isEmpty { words = [UInt64](repeating: 0, count: Self.wordCount) }
        var product = [UInt64](repeating: 0, count: Self.wordCount)
        let (high, low) = coefficient.multipliedFullWidth(by: times)
        (product[0], product[1]) = (UInt64(truncatingIfNeeded: low), UInt64(truncatingIfNeeded: low >> 64))
        (product[2], product[3]) = (UInt64(truncatingIfNeeded: high), UInt64(truncatingIfNeeded: high >> 64))
        var power = exponent - DecimalNumber.exponentRange.lowerBound
        while power > 0 {
            let digits = min(power, Self.wordDigits)
            Self.multiply(&product, by: (0..<digits).reduce(UInt64(1)) { power, _ in power * 10 })
            power -= digits
        }
        Self.add(product, to: &words, isNegative: isNegative)
    }

    private static func multiply(_ words: inout [UInt64], by factor: UInt64) {
        var carry: UInt64 = 0
        for index in words.indices {
            let product = UInt128(words[index]) * UInt128(factor) + UInt128(carry)
            words[index] = UInt64(truncatingIfNeeded: product)
            carry = UInt64(truncatingIfNeeded: product >> 64)
        }
    }

    /// Adds or subtracts a magnitude. To subtract, the function adds the two's complement of the magnitude.
    private static func add(_ magnitude: [UInt64], to sum: inout [UInt64], isNegative: Bool) {
        var carry: UInt128 = isNegative ? 1 : 0
        for index in sum.indices {
            let word = UInt128(sum[index]) + UInt128(isNegative ? ~magnitude[index] : magnitude[index]) + carry
            sum[index] = UInt64(truncatingIfNeeded: word)
            carry = word >> 64
        }
    }

    /// The whole sum as a text of digits and a power of ten, such as `12E-128`.
    private var text: String {
        let (isNegative, words) = magnitude
        return "\(isNegative ? "-" : "")0\(Self.digits(words))E\(DecimalNumber.exponentRange.lowerBound)"
    }

    /// The whole sum without its sign, in units of 10^-128, and whether the sum is negative.
    private var magnitude: (isNegative: Bool, words: [UInt64]) {
        var sum = self
        sum.addWords(small.coefficient, 1, exponent: small.exponent, isNegative: small.isNegative)
        let isNegative = sum.words[Self.wordCount - 1] >> 63 == 1
        if !isNegative { return (false, sum.words) }
        var negated = [UInt64](repeating: 0, count: Self.wordCount)
        Self.add(sum.words, to: &negated, isNegative: true)
        return (true, negated)
    }

    private static func digits(_ words: [UInt64]) -> String {
        var words = words
        var digits = ""
        while words.contains(where: { $0 != 0 }) {
            let part = String(divide(&words, by: wordPower))
            digits = String(repeating: "0", count: wordDigits - part.utf8.count) + part + digits
        }
        return digits
    }

    /// Divides by a number other than 0. Returns the remainder.
    private static func divide(_ words: inout [UInt64], by divisor: UInt64) -> UInt64 {
        var remainder: UInt64 = 0
        for index in words.indices.reversed() {
            let (quotient, rest) = divisor.dividingFullWidth((remainder, words[index]))
            (words[index], remainder) = (quotient, rest)
        }
        return remainder
    }
}

extension DecimalSum {
    /// Returns the sum divided by `count`, rounded only once. `count` must not be 0.
    package func mean(of count: UInt64) -> Double {
        if let mean = shortMean(of: count) { return mean }
        let (isNegative, words) = magnitude
        // The quotient gets 38 more digits, so that even a small quotient has enough digits for a double. These digits need two more words.
        var quotient = words + [0, 0]
        for _ in 0..<2 { Self.multiply(&quotient, by: Self.wordPower) }
        let remainder = Self.divide(&quotient, by: count)
        // One more digit represents the remainder, because the remainder can decide the rounding.
        let text = "\(isNegative ? "-" : "")0\(Self.digits(quotient))\(remainder == 0 ? 0 : 1)"
        return Double("\(text)E\(DecimalNumber.exponentRange.lowerBound - 2 * Self.wordDigits - 1)") ?? 0
    }

    /// Returns the mean as the quotient of two whole numbers, or `nil` if a double might not represent both numbers exactly.
    private func shortMean(of count: UInt64) -> Double? {
        let exactMax: UInt128 = 1 << 53
        guard words.isEmpty, small.coefficient <= exactMax, small.exponent.magnitude <= 15 else { return nil }
        let power = (0..<small.exponent.magnitude).reduce(UInt128(1)) { power, _ in power * 10 }
        let dividend = small.coefficient * (small.exponent > 0 ? power : 1)
        let divisor = UInt128(count) * (small.exponent < 0 ? power : 1)
        guard dividend <= exactMax, divisor <= exactMax else { return nil }
        let mean = Double(dividend) / Double(divisor)
        return small.isNegative ? -mean : mean
    }
}

extension DecimalNumber {
    /// Returns the exact product, or `nil` if it has too many digits.
    fileprivate func multiplied(by factor: UInt128) -> DecimalNumber? {
        if factor == 1 { return self }
        let (product, isTooLarge) = coefficient.multipliedReportingOverflow(by: factor)
        return isTooLarge ? nil : DecimalNumber(negative: isNegative, coefficient: product, exponent: exponent)
    }

    /// Returns the exact sum, or `nil` if it has too many digits, or if a coefficient does not fit into an `Int128` during the addition.
    fileprivate func adding(_ other: DecimalNumber) -> DecimalNumber? {
        if coefficient == 0 { return other }
        if other.coefficient == 0 { return self }
        let power = min(exponent, other.exponent)
        guard let left = scaled(to: power), let right = other.scaled(to: power) else { return nil }
        let (sum, isOverflowing) = left.addingReportingOverflow(right)
        if isOverflowing { return nil }
        return DecimalNumber(negative: sum < 0, coefficient: sum.magnitude, exponent: power)
    }

    /// Returns the signed coefficient for a smaller power of ten, or `nil` if that coefficient would be too large.
    private func scaled(to power: Int) -> Int128? {
        guard exponent - power <= Self.digitCountMax, var scaled = Int128(exactly: coefficient) else { return nil }
        for _ in 0..<(exponent - power) {
            let (product, isOverflowing) = scaled.multipliedReportingOverflow(by: 10)
            if isOverflowing { return nil }
            scaled = product
        }
        return isNegative ? -scaled : scaled
    }
}
