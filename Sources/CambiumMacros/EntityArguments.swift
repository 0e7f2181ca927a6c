#if Macros
    import SwiftSyntax

    /// The arguments of `@Entity`.
    struct EntityArguments {
        /// The argument without a label, which is the name of the entity.
        let nameArgument: ExprSyntax?
        /// The value of `nameArgument`, or `nil` if the argument is missing or is not a literal.
        let name: String?
        /// The arguments with labels. The generated code passes them to the initializer of `RecordSchema`.
        let options: [LabeledExprSyntax]

        init(_ node: AttributeSyntax) {
            let arguments = node.arguments?.as(LabeledExprListSyntax.self).map(Array.init) ?? []
            nameArgument = arguments.first { $0.label == nil }?.expression
            name = nameArgument?.literalText
            options = arguments.filter { $0.label != nil }
        }

        /// Returns the argument with a label.
        func option(_ label: String) -> ExprSyntax? { options.first { $0.label?.text == label }?.expression }

        /// Whether the entity has a parent. The macro cannot see the properties of a parent.
        var hasParent: Bool { option("parent").map { !$0.is(NilLiteralExprSyntax.self) } ?? false }

        /// Returns the literals in the lists of `unique` or `indexes`.
        func sets(_ label: String) -> [[StringLiteralExprSyntax]] {
            let lists = option(label)?.as(ArrayExprSyntax.self)?.elements.compactMap { $0.expression.as(ArrayExprSyntax.self) } ?? []
            return lists.map { $0.elements.compactMap { $0.expression.as(StringLiteralExprSyntax.self) } }
        }
    }

    extension ExprSyntax {
        /// The value of a string literal without interpolation.
        var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
    }
#endif
