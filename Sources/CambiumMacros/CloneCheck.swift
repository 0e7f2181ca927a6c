#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports clone rules that a schema refuses.
    struct CloneCheck {
        private let property: StoredProperty

        init(_ property: StoredProperty) { self.property = property }

        func findMistakes(_ findings: inout Findings) {
            for marker in property.markers {
                for option in marker.options {
                    if option.name == "exclude" { checkExclusion(option, &findings) }
                    if option.name == "withoutParent" { checkFallback(option, &findings) }
                }
            }
        }

        /// Reports `.exclude` for a mandatory property without a default. Skips a property whose type the macro does not know, because the
        /// property may have a default.
        private func checkExclusion(_ option: Option, _ findings: inout Findings) {
            let names = Set(property.options.compactMap(\.name))
            let hasDefault = DefaultValue(property) != nil || !names.isDisjoint(with: ["default", "derived"])
            guard property.attributeTypeName != nil, !property.isOptional, !hasDefault else { return }
            let mistake = Mistake(
                "excludedMandatory", "A copy would lack '\(property.name)', which is mandatory and has no default.",
                "Give the property a literal initial value, or make its type optional.")
            findings.add(mistake, at: option.expression)
        }

        private func checkFallback(_ option: Option, _ findings: inout Findings) {
            if property.options.contains(where: { $0.name == "followParent" }) { return }
            let mistake = Mistake(
                "fallbackWithoutParent", "'.withoutParent' is for a value that follows a parent, but '\(property.name)' follows no parent.",
                "Add '.followParent', or remove the option.")
            findings.add(mistake, at: option.expression)
        }
    }
#endif
