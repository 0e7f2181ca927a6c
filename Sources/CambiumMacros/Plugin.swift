#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// The entry point of the compiler's plugin.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [
            EntityMacro.self, IdentityMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self,
        ]
    }
#else
    /// The entry point without the trait. The program does nothing, but the package manager links each macro target of the package that it
    /// builds as the root.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
