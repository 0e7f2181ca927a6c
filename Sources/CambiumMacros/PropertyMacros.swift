#if Macros
    import SwiftDiagnostics
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// A macro that marks a stored property, such as `@Identity`. The macro expands to nothing, because `@Entity` reads the mark.
    package protocol PropertyMacro: PeerMacro {}

    extension PropertyMacro {
        package static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            var findings = Findings()
            let name = node.attributeName.trimmedDescription
            if !declaration.is(VariableDeclSyntax.self) {
                let mistake = Mistake("markerOfOther", "'@\(name)' is only for stored properties.", "Remove it from this declaration.")
                findings.add(mistake, at: node, fix: .removing(node))
            } else if !context.lexicalContext.isEntity {
                let mistake = Mistake(
                    "markerOutside", "'@\(name)' has no effect outside of a struct with @Entity.",
                    "Move the property into a struct with @Entity, or add @Entity to its struct.")
                findings.add(mistake, at: node)
            }
            for diagnostic in findings.diagnostics { context.diagnose(diagnostic) }
            return []
        }
    }

    extension [Syntax] {
        /// Whether the innermost type around the property has `@Entity`. In that case, `@Entity` reports the mistakes.
        fileprivate var isEntity: Bool {
            let attributes = first?.asProtocol((any DeclGroupSyntax).self)?.attributes ?? []
            return attributes.contains { $0.as(AttributeSyntax.self)?.ownName == "Entity" }
        }
    }

    package enum IdentityMacro: PropertyMacro {}
    package enum AttributeMacro: PropertyMacro {}
    package enum RelationshipMacro: PropertyMacro {}
    package enum TransientMacro: PropertyMacro {}
#endif
