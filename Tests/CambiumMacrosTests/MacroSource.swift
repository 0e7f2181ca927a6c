#if Macros
    import SwiftDiagnostics
    import SwiftParser
    import SwiftSyntax
    import SwiftSyntaxMacroExpansion

    @testable import CambiumMacros

    /// A source file, and the result of the expansion of its macros.
    struct MacroSource {
        /// A mistake that a macro reports.
        struct Report {
            let line: Int
            let column: Int
            let kind: String
            let message: String
            let fixes: [Fix]
        }

        /// A change that the compiler offers, and the source after the change.
        struct Fix {
            let title: String
            let source: String
        }

        let expansion: String
        let reports: [Report]

        private static func macros(_ conformances: [TypeSyntax]) -> [String: MacroSpec] {
            [
                "Entity": MacroSpec(type: EntityMacro.self, conformances: conformances),
                "Identity": MacroSpec(type: IdentityMacro.self),
                "Attribute": MacroSpec(type: AttributeMacro.self),
                "Relationship": MacroSpec(type: RelationshipMacro.self),
                "Transient": MacroSpec(type: TransientMacro.self),
            ]
        }

        /// - Parameter conformances: The protocols that the compiler asks `@Entity` to add. It omits a protocol that the struct states.
        init(_ source: String, conformances: [TypeSyntax] = ["EntityRecord"]) {
            let file = Parser.parse(source: source)
            let context = BasicMacroExpansionContext(sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "Test.swift")])
            let expanded = file.expand(macroSpecs: Self.macros(conformances)) { node in
                BasicMacroExpansionContext(sharingWith: context, lexicalContext: node.allMacroLexicalContexts())
            }
            expansion = expanded.description
            reports = context.diagnostics.map { Report($0, source, context) }
                .sorted { ($0.line, $0.column, $0.kind) < ($1.line, $1.column, $1.kind) }
        }
    }

    extension MacroSource.Report {
        fileprivate init(_ diagnostic: Diagnostic, _ source: String, _ context: BasicMacroExpansionContext) {
            let place = context.location(for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "Test.swift")
            (line, column) = (place.line, place.column)
            kind = (diagnostic.diagMessage as? Mistake)?.kind ?? ""
            message = diagnostic.message
            fixes = diagnostic.fixIts.map { fix in
                MacroSource.Fix(title: fix.message.message, source: Self.source(source, after: fix, context))
            }
        }

        /// Returns the source after the changes of a fix, which do not overlap.
        private static func source(_ source: String, after fix: FixIt, _ context: BasicMacroExpansionContext) -> String {
            let edits = fix.changes.compactMap { change -> (range: Range<Int>, text: String)? in
                guard case .replaceText(let range, let text, let node) = change else { return nil }
                let bounds = [range.lowerBound, range.upperBound].map { context.location(for: $0, anchoredAt: node, fileName: "").offset }
                return (bounds[0]..<bounds[1], text)
            }
            var bytes = Array(source.utf8)
            for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
                bytes.replaceSubrange(edit.range, with: edit.text.utf8)
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
#endif
