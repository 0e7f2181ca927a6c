internal import CambiumBytes
public import FoundationEssentials

/// A decimal number of up to 38 digits: a sign, a coefficient, and an exponent of ten between -128 and 127.
///
/// ```swift
/// let price = DecimalNumber("19.90") ?? DecimalNumber(0)
/// try store.write { try $0.set(order, "total", to: .decimal(price * DecimalNumber(3))) }
/// ```
///
/// The number is always normalized, so equal numbers are equal values. Zero has no sign. The coefficient does not end in zero, unless the
/// exponent is 127.
public struct DecimalNumber: Hashable, Sendable, Comparable, CustomStringConvertible {
    package static let digitCountMax = 38
    package static let exponentRange = -128...127

    // The fields have 64 and 16 bits, so that a `Value` takes 24 bytes. With a `UInt128` and an `Int`, a `Value` would take 48 bytes.
    private let low: UInt64
    private let high: UInt64
    private let power: Int16
    package let isNegative: Bool

    package var coefficient: UInt128 { UInt128(high) << 64 | UInt128(low) }
    package var exponent: Int { Int(power) }

    package static let zero = DecimalNumber(isNegative: false, coefficient: 0, exponent: 0)

    private init(isNegative: Bool, coefficient: UInt128, exponent: Int) {
        self.isNegative = isNegative
        low = UInt64(truncatingIfNeeded: coefficient)
        high = UInt64(truncatingIfNeeded: coefficient >> 64)
        power = Int16(exponent)
    }

    /// Creates the number `coefficient` x 10^`exponent`. Returns `nil` if the number has more than 38 digits, or if its power of ten is out
    /// of range.
    package init?(negative isNegative: Bool, coefficient: UInt128, exponent: Int) {
        var coefficient = coefficient
        var exponent = exponent
        guard coefficient != 0 else {
            self = .zero
            return
        }
        // If the magnitude of the power of ten is more than 256, the number is out of range. Normalizing changes the power by at most the
        // number of digits, which is not enough to bring the power into the range.
        guard exponent.magnitude <= 256 else { return nil }
        while coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        // A power of ten above the range becomes zeros at the end of the coefficient, as far as 38 digits allow.
        while exponent > Self.exponentRange.upperBound, coefficient < Self.coefficientEnd / 10 {
            coefficient *= 10
            exponent -= 1
        }
        guard coefficient < Self.coefficientEnd, Self.exponentRange.contains(exponent) else { return nil }
        self.init(isNegative: isNegative, coefficient: coefficient, exponent: exponent)
    }

    /// Creates the number that equals a whole number.
    public init(_ value: Int64) {
        var coefficient = UInt128(value.magnitude)
        var exponent = 0
        while coefficient != 0, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        self.init(isNegative: value < 0, coefficient: coefficient, exponent: exponent)
    }

    static let coefficientEnd: UInt128 = (0..<digitCountMax).reduce(UInt128(1)) { product, _ in product * 10 }

    /// Parses a number in JSON syntax, with or without leading zeros. Returns `nil` if the text is not a number, has more than 38
    /// significant digits, or has a power of ten out of range.
    package init?(_ text: some Sequence<UInt8>) {
        var scanner = DecimalScanner()
        for byte in text where !scanner.take(byte) { return nil }
        guard let (isNegative, coefficient, exponent) = scanner.finish() else { return nil }
        self.init(negative: isNegative, coefficient: coefficient, exponent: exponent)
    }

    /// Parses a number in JSON syntax, such as `-12.50` or `1e3`, with or without leading zeros. Returns `nil` for any other text, for more
    /// than 38 significant digits, and for a power of ten out of range. Complexity: O(bytes of the text).
    public init?(_ text: String) { self.init(text.utf8) }

    /// Whether a number is less than another number. The comparison is exact.
    public static func < (left: Self, right: Self) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.hasSmallerMagnitude(than: left) : left.hasSmallerMagnitude(than: right)
    }

    private func hasSmallerMagnitude(than other: Self) -> Bool {
        if coefficient == 0 || other.coefficient == 0 { return coefficient == 0 && other.coefficient != 0 }
        let mine = String(coefficient)
        let others = String(other.coefficient)
        let order = mine.utf8.count + exponent
        let otherOrder = others.utf8.count + other.exponent
        if order != otherOrder { return order < otherOrder }
        return mine.utf8.lexicographicallyPrecedes(others.utf8)
    }

    /// The number with all its digits. A power of ten is written only if the digits would otherwise take more than 60 characters.
    public var description: String {
        let digits = String(coefficient)
        let sign = isNegative ? "-" : ""
        if exponent >= 0 {
            if digits.count + exponent > 60 { return "\(sign)\(digits)E\(exponent)" }
            return sign + digits + String(repeating: "0", count: coefficient == 0 ? 0 : exponent)
        }
        if -exponent > 58 { return "\(sign)\(digits)E\(exponent)" }
        let padded = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
        return "\(sign)\(padded.dropLast(-exponent)).\(padded.suffix(-exponent))"
    }

    // MARK: Stored form

    /// The bytes in which the number is stored. The first byte is a sign: 0 for zero, 1 for a positive number, 2 for a negative number. If
    /// the number is not zero, the exponent and the coefficient follow, big-endian, without leading zeros.
    package var storedBytes: [UInt8] {
        if coefficient == 0 { return [0] }
        var bytes: [UInt8] = [isNegative ? 2 : 1, UInt8(bitPattern: Int8(exponent))]
        var shift = (128 - coefficient.leadingZeroBitCount + 7) / 8 * 8
        while shift > 0 {
            shift -= 8
            bytes.append(UInt8(truncatingIfNeeded: coefficient >> UInt128(shift)))
        }
        return bytes
    }

    /// Reads the stored form of a number. Returns `nil` if the bytes are not such a form.
    package init?(storedBytes bytes: some RandomAccessCollection<UInt8>) {
        guard let sign = bytes.first else { return nil }
        if sign == 0, bytes.count == 1 {
            self = .zero
            return
        }
        guard sign == 1 || sign == 2, (3...18).contains(bytes.count) else { return nil }
        let rest = bytes.dropFirst()
        let coefficient = rest.dropFirst().reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let exponent = rest.first.map { Int(Int8(bitPattern: $0)) } ?? 0
        guard let number = DecimalNumber(negative: sign == 2, coefficient: coefficient, exponent: exponent),
            number.exponent == exponent, number.coefficient == coefficient, rest.dropFirst().first != 0
        else { return nil }
        self = number
    }
}

/// A scanner that reads a JSON number digit by digit, without loss of digits.
struct DecimalScanner {
    private var isNegative = false
    private var coefficient: UInt128 = 0
    private var pendingZeros = 0
    private var exponent = 0
    private var explicit = 0
    private var isExplicitNegative = false
    private var state = State.start

    private enum State { case start, sign, whole, point, fraction, exponentMark, exponentSign, exponentDigits }

    /// Reads the next byte. Returns `false` if the byte is invalid at this position, or if there are more than 38 significant digits.
    mutating func take(_ byte: UInt8) -> Bool {
        let isDigit = byte >= 0x30 && byte <= 0x39
        switch state {
        case .start where byte == UInt8(ascii: "-"):
            isNegative = true
            state = .sign
        case .start where isDigit, .sign where isDigit, .whole where isDigit:
            state = .whole
            return add(byte - 0x30, isFraction: false)
        case .whole where byte == UInt8(ascii: "."): state = .point
        case .point where isDigit, .fraction where isDigit:
            state = .fraction
            return add(byte - 0x30, isFraction: true)
        case .whole where byte | 0x20 == UInt8(ascii: "e"), .fraction where byte | 0x20 == UInt8(ascii: "e"):
            state = .exponentMark
        case .exponentMark where byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-"):
            isExplicitNegative = byte == UInt8(ascii: "-")
            state = .exponentSign
        case .exponentMark where isDigit, .exponentSign where isDigit, .exponentDigits where isDigit:
            state = .exponentDigits
            explicit = min(explicit * 10 + Int(byte - 0x30), 1_000_000)
        default: return false
        }
        return true
    }

    /// Adds a digit. Zeros are added only when a digit other than zero follows, because a normalized coefficient does not end in zero.
    private mutating func add(_ digit: UInt8, isFraction: Bool) -> Bool {
        if isFraction { exponent -= 1 }
        if digit == 0 {
            if coefficient != 0 { pendingZeros += 1 }
            return true
        }
        for _ in 0..<pendingZeros {
            guard coefficient < DecimalNumber.coefficientEnd / 10 else { return false }
            coefficient *= 10
        }
        pendingZeros = 0
        guard coefficient < DecimalNumber.coefficientEnd / 10 else { return false }
        coefficient = coefficient * 10 + UInt128(digit)
        return true
    }

    func finish() -> (isNegative: Bool, coefficient: UInt128, exponent: Int)? {
        guard state == .whole || state == .fraction || state == .exponentDigits else { return nil }
        return (isNegative, coefficient, exponent + pendingZeros + (isExplicitNegative ? -explicit : explicit))
    }
}

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
