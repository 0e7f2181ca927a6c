/// The decimal numbers nearest to a number of any size, one below and one above. If the number is a decimal number itself, both are this
/// number.
package struct DecimalBracket {
    /// The greatest decimal number that is not above the number; `nil` if the number is below all decimal numbers.
    package let floor: DecimalNumber?
    /// The least decimal number that is not below the number; `nil` if the number is above all decimal numbers.
    package let ceiling: DecimalNumber?

    /// Reads a number in JSON syntax, with any power of ten. Returns `nil` if the text is not a number, or has more than 38 significant
    /// digits.
    package init?(_ text: String) {
        var scanner = DecimalScanner()
        for byte in text.utf8 where !scanner.take(byte) { return nil }
        guard let (isNegative, coefficient, exponent) = scanner.finish() else { return nil }
        if let number = DecimalNumber(negative: isNegative, coefficient: coefficient, exponent: exponent) {
            (floor, ceiling) = (number, number)
            return
        }
        func number(_ coefficient: UInt128, _ exponent: Int) -> DecimalNumber? {
            DecimalNumber(negative: isNegative, coefficient: coefficient, exponent: exponent)
        }
        let powers = DecimalNumber.exponentRange
        guard exponent < powers.lowerBound else {
            let last = number(DecimalNumber.coefficientEnd - 1, powers.upperBound)
            (floor, ceiling) = isNegative ? (nil, last) : (last, nil)
            return
        }
        // The number lies between two multiples of the least positive decimal number.
        var magnitude = coefficient
        var power = exponent
        while power < powers.lowerBound, magnitude > 0 {
            magnitude /= 10
            power += 1
        }
        let (inner, outer) = (number(magnitude, powers.lowerBound), number(magnitude + 1, powers.lowerBound))
        (floor, ceiling) = isNegative ? (outer, inner) : (inner, outer)
    }
}

extension DecimalNumber {
    /// Returns a description of a valid number, for the message about a text that is not a decimal number. If only its power of ten is out
    /// of range, the description states the range.
    static func wanted(insteadOf text: String) -> String {
        if DecimalBracket(text) == nil { return AttributeType.decimal.wanted }
        return "a decimal number with a power of ten from \(exponentRange.lowerBound) to \(exponentRange.upperBound)"
    }
}
