#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Finds the mistakes in a declaration with `@Entity`.
    struct EntityCheck {
        private(set) var findings = Findings()

        init(_ node: AttributeSyntax, _ declaration: some DeclGroupSyntax, _ context: [Syntax]) {
        }
    }

    /// The mistakes that were found.
    struct Findings {
        private(set) var diagnostics: [Diagnostic] = []
    }
#endif
