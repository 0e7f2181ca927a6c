#if Macros
    import SwiftSyntax
    import SwiftSyntaxBuilder

    /// The default of an attribute, which is the initial value of its property.
    ///
    /// A value that the options of the attribute refuse is not a default: it is a placeholder for a value that the program has yet to set.
    /// Only a literal and a case such as `.retail` are the same at any time and in any program. A call such as `UUID()` is not a default.
    struct DefaultValue {
        /// The literal, with the type of the property.
        let expression: ExprSyntax

        init?(_ property: StoredProperty) {
            guard let value = property.initialValue?.trimmed, !property.isJSON, !property.isMarkedRelationship else { return nil }
            if Self.isRefused(value, by: property) { return nil }
            let type = property.type.map { $0.withoutOptional.trimmed }
            guard let literal = Self.literal(value) ?? type.flatMap({ Self.member(value, of: $0, isOptional: property.isOptional) }) else {
                return nil
            }
            expression = type.map { "\(literal) as \($0)" } ?? literal
        }

        /// Whether the limits of an attribute refuse its initial value, or might refuse it.
        private static func isRefused(_ value: ExprSyntax, by property: StoredProperty) -> Bool {
            let limits = AttributeLimits(property)
            if let text = value.literalText { return limits.mayHavePattern || !limits.allow(length: text.unicodeScalars.count) }
            return Double(value.trimmedDescription.filter { $0 != "_" }).map { !limits.allow(number: $0) } ?? false
        }

        /// Returns the value if it is a literal: a text, a number, `true` or `false`.
        static func literal(_ value: ExprSyntax) -> ExprSyntax? {
            switch value.kind {
            case .integerLiteralExpr, .floatLiteralExpr, .booleanLiteralExpr:
                return value
            case .stringLiteralExpr:
                return value.literalText.map { ExprSyntax(StringLiteralExprSyntax(content: $0)) }
            case .prefixOperatorExpr:
                guard let prefix = value.as(PrefixOperatorExprSyntax.self), prefix.operator.text == "-" else { return nil }
                return [.integerLiteralExpr, .floatLiteralExpr].contains(prefix.expression.kind) ? value : nil
            default:
                return nil
            }
        }

        /// Returns `.name` if the value is `.name` or `Type.name`. The current time is not a constant, and `.none` may be `nil`.
        private static func member(_ value: ExprSyntax, of type: TypeSyntax, isOptional: Bool) -> ExprSyntax? {
            guard let member = value.as(MemberAccessExprSyntax.self), member.declName.argumentNames == nil else { return nil }
            let name = member.declName.baseName
            if name.text == "now" || (isOptional && name.text == "none") { return nil }
            guard let base = member.base else { return value }
            return base.trimmedDescription == type.trimmedDescription ? ".\(name.trimmed)" : nil
        }
    }

    extension StoredProperty {
        var isOptional: Bool { shape?.isOptional ?? false }
    }

    extension TypeSyntax {
        /// The wrapped type of an optional, or the type itself.
        var withoutOptional: TypeSyntax {
            if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
            if let name = self.as(IdentifierTypeSyntax.self), name.name.text == "Optional", let wrapped = name.genericTypes.first {
                return wrapped
            }
            return self
        }
    }
#endif
