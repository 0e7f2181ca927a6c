#if Macros
    import SwiftSyntax

    /// A struct with `@Entity`, as the user wrote it.
    struct EntityDeclaration {
        let structure: StructDeclSyntax
        let arguments: EntityArguments
        /// The access of the generated members: `public`, `package`, or empty for any other access.
        let access: DeclModifierListSyntax
        /// All stored instance properties, in the order of their declaration.
        private(set) var properties: [StoredProperty]
        /// The stored and computed instance properties with the name `ref`. These properties are mistakes, because the expansion adds a
        /// property with this name.
        let refs: [PatternBindingSyntax]
        /// The requirements of `EntityRecord` that the struct itself implements.
        let ownRequirements: Set<Requirement>
        /// The name of the innermost private type around the struct; `nil` if there is no such type. The outermost type does not count as
        /// private.
        let privateOuter: String?
        /// The name of the innermost generic type around the struct; `nil` if there is no such type.
        let genericOuter: String?
        /// Whether the struct itself is private and inside another type.
        let isPrivateInside: Bool
        /// Whether the struct itself declares an initializer. If so, Swift gives it no memberwise initializer.
        let declaresInitializer: Bool
        /// Whether mistakes prevent the expansion from reading the properties.
        private(set) var hasMistakes = false

        /// A requirement of `EntityRecord` that the expansion implements.
        enum Requirement: Hashable { case recordSchema, reading, writing }

        init?(_ node: AttributeSyntax, _ declaration: some DeclGroupSyntax, _ context: [Syntax]) {
            guard let structure = declaration.as(StructDeclSyntax.self) else { return nil }
            self.structure = structure
            arguments = EntityArguments(node)
            isPrivateInside = !context.isEmpty && structure.modifiers.isPrivate
            // The outermost declaration is omitted, because `private` means `fileprivate` there.
            privateOuter =
                context.dropLast().first { $0.asProtocol((any WithModifiersSyntax).self)?.modifiers.isPrivate == true }?.declaredName
            genericOuter =
                context.first { $0.asProtocol((any WithGenericParametersSyntax).self)?.genericParameterClause != nil }?.declaredName
            access = Self.access(of: structure, context)
            let members = structure.memberBlock.members.map(\.decl)
            let variables = members.compactMap { $0.as(VariableDeclSyntax.self) }
            properties = variables.flatMap(StoredProperty.all)
            refs = variables.filter { !$0.isStatic }.flatMap(\.bindings).filter { $0.name == "ref" }
            ownRequirements = Set(members.compactMap(Self.requirement))
            declaresInitializer = members.contains { $0.is(InitializerDeclSyntax.self) }
        }

        /// Whether extensions cannot refer to the struct, because the struct or a type around it is private.
        var isOutOfReach: Bool { isPrivateInside || privateOuter != nil }

        /// The properties whose values are stored.
        var persistent: [StoredProperty] { properties.filter { !$0.isTransient } }

        /// The name of the struct without backquotes.
        var typeName: String { structure.name.bareText }

        /// The name of the entity in the schema.
        var entityName: String { arguments.name.flatMap { $0.isEmpty ? nil : $0 } ?? typeName }

        /// Whether the struct itself declares a property `ref`, as the expansion does.
        var declaresRef: Bool { !refs.isEmpty }

        /// This struct without its properties, so that the generated extension compiles even if the properties have mistakes.
        var withoutProperties: EntityDeclaration {
            var entity = self
            entity.properties = []
            entity.hasMistakes = true
            return entity
        }

        /// Returns the access of the struct. If the struct states none, returns the access that the enclosing extension gives to its
        /// members.
        private static func access(of structure: StructDeclSyntax, _ context: [Syntax]) -> DeclModifierListSyntax {
            let levels = ["public", "package", "internal", "fileprivate", "private"]
            let enclosing = context.first?.as(ExtensionDeclSyntax.self)?.modifiers ?? []
            let own = structure.modifiers.first { levels.contains($0.name.text) }
            guard let level = own ?? enclosing.first(where: { levels.contains($0.name.text) }) else { return [] }
            guard ["public", "package"].contains(level.name.text) else { return [] }
            return [DeclModifierSyntax(name: level.name.trimmed, trailingTrivia: .space)]
        }

        /// Returns the requirement that a member implements. An initializer from a `Decoder` does not implement a requirement.
        private static func requirement(_ member: DeclSyntax) -> Requirement? {
            if let initializer = member.as(InitializerDeclSyntax.self) {
                return initializer.signature.isFunction(of: "RecordReader", label: "from") ? .reading : nil
            }
            if let function = member.as(FunctionDeclSyntax.self), function.name.text == "write" {
                return function.signature.isFunction(of: "RecordWriter", label: "to") ? .writing : nil
            }
            // Only a static property implements the requirement. An instance property with the name `recordSchema` is an ordinary property
            // of the entity.
            guard let variable = member.as(VariableDeclSyntax.self), variable.isStatic else { return nil }
            return variable.bindings.contains { $0.name == "recordSchema" } ? .recordSchema : nil
        }
    }

    extension FunctionSignatureSyntax {
        /// Returns whether the function has exactly one parameter, with this label and with a type name that ends in `type`.
        fileprivate func isFunction(of type: String, label: String) -> Bool {
            guard let parameter = parameterClause.parameters.first, parameterClause.parameters.count == 1 else { return false }
            return parameter.firstName.text == label && parameter.type.trimmedDescription.hasSuffix(type)
        }
    }

    extension DeclModifierListSyntax {
        fileprivate var isPrivate: Bool { contains { $0.name.text == "private" } }
    }

    extension Syntax {
        /// The name of a declaration without backquotes; `nil` for other nodes.
        fileprivate var declaredName: String? { asProtocol((any NamedDeclSyntax).self)?.name.bareText }
    }

    extension TokenSyntax {
        /// The text of an identifier without its backquotes.
        var bareText: String { text.count > 2 && text.hasPrefix("`") && text.hasSuffix("`") ? String(text.dropFirst().dropLast()) : text }
    }
#endif
