extension DecimalNumber {
    /// Returns the exact sum, or `nil` if it has more digits than a decimal number can have.
    package func adding(_ other: DecimalNumber) -> DecimalNumber? {
        if coefficient == 0 { return other }
        if other.coefficient == 0 { return self }
        let power = min(exponent, other.exponent)
        guard let left = scaled(to: power), let right = other.scaled(to: power) else { return nil }
        let (sum, isOverflowing) = left.addingReportingOverflow(right)
        if isOverflowing { return nil }
        return DecimalNumber(negative: sum < 0, coefficient: sum.magnitude, exponent: power)
    }

    /// Returns the signed coefficient for a smaller power of ten, or `nil` if the coefficient is too large for that.
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
