#if Macros
    import SwiftSyntax
    import SwiftSyntaxBuilder

    /// The declarations that `@Entity` generates.
    struct RecordExpansion {
        let entity: EntityDeclaration

        init(_ entity: EntityDeclaration) { self.entity = entity }

        /// The property `ref`, which is the only member that the expansion adds to the struct.
        var ref: DeclSyntax {
            """
            /// The object of this value. `nil` until the value is saved for the first time, and again after it is deleted.
            \(entity.access)var ref: Ref<\(entity.structure.name.trimmed)>?
            """
        }

        /// Returns the extension. Requirements that the struct implements itself are omitted.
        ///
        /// - Parameter isStated: Whether the program states the conformance itself, so that the extension must not state it again.
        func conformance(of type: some TypeSyntaxProtocol, isStated: Bool) throws -> ExtensionDeclSyntax {
            var members: [DeclSyntax] = []
            if !entity.ownRequirements.contains(.recordSchema) { members.append(schema) }
            if !entity.ownRequirements.contains(.reading) { members.append(DeclSyntax(try reading)) }
            if !entity.ownRequirements.contains(.writing) { members.append(DeclSyntax(try writing)) }
            let conformance = isStated ? "" : ": EntityRecord"
            return try ExtensionDeclSyntax("extension \(type)\(raw: conformance)") {
                for (index, member) in members.enumerated() {
                    MemberBlockItemSyntax(leadingTrivia: index == 0 ? [] : .newlines(2), decl: member)
                }
            }
        }

        // MARK: Schema

        private var schema: DeclSyntax {
            let call = FunctionCallExprSyntax(
                calledExpression: "RecordSchema<Self>" as ExprSyntax, leftParen: .leftParenToken(), arguments: schemaArguments,
                rightParen: .rightParenToken(trailingTrivia: .space),
                trailingClosure: ClosureExprSyntax { for property in entity.persistent { description(of: property) } })
            // A declaration with mistakes may belong to a generic type, in which a stored static property is not allowed.
            if entity.hasMistakes { return "\(entity.access)static var recordSchema: RecordSchema<Self> { \(call) }" }
            return "\(entity.access)static let recordSchema = \(call)"
        }

        private var schemaArguments: LabeledExprListSyntax {
            LabeledExprListSyntax {
                LabeledExprSyntax(expression: StringLiteralExprSyntax(content: entity.entityName))
                for option in entity.arguments.options {
                    LabeledExprSyntax(label: option.label?.text, expression: option.expression.trimmed)
                }
            }
        }

        /// Returns the call that describes a property in the schema.
        private func description(of property: StoredProperty) -> FunctionCallExprSyntax {
            FunctionCallExprSyntax(callee: "RecordProperty" as ExprSyntax) {
                LabeledExprSyntax(
                    label: property.isJSON ? "json" : nil, expression: StringLiteralExprSyntax(content: property.storedName))
                LabeledExprSyntax(expression: "\\Self.\(property.identifier.trimmed)" as ExprSyntax)
                for option in options(of: property) { LabeledExprSyntax(expression: option) }
            }
        }

        /// Returns all options of a property: the options of its marker, the labeled arguments of its marker, and its default.
        private func options(of property: StoredProperty) -> [ExprSyntax] {
            var options: [ExprSyntax] = property.isIdentity ? [".identity"] : []
            options += property.options.filter { !["json", "named"].contains($0.name) }.map(\.expression.trimmed)
            for argument in property.markers.flatMap(\.labeled) {
                guard let label = argument.label else { continue }
                options.append(".\(label.trimmed)(\(argument.expression.trimmed))")
            }
            if let value = DefaultValue(property) { options.append(value.option) }
            return options
        }

        // MARK: Reading and writing

        private var reading: InitializerDeclSyntax {
            get throws {
                try InitializerDeclSyntax("\(entity.access)init(from row: inout RecordReader) throws") {
                    if entity.hasMistakes { "throw CancellationError()" } else { readingStatements }
                }
            }
        }

        @CodeBlockItemListBuilder private var readingStatements: CodeBlockItemListSyntax {
            for (index, property) in entity.persistent.enumerated() {
                let function: TokenSyntax = property.isJSON ? "readJSON" : "read"
                "self.\(property.identifier.trimmed) = try row.\(function)(\(place(of: property, index)))"
            }
            "self.ref = row.ref()"
        }

        private var writing: FunctionDeclSyntax {
            get throws {
                try FunctionDeclSyntax("\(entity.access)mutating func write(to row: inout RecordWriter) throws") {
                    for (index, property) in entity.persistent.enumerated() { statement(writing: property, index) }
                }
            }
        }

        private func statement(writing property: StoredProperty, _ index: Int) -> CodeBlockItemSyntax {
            let value: ExprSyntax = "self.\(property.identifier.trimmed)"
            let place = place(of: property, index)
            if property.isJSON { return "try row.writeJSON(\(place), \(value))" }
            if property.isConstant { return "try row.write(\(place), constant: \(value))" }
            return "try row.write(\(place), &\(value))"
        }

        /// Returns the argument that denotes a property in a call of the reader or the writer: its index in the generated schema. If the
        /// struct states the schema itself, returns the property's stored name, because that schema may have another order.
        private func place(of property: StoredProperty, _ index: Int) -> ExprSyntax {
            let isGenerated = !entity.ownRequirements.contains(.recordSchema)
            return isGenerated ? "\(literal: index)" : ExprSyntax(StringLiteralExprSyntax(content: property.storedName))
        }
    }
#endif
