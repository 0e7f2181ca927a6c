#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports initial values that the generated initializer could not replace, and missing initial values.
    struct ValueCheck {
        private let property: StoredProperty

        init(_ property: StoredProperty) { self.property = property }

        func findMistakes(_ findings: inout Findings) {
            if property.isTransient { return checkTransient(&findings) }
            checkConstant(&findings)
            checkType(&findings)
            checkDefault(&findings)
        }

        /// Reports a transient property without an initial value. A variable with an optional type needs no initial value, because it is
        /// `nil` at first.
        private func checkTransient(_ findings: inout Findings) {
            let isNil = property.isOptional && !property.isConstant
            guard property.initialValue == nil, !isNil else { return }
            let mistake = Mistake(
                "transientWithoutValue", "'\(property.name)' is not stored, so it has no value after its record is read.",
                "Give it an initial value.")
            findings.add(mistake, at: property.identifier)
        }

        /// Reports a derived property without an initial value, because the memberwise initializer would require a value that no save
        /// writes.
        func checkDerived(in typeName: String, _ findings: inout Findings) {
            let isNil = property.isOptional && !property.isConstant
            guard property.initialValue == nil, !isNil else { return }
            let remedy = property.isConstant ? "Declare it with 'var', and give it an initial value." : "Give it an initial value."
            let mistake = Mistake(
                "derivedWithoutValue",
                "The store computes '\(property.name)', but the initializer of '\(typeName)' requires a value for it.", remedy)
            let zero = property.isConstant ? nil : property.attributeTypeName.flatMap(Self.zero)
            let fix = zero.flatMap { zero in property.binding.typeAnnotation.map { FixIt.inserting(" = \(zero)", after: $0) } }
            findings.add(mistake, at: property.identifier, fix: fix)
        }

        /// Returns the literal for an empty value of an attribute type that a derived attribute may have.
        private static func zero(_ type: String) -> String? {
            switch type {
            case "Int", "Int16", "Int32", "Int64", "Float", "Double", "Decimal": "0"
            case "String": "\"\""
            default: nil
            }
        }

        private func checkConstant(_ findings: inout Findings) {
            guard property.isConstant, property.initialValue != nil else { return }
            let mistake = Mistake(
                "constantWithValue", "'\(property.name)' is a constant with a value, so no stored value can replace it.",
                "Declare it with 'var', or remove the value.")
            let keyword = property.variable.bindingSpecifier
            findings.add(mistake, at: keyword, fix: .replacing(keyword, with: "var"))
        }

        private func checkType(_ findings: inout Findings) {
            guard property.type == nil, let value = property.initialValue, DefaultValue.literal(value) == nil else { return }
            let mistake = Mistake(
                "missingType", "@Entity cannot see the type of '\(property.name)', because its initial value is not a literal.",
                "Write the type after the name.")
            findings.add(mistake, at: property.identifier, fix: value.typeName.map { .inserting(": \($0)", after: property.identifier) })
        }

        private func checkDefault(_ findings: inout Findings) {
            for marker in property.markers {
                for option in marker.options where option.name == "default" && DefaultValue(property) != nil {
                    let mistake = Mistake(
                        "twoDefaults", "The initial value of '\(property.name)' is already the default in the store.",
                        "Remove the option '.default'.")
                    findings.add(mistake, at: option.expression, fix: .removing(option, from: marker))
                }
            }
        }
    }

    extension ExprSyntax {
        /// The type in `Type(...)` or `Type.member`. A first letter in upper case shows that a name is the name of a type.
        fileprivate var typeName: String? {
            let called = self.as(FunctionCallExprSyntax.self)?.calledExpression
            let base = called ?? self.as(MemberAccessExprSyntax.self)?.base
            guard let name = base?.as(DeclReferenceExprSyntax.self)?.baseName.text, name.first?.isUppercase == true else { return nil }
            return name
        }
    }
#endif
