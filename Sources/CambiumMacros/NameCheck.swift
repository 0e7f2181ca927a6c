#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports a property if the store refuses its name, if another property has this name, or if `@Entity` generates a property with this
    /// name.
    struct NameCheck {
        private let entity: EntityDeclaration

        init(_ entity: EntityDeclaration) { self.entity = entity }

        func findMistakes(_ findings: inout Findings) {
            var known: [String: StoredProperty] = [:]
            for binding in entity.refs { report(ref: binding, &findings) }
            for property in entity.persistent where property.name != "ref" {
                if let option = property.options.first(where: { $0.name == "named" }), option.firstArgument?.literalText == nil {
                    report(computed: option, of: property, &findings)
                } else if let flaw = StoreName.flaw(of: property.storedName) {
                    report(flaw, of: property, &findings)
                } else if let other = known.updateValue(property, forKey: property.storedName) {
                    report(other, and: property, &findings)
                }
            }
        }

        /// Returns the place in the source that determines the stored name: the argument of `.named`, or the name in Swift if the option
        /// is missing.
        private func place(of property: StoredProperty) -> Syntax {
            property.options.first { $0.name == "named" }?.firstArgument.map { Syntax($0) } ?? Syntax(property.identifier)
        }

        private func report(ref binding: PatternBindingSyntax, _ findings: inout Findings) {
            let mistake = Mistake(
                "propertyNamedRef", "@Entity itself adds the property 'ref', which refers to the object in the store.",
                binding.isComputed
                    ? "Rename this property."
                    : "Remove this property, or rename it and keep the stored name with @Attribute(.named(\"ref\")).")
            findings.add(mistake, at: binding.pattern)
        }

        private func report(computed option: Option, of property: StoredProperty, _ findings: inout Findings) {
            let mistake = Mistake(
                "computedPropertyName", "The stored name of '\(property.name)' is not a string literal, so @Entity cannot check it.",
                "Write the name in quotation marks, without interpolation.")
            findings.add(mistake, at: option.firstArgument ?? option.expression)
        }

        private func report(_ flaw: String, of property: StoredProperty, _ findings: inout Findings) {
            let name = property.storedName
            let repaired = StoreName.repaired(name)
            let mistake = Mistake(
                "propertyName", "The store refuses the name '\(name)' of a property, because \(flaw).",
                "Set another stored name with the option .named(\"\(repaired ?? "title")\").")
            let isNamed = property.options.contains { $0.name == "named" }
            let fix = isNamed ? nil : repaired.map { FixIt.adding(".named(\"\($0)\")", to: property) }
            findings.add(mistake, at: place(of: property), fix: fix)
        }

        private func report(_ first: StoredProperty, and second: StoredProperty, _ findings: inout Findings) {
            let mistake = Mistake(
                "repeatedName", "'\(first.name)' and '\(second.name)' have the same stored name '\(second.storedName)'.",
                "Give one of them another name with the option .named.")
            findings.add(mistake, at: place(of: second))
        }
    }
#endif
