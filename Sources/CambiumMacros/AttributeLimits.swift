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

        /// Returns the number of an option such as `.minLength(1)`, with its text and its expression in the source.
        func number(_ option: String) -> (value: Double, text: String, expression: ExprSyntax)? {
            guard let expression = property.options.first(where: { $0.name == option })?.firstArgument else { return nil }
            let text = expression.trimmedDescription
            return Double(text.filter { $0 != "_" }).map { ($0, text, expression) }
        }

        private func isWithin(_ value: Double, _ low: String, _ high: String) -> Bool {
            let isTooLow = number(low).map { value < $0.value } ?? false
            let isTooHigh = number(high).map { value > $0.value } ?? false
            return !isTooLow && !isTooHigh
        }
    }
#endif
