public import CambiumModel

/// A value in an answer: the value of an attribute, an object, or a list of values if a path leads to several.
///
/// ```swift
/// for row in try graph.values(of: [Operand(parsing: "title"), Operand(parsing: "items.name")], Query("Note")) {
///     if case .list(let names) = row[1] { print(row[0], names.count) }
/// }
/// ```
public enum QueryValue: Hashable, Sendable, CustomStringConvertible {
    case value(Value)
    case object(ObjectID)
    case list([QueryValue])

    /// The text of a value, the numbers of an object's id, or a list in brackets. `Graph.name(of:)` returns the name of an object.
    public var description: String {
        switch self {
        case .value(let value): value.text
        case .object(let id): id.description
        case .list(let values): "[" + values.map(\.description).joined(separator: ", ") + "]"
        }
    }

    package static let null = QueryValue.value(.null)
    package var isNull: Bool { if case .value(.null) = self { true } else { false } }

    /// Returns a text without the differences that `folding` ignores. Returns any other value unchanged.
    func folded(_ folding: Folding) -> QueryValue {
        guard !folding.isEmpty, case .value(let value) = self, let text = value.comparedText else { return self }
        return .value(.string(folding.folded(text)))
    }
}

extension Value {
    /// Returns -1, 0 or 1 if this value precedes, equals or follows another value of a comparable type. Numbers of all types are comparable
    /// with each other. Returns `nil` for null, for NaN, and for types without an order.
    package func order(_ other: Value) -> Int? {
        switch (self, other) {
        case (.int(let left), .int(let right)): return Self.order(left, right)
        case (.string(let left), .string(let right)): return Self.order(left, right)
        case (.date(let left), .date(let right)):
            return Self.realOrder(left.timeIntervalSinceReferenceDate, right.timeIntervalSinceReferenceDate)
        case (.bool(let left), .bool(let right)): return Self.order(left ? 1 : 0, right ? 1 : 0)
        case (.uuid(let left), .uuid(let right)): return Self.order(left.uuidString, right.uuidString)
        case (.data(let left), .data(let right)):
            return left == right ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
        case (.decimal(let left), .decimal(let right)): return Self.order(left, right)
        case (.float(let left), .float(let right)): return Self.realOrder(left, right)
        case (.double(let left), .double(let right)): return Self.realOrder(left, right)
        default:
            if let left = comparedText, let right = other.comparedText { return Self.order(left, right) }
            return numberOrder(other)
        }
    }

    /// The text that conditions compare; `nil` if the value is not a text.
    var comparedText: String? {
        switch self {
        case .string(let text), .uri(let text), .json(let text): text
        default: nil
        }
    }

    /// Returns whether the values are equal. Null equals null.
    package func isSame(as other: Value) -> Bool { isNull || other.isNull ? isNull && other.isNull : order(other) == 0 }

    private static func order<T: Comparable>(_ left: T, _ right: T) -> Int { left < right ? -1 : left == right ? 0 : 1 }

    /// Returns `nil` if a number is NaN, which has no order (IEEE 754). No attribute has NaN, but a program may compare a date with it.
    private static func realOrder<T: BinaryFloatingPoint>(_ left: T, _ right: T) -> Int? {
        left < right ? -1 : left == right ? 0 : left > right ? 1 : nil
    }

    /// Compares two texts by their bytes in UTF-8.
    private static func order(_ left: String, _ right: String) -> Int {
        left.utf8Span.span.bytes.withUnsafeBytes { left in
            right.utf8Span.span.bytes.withUnsafeBytes { TextTest.order(left, $0).signum() }
        }
    }

    private func numberOrder(_ other: Value) -> Int? {
        switch (self, other) {
        case (.int(let whole), .float), (.int(let whole), .double): return other.real.flatMap { Self.order(whole, to: $0) }
        case (.float, .int(let whole)), (.double, .int(let whole)): return real.flatMap { Self.order(whole, to: $0) }.map { -$0 }
        case (.float(let left), .double(let right)): return Self.realOrder(Double(left), right)
        case (.double(let left), .float(let right)): return Self.realOrder(left, Double(right))
        default: break
        }
        // A float or a double is compared with a decimal number by its shortest digits. So the double 0.1 equals the decimal number 0.1. If
        // a number has no such digits in the range of decimal numbers, both numbers are compared as doubles.
        if let left = shortest, let right = other.shortest { return Self.order(left, right) }
        guard let left = real, let right = other.real else { return nil }
        return Self.realOrder(left, right)
    }

    /// Compares a whole number with a double exactly.
    private static func order(_ whole: Int64, to real: Double) -> Int? {
        if real.isNaN { return nil }
        if real >= 0x1p63 { return -1 }
        guard real >= -0x1p63 else { return 1 }
        let floor = real.rounded(.down)
        let order = Self.order(whole, Int64(floor))
        return order == 0 && floor < real ? -1 : order
    }

    /// The value as a double, rounded; `nil` if the value is not a number.
    package var real: Double? {
        switch self {
        case .int(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): Double(value.description)
        default: nil
        }
    }

    /// The value as a decimal number. A float or a double is represented by the shortest digits that read back as the same number of its
    /// type. `nil` if the value is not a number, or is too large or too small for a decimal number.
    private var shortest: DecimalNumber? {
        switch self {
        case .int(let value): DecimalNumber(value)
        case .float(let value): DecimalNumber(value.description)
        case .double(let value): DecimalNumber(value.description)
        case .decimal(let value): value
        default: nil
        }
    }
}
