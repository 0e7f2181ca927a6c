import CambiumModel

/// The numbers between two limits. A limit that is `nil` does not restrict the numbers.
struct NumberLimits {
    struct Limit {
        let number: LiteralNumber
        let isIncluded: Bool
    }

    let lower: Limit?
    let upper: Limit?

    init(_ lower: Limit?, _ upper: Limit?) {
        self.lower = lower
        self.upper = upper
    }

    init(equal number: LiteralNumber) {
        self.init(Limit(number: number, isIncluded: true), Limit(number: number, isIncluded: true))
    }

    /// Returns the smallest and the largest number of an integer type within the limits. Returns `nil` if there is no such number.
    func whole<T: FixedWidthInteger>(_ type: T.Type) throws(NumberMistake) -> (T, T)? {
        var (low, high) = (Int128(T.min), Int128(T.max))
        if let lower {
            let bound = try WholeBound(lower.number)
            low = max(low, lower.isIncluded && bound.isWhole ? bound.floor : bound.floor + 1)
        }
        if let upper {
            let bound = try WholeBound(upper.number)
            high = min(high, !upper.isIncluded && bound.isWhole ? bound.floor - 1 : bound.floor)
        }
        return low <= high ? (T(low), T(high)) : nil
    }

    /// Returns the smallest and the largest number of a floating-point type within the limits. Returns `nil` if there is no such number.
    /// Each limit is first rounded to the type, as an import rounds a number.
    func real<T: BinaryFloatingPoint & LosslessStringConvertible>(_ type: T.Type) throws(NumberMistake) -> (T, T)? {
        var (low, high) = (-T.infinity, T.infinity)
        if let lower {
            let value = try Self.real(lower.number, type)
            low = lower.isIncluded ? value : value.nextUp
        }
        if let upper {
            let value = try Self.real(upper.number, type)
            high = upper.isIncluded ? value : value.nextDown
        }
        return low <= high ? (low, high) : nil
    }

    private static func real<T: BinaryFloatingPoint & LosslessStringConvertible>(
        _ number: LiteralNumber, _ type: T.Type
    ) throws(NumberMistake) -> T {
        // A number that is already of type `T` needs no rounding.
        if case .real(let value) = number, let value = value as? T { return value }
        let text = number.text
        // A number that is too large for the type becomes infinite, and so lies beyond all values.
        guard let value = T(text), !value.isNaN else { throw NumberMistake(text: text) }
        return value
    }

    /// Returns the limits of the decimal numbers. Returns `nil` if there is no decimal number within the limits.
    func decimal() throws(NumberMistake) -> TextTest.DecimalLimits? {
        var (least, greatest): (DecimalNumber?, DecimalNumber?) = (nil, nil)
        var (isLowerIncluded, isUpperIncluded) = (true, true)
        if let lower {
            let bracket = try Self.bracket(lower.number)
            guard let ceiling = bracket.ceiling else { return nil }
            least = ceiling
            // If the limit lies between two decimal numbers, `ceiling` replaces the limit, and belongs to the range.
            isLowerIncluded = lower.isIncluded || bracket.floor != ceiling
        }
        if let upper {
            let bracket = try Self.bracket(upper.number)
            guard let floor = bracket.floor else { return nil }
            greatest = floor
            isUpperIncluded = upper.isIncluded || bracket.ceiling != floor
        }
        if let least, let greatest, greatest < least { return nil }
        return TextTest.DecimalLimits(
            lower: least, isLowerIncluded: isLowerIncluded, upper: greatest, isUpperIncluded: isUpperIncluded)
    }

    private static func bracket(_ number: LiteralNumber) throws(NumberMistake) -> DecimalBracket {
        let text = number.text
        guard let bracket = DecimalBracket(text) else { throw NumberMistake(text: text) }
        return bracket
    }
}

/// A number in a condition: a value of a Swift type, or the text of a number.
enum LiteralNumber {
    case whole(Int64)
    case real(Double)
    case text(String)

    /// A text from which the same number can be parsed again.
    var text: String {
        switch self {
        case .whole(let value): String(value)
        case .real(let value): value.description
        case .text(let text): text
        }
    }
}

/// The error for a text that is not a number of at most 38 digits.
struct NumberMistake: Error {
    let text: String

    var message: String { "\(QueryLiteral.number(text).excerpt) is not a number of at most 38 digits. Write a number with fewer digits." }
}

/// The greatest whole number that does not exceed a limit (`floor`), and whether the limit itself is whole.
private struct WholeBound {
    let floor: Int128
    let isWhole: Bool

    /// A number beyond all whole numbers of 64 bits.
    private static let far = Int128(1) << 100

    init(_ literal: LiteralNumber) throws(NumberMistake) {
        if case .whole(let value) = literal {
            (floor, isWhole) = (Int128(value), true)
            return
        }
        // The shortest digits of a large double may state a whole number that differs from the double's exact value.
        if case .real(let value) = literal, let whole = Int64(exactly: value) {
            (floor, isWhole) = (Int128(whole), true)
            return
        }
        let text = literal.text
        guard let number = DecimalNumber(text) else {
            // The text may be a number whose exponent is too large or too small for a decimal number.
            guard let value = Double(text), value.magnitude >= 1e38 || value.magnitude < 1e-80 else { throw NumberMistake(text: text) }
            // A number that is too small for a decimal number is not whole. It is not 0 either, even if the double is 0, because
            // `DecimalNumber` reads every spelling of 0.
            isWhole = false
            let isNegative = text.hasPrefix("-")
            floor = value.magnitude >= 1e38 ? (isNegative ? -Self.far : Self.far) : isNegative ? -1 : 0
            return
        }
        var magnitude = number.coefficient
        var isExact = true
        if number.exponent < 0 {
            for _ in 0..<(-number.exponent) {
                isExact = isExact && magnitude % 10 == 0
                magnitude /= 10
                if magnitude == 0 { isExact = isExact && number.coefficient == 0 }
            }
        } else {
            for _ in 0..<number.exponent where magnitude < UInt128(Self.far) { magnitude *= 10 }
        }
        let clamped = Int128(min(magnitude, UInt128(Self.far)))
        isWhole = isExact
        floor = number.isNegative ? (isExact ? -clamped : -clamped - 1) : clamped
    }
}
