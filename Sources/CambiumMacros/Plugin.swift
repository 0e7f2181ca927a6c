#if Macros
    import SwiftCompilerPlugin
    import SwiftSyntaxMacros

    /// The entry point of the plugin that the compiler runs to expand macros.
    @main
    struct Plugin: CompilerPlugin {
        let providingMacros: [any Macro.Type] = [
            EntityMacro.self, IdentityMacro.self, AttributeMacro.self, RelationshipMacro.self, TransientMacro.self,
        ]
    }
#else
    /// The entry point in builds without the package trait `Macros`. The program does nothing, but it must exist: the package manager links
    /// every macro target of the root package.
    @main
    struct Plugin {
        static func main() {}
    }
#endif
