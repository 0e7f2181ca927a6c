#if Macros
    import SwiftSyntax

    /// Reports limits that no value can meet. Only limits that are literals are compared.
    struct LimitCheck {
        private let property: StoredProperty
        private let limits: AttributeLimits

        init(_ property: StoredProperty) {
            self.property = property
            limits = AttributeLimits(property)
        }

        func findMistakes(_ findings: inout Findings) {
            for (low, high) in [("min", "max"), ("minLength", "maxLength"), ("minCount", "maxCount")] {
                for name in [low, high] where name.count > 3 { checkSign(name, &findings) }
                guard let least = limits.number(low), let most = limits.number(high), most.value < least.value else { continue }
                let mistake = Mistake(
                    "reversedLimits",
                    "No value of '\(property.name)' is at least \(least.text) and at most \(most.text).",
                    "Exchange the values of '.\(low)' and '.\(high)'.")
                findings.add(mistake, at: least.expression)
            }
        }

        private func checkSign(_ name: String, _ findings: inout Findings) {
            guard let limit = limits.number(name), limit.value < 0 else { return }
            let mistake = Mistake(
                "negativeLimit", "'.\(name)' is a count, so it cannot be \(limit.text).",
                "Write 0 or a larger number.")
            findings.add(mistake, at: limit.expression)
        }
    }
#endif
