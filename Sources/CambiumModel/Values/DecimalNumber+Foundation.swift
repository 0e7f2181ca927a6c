internal import CambiumBytes
public import FoundationEssentials

extension DecimalNumber {
    /// Creates the number nearest to a `Decimal` of Foundation, which has up to 39 digits. The last digit is rounded half to even if there
    /// are more than 38 digits.
    ///
    /// - Returns: `nil` if the decimal is not a number. Also `nil` if it has 39 digits and its power of ten is 127, because the power of
    ///   the rounded number would be 128.
    public init?(_ decimal: Decimal) {
        if decimal.isNaN { return nil }
        let digits = decimal.significand.description
        guard var coefficient = UInt128(digits) else { return nil }
        var exponent = decimal.exponent
        if coefficient >= Self.coefficientEnd {
            let (quotient, digit) = coefficient.quotientAndRemainder(dividingBy: 10)
            let isRoundedUp = digit > 5 || digit == 5 && quotient % 2 == 1
            coefficient = quotient + (isRoundedUp ? 1 : 0)
            exponent += 1
        }
        self.init(negative: decimal.sign == .minus, coefficient: coefficient, exponent: exponent)
    }

    /// Returns the sum, with Foundation's rounding. Ends the process if the sum is out of range.
    public static func + (left: Self, right: Self) -> Self { number(Decimal(left) + Decimal(right), "sum") }

    /// Returns the difference, with Foundation's rounding. Ends the process if the difference is out of range.
    public static func - (left: Self, right: Self) -> Self { number(Decimal(left) - Decimal(right), "difference") }

    /// Returns the product, with Foundation's rounding. Ends the process if the product is out of range.
    public static func * (left: Self, right: Self) -> Self { number(Decimal(left) * Decimal(right), "product") }

    private static func number(_ decimal: Decimal, _ name: String) -> Self {
        guard let number = DecimalNumber(decimal) else {
            Trap.because("The \(name) of two decimal numbers is out of range. Check the size of the numbers before you calculate.")
        }
        return number
    }
}

extension Decimal {
    /// Creates the same number as a decimal of Foundation.
    public init(_ number: DecimalNumber) {
        // Creating a `Decimal` from its parts fails for the largest powers of ten, but parsing a text does not.
        guard let decimal = Decimal(string: number.description) else { Trap.because("Foundation refuses the number \(number).") }
        self = decimal
    }
}
