#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports a declaration with `@Entity` that is not a struct.
    struct KindCheck {
        private let declaration: any DeclGroupSyntax

        init(_ declaration: some DeclGroupSyntax) { self.declaration = declaration }

        func findMistakes(_ findings: inout Findings) {
            let keyword = declaration.introducer
            let type = declaration.asProtocol((any NamedDeclSyntax).self).map { "'\($0.name.bareText)'" } ?? "this declaration"
            let article = keyword.text.first.map { "aeiou".contains($0) } == true ? "an" : "a"
            findings.add(
                Mistake(
                    "notAStruct", "@Entity needs a struct, because a record is a value, but \(type) is \(article) \(keyword.text).",
                    declaration.is(EnumDeclSyntax.self)
                        ? "Remove @Entity. An enum with raw values becomes an attribute if it conforms to AttributeValue."
                        : "Declare a struct."),
                at: keyword, fix: structFix)
        }

        /// The change from a class to a struct. `nil` for a class with parents, a deinitializer, or modifiers that only classes have. The
        /// user must decide how to replace these parts.
        private var structFix: FixIt? {
            guard let type = declaration.as(ClassDeclSyntax.self), type.inheritanceClause == nil else { return nil }
            let members = type.memberBlock.members.map(\.decl)
            let modifiers = members.compactMap { $0.asProtocol((any WithModifiersSyntax).self) }.flatMap { $0.modifiers.map(\.name.text) }
            let hasClassMembers = members.contains { $0.is(DeinitializerDeclSyntax.self) }
            if hasClassMembers || !Set(modifiers).isDisjoint(with: ["class", "convenience", "override", "required", "final"]) {
                return nil
            }
            if type.modifiers.contains(where: { $0.name.text == "open" }) { return nil }
            let final = type.modifiers.filter { $0.name.text == "final" }
            return FixIt(
                message: FixTitle(message: "Replace 'class' with 'struct'"),
                changes: final.map(\.removal) + [type.classKeyword.change(to: "struct")])
        }
    }
#endif
