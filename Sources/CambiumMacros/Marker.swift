#if Macros
    import SwiftSyntax

    /// One of the Swift attributes that describe a stored property, such as `@Attribute(.minLength(1))`.
    struct Marker {
        enum Kind: String {
            case identity = "Identity"
            case attribute = "Attribute"
            case relationship = "Relationship"
            case transient = "Transient"
        }

        let kind: Kind
        let attribute: AttributeSyntax
        let options: [Option]
        /// The arguments with the labels `inverse` and `onDelete`.
        let labeled: [LabeledExprSyntax]

        init?(_ attribute: AttributeSyntax) {
            guard let kind = Kind(rawValue: attribute.ownName) else { return nil }
            self.kind = kind
            self.attribute = attribute
            let arguments = attribute.arguments?.as(LabeledExprListSyntax.self).map(Array.init) ?? []
            options = arguments.filter { $0.label == nil }.map { Option($0.expression) }
            labeled = arguments.filter { $0.label != nil && !$0.expression.is(NilLiteralExprSyntax.self) }
        }

        static func all(in attributes: AttributeListSyntax) -> [Marker] {
            attributes.compactMap { $0.as(AttributeSyntax.self) }.compactMap(Marker.init)
        }
    }

    /// An argument that is a `PropertyOption`, such as `.minLength(1)`.
    struct Option {
        let expression: ExprSyntax
        /// The name after the dot. It is `nil` if the expression has another form, such as the name of a constant.
        let name: String?
        let arguments: [LabeledExprSyntax]

        init(_ expression: ExprSyntax) {
            self.expression = expression
            let call = expression.as(FunctionCallExprSyntax.self)
            let member = (call?.calledExpression ?? expression).as(MemberAccessExprSyntax.self)
            let isOption = member.map { $0.base == nil || $0.base?.trimmedDescription.hasSuffix("PropertyOption") == true } ?? false
            name = isOption ? member?.declName.baseName.bareText : nil
            arguments = call?.arguments.map { $0 } ?? []
        }

        var firstArgument: ExprSyntax? { arguments.first?.expression }
    }

    extension AttributeSyntax {
        /// The name of the Swift attribute, without the module name `Cambium`.
        var ownName: String {
            guard let member = attributeName.as(MemberTypeSyntax.self), member.baseType.trimmedDescription == "Cambium" else {
                return attributeName.trimmedDescription
            }
            return member.name.text
        }
    }
#endif
