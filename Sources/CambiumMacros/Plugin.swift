#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// The process that the compiler starts to expand macros.
    @main struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [
            EntityMacro.self, IdentityMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self,
        ]
    }
#endif
