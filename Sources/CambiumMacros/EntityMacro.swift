#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// `@Entity`: adds the property `ref` to a struct, and an extension that makes the struct an `EntityRecord`.
    ///
    /// The compiler asks for the members and for the extension separately. Only the expansion of the members reports mistakes, so that each
    /// mistake is reported once.
    package enum EntityMacro {}

    extension EntityMacro: MemberMacro {
        package static func expansion(
            of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax, conformingTo protocols: [TypeSyntax],
            in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            let findings = EntityCheck(node, declaration, context.lexicalContext).findings
            for diagnostic in findings.diagnostics { context.diagnose(diagnostic) }
            guard let entity = EntityDeclaration(node, declaration, context.lexicalContext), !entity.declaresRef else { return [] }
            return [RecordExpansion(entity).ref]
        }
    }

    extension EntityMacro: ExtensionMacro {
        package static func expansion(
            of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingExtensionsOf type: some TypeSyntaxProtocol,
            conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
        ) throws -> [ExtensionDeclSyntax] {
            guard let entity = EntityDeclaration(node, declaration, context.lexicalContext), !entity.isOutOfReach else { return [] }
            let isSound = EntityCheck(node, declaration, context.lexicalContext).findings.isEmpty
            // Even a struct with mistakes becomes an `EntityRecord`. Otherwise, the compiler would also report each use of the struct as a
            // record.
            let expansion = isSound ? RecordExpansion(entity) : RecordExpansion(entity.withoutProperties)
            // The compiler omits a protocol to which the struct already conforms. A second conformance would be an error.
            return [try expansion.conformance(of: type.trimmed, isStated: protocols.isEmpty)]
        }
    }
#endif
