#if Macros
    import SwiftSyntax
    import SwiftSyntaxBuilder

    /// The default of an attribute: the initial value of its property, if the value is a constant.
    ///
    /// Only a literal and a case such as `.retail` are constants. A call such as `UUID()` may have another value each time, so it is not a
    /// default. The store computes a derived attribute, so its initial value is not a default. An initial value that the store or the
    /// attribute's options refuse is not a default either: the program must set another value before it saves the record.
    struct DefaultValue {
        /// The option with the constant, followed by `as` and the type of the property if the property states its type.
        ///
        /// A macro does not know to which type a name refers. The type may also be a record or a `JSONAttribute`, which has no default. So
        /// if the macro does not know the type, the option tests at run time whether the type is an `AttributeValue`. For any other type,
        /// the option has no effect.
        let option: ExprSyntax

        init?(_ property: StoredProperty) {
            guard let value = property.initialValue?.trimmed, !property.isJSON, !property.isDerived, !property.isMarkedRelationship else {
                return nil
            }
            if Self.isRefused(value, by: property) { return nil }
            let type = property.type.map { $0.withoutOptional.trimmed }
            guard let literal = Self.literal(value) ?? type.flatMap({ Self.member(value, of: $0, property) }) else { return nil }
            let expression: ExprSyntax = type.map { "\(literal) as \($0)" } ?? literal
            if case .named = property.shape?.wrapped {
                option = "(\(expression) as Any as? any AttributeValue).map { .default($0) } ?? .userInfo([:])"
            } else {
                option = ".default(\(expression))"
            }
        }

        /// Returns whether the limits of an attribute refuse its initial value, or may refuse it.
        private static func isRefused(_ value: ExprSyntax, by property: StoredProperty) -> Bool {
            let limits = AttributeLimits(property)
            if let text = value.literalText { return limits.mayHavePattern || !limits.allow(length: text.unicodeScalars.count) }
            if let member = value.as(MemberAccessExprSyntax.self), property.shape?.attributeType != nil {
                return limits.mayRefuse(member.declName.baseName.text)
            }
            return AttributeLimits.number(ofLiteral: value.trimmedDescription).map { !limits.allow(number: $0) } ?? false
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

        /// The members of numbers and dates that no attribute can hold: NaN, infinities, and a date before the year 1.
        private static let unstorableMembers: Set<String> = ["nan", "quietNaN", "signalingNaN", "infinity", "distantPast"]

        private static let extremeDecimals: Set<String> = ["greatestFiniteMagnitude", "leastFiniteMagnitude"]

        /// Returns `.name` if the value is `.name` or `Type.name`. Returns `nil` for `.now` and for the directories of
        /// Foundation, which are not constants. If the property is optional, also returns `nil` for `.none`, which may mean `nil`.
        private static func member(_ value: ExprSyntax, of type: TypeSyntax, _ property: StoredProperty) -> ExprSyntax? {
            guard let member = value.as(MemberAccessExprSyntax.self), member.declName.argumentNames == nil else { return nil }
            let name = member.declName.baseName
            if name.text == "now" || (property.isOptional && name.text == "none") { return nil }
            // An enum may have a case with one of these names, so only the types that the macro knows are tested.
            if property.shape?.attributeType != nil, unstorableMembers.contains(name.text) { return nil }
            // The greatest and the least `Decimal` have 39 digits, and rounding them to 38 digits would exceed the range of the store.
            if property.shape?.attributeType == "Decimal", extremeDecimals.contains(name.text) { return nil }
            // A directory such as `URL.homeDirectory` depends on the machine and the user.
            if property.shape?.attributeType == "URL", name.text.hasSuffix("Directory") { return nil }
            guard let base = member.base else { return value }
            return base.trimmedDescription == type.trimmedDescription ? ".\(name.trimmed)" : nil
        }
    }

    extension StoredProperty {
        var isOptional: Bool { shape?.isOptional ?? false }
    }

    extension TypeSyntax {
        /// The type inside an optional, or the type itself if it is not an optional. A type in parentheses counts as the type itself.
        var withoutOptional: TypeSyntax {
            if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
            if let name = self.as(IdentifierTypeSyntax.self), name.name.text == "Optional", let wrapped = name.genericTypes.first {
                return wrapped
            }
            if let name = self.as(MemberTypeSyntax.self), name.trimmedDescription.hasPrefix("Swift.Optional<"),
                let wrapped = name.genericTypes.first
            {
                return wrapped
            }
            if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1, let element = tuple.elements.first {
                return element.type.withoutOptional
            }
            return self
        }
    }
#endif
