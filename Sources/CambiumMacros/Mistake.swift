#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// An error in a declaration with `@Entity`. One sentence states the mistake, and another one states the remedy.
    struct Mistake: DiagnosticMessage {
        /// The name of the kind of mistake. Tests and tools compare this name instead of the message.
        let kind: String
        let message: String

        init(_ kind: String, _ mistake: String, _ remedy: String) {
            self.kind = kind
            message = "\(mistake) \(remedy)"
        }

        var severity: DiagnosticSeverity { .error }
        var diagnosticID: MessageID { MessageID(domain: "Cambium", id: kind) }
    }

    /// The mistakes in a declaration, in the order in which they were found.
    struct Findings {
        private(set) var diagnostics: [Diagnostic] = []

        var isEmpty: Bool { diagnostics.isEmpty }

        /// Adds a mistake at a place in the source.
        ///
        /// - Parameter fix: A change that corrects the mistake; `nil` if the user must choose between several changes.
        mutating func add(_ mistake: Mistake, at node: some SyntaxProtocol, fix: FixIt? = nil) {
            diagnostics.append(Diagnostic(node: node, message: mistake, fixIts: fix.map { [$0] } ?? []))
        }
    }
#endif
