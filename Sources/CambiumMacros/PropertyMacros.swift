#if Macros
    import SwiftSyntax
    import SwiftSyntaxMacros

    /// An attribute of a stored property. It expands to nothing, because `@Entity` reads it.
    package protocol PropertyMacro: PeerMacro {}

    extension PropertyMacro {
        package static func expansion(
            of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
        ) throws -> [DeclSyntax] {
            []
        }
    }

    package enum IdentityMacro: PropertyMacro {}
    package enum AttributeMacro: PropertyMacro {}
    package enum RelationshipMacro: PropertyMacro {}
    package enum TransientMacro: PropertyMacro {}
#endif
