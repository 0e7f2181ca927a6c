#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// An error in a declaration with `@Entity`: one sentence that states the mistake, and one that states the remedy.
    struct Mistake: DiagnosticMessage {
        /// The name of the kind of mistake, which tests and tools compare.
        let kind: String
        let message: String

        init(_ kind: String, _ mistake: String, _ remedy: String) {
            self.kind = kind
            message = "\(mistake) \(remedy)"
        }

        var severity: DiagnosticSeverity { .error }
        var diagnosticID: MessageID { MessageID(domain: "Cambium", id: kind) }
    }

    /// The mistakes, in the order in which they were found.
    struct Findings {
        private(set) var diagnostics: [Diagnostic] = []

        var isEmpty: Bool { diagnostics.isEmpty }

        /// Adds a mistake at a place in the source.
        ///
        /// - Parameter fix: A change that corrects the mistake; `nil` if there are several ways to correct it.
        mutating func add(_ mistake: Mistake, at node: some SyntaxProtocol, fix: FixIt? = nil) {
            diagnostics.append(Diagnostic(node: node, message: mistake, fixIts: fix.map { [$0] } ?? []))
        }
    }
#endif
