#if Macros
    import SwiftSyntax

    /// The limits of an attribute's values, such as `.max(9)`. Only limits that are literals are known.
    struct AttributeLimits {
        private let property: StoredProperty

        init(_ property: StoredProperty) { self.property = property }

        /// Whether a value of the attribute must match a pattern. The macro does not evaluate patterns.
        var mayHavePattern: Bool { has("regex") }

        func allow(length: Int) -> Bool { isWithin(Double(length), "minLength", "maxLength") }
        func allow(number: Double) -> Bool { isWithin(number, "min", "max") }

        /// Returns whether the limits may refuse a static member of a number type, such as `.zero` or `.max`. The macro knows the value of
        /// `.zero` only.
        func mayRefuse(_ member: String) -> Bool {
            let (hasMin, hasMax) = (has("min"), has("max"))
            switch member {
            case "zero": return !allow(number: 0)
            case "min": return hasMin
            case "max": return hasMax
            default: return hasMin || hasMax
            }
        }

        private func has(_ option: String) -> Bool { property.options.contains { $0.name == option } }

        /// Returns the number that is the argument of an option such as `.minLength(1)`, with its text and its expression in the source.
        /// Returns `nil` if there is no such option, or if `number(ofLiteral:)` returns `nil` for its argument.
        func number(_ option: String) -> (value: Double, text: String, expression: ExprSyntax)? {
            guard let expression = property.options.first(where: { $0.name == option })?.firstArgument else { return nil }
            let text = expression.trimmedDescription
            return Self.number(ofLiteral: text).map { ($0, text, expression) }
        }

        /// Returns the number that a literal spells, such as `-1_000.5`, `0xFF`, `0o17` or `0b101`. Returns `nil` if the text is not such a
        /// literal, or if a binary or octal number exceeds 64 bits.
        static func number(ofLiteral text: String) -> Double? {
            let digits = text.filter { $0 != "_" }
            // `Double` reads decimal and hexadecimal numbers only.
            if let number = Double(digits) { return number }
            let isNegative = digits.hasPrefix("-")
            let magnitude = isNegative ? digits.dropFirst() : digits[...]
            for (prefix, radix) in [("0b", 2), ("0o", 8)] where magnitude.hasPrefix(prefix) {
                return UInt64(magnitude.dropFirst(prefix.count), radix: radix).map { isNegative ? -Double($0) : Double($0) }
            }
            return nil
        }

        private func isWithin(_ value: Double, _ low: String, _ high: String) -> Bool {
            let isTooLow = number(low).map { value < $0.value } ?? false
            let isTooHigh = number(high).map { value > $0.value } ?? false
            return !isTooLow && !isTooHigh
        }
    }
#endif
