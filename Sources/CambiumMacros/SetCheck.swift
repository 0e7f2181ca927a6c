#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports names in the lists of `unique` and `indexes` that are not attributes of the entity. A list of `unique` may also name to-one
    /// relationships; the check of the schema reports a to-many relationship there.
    struct SetCheck {
        private let entity: EntityDeclaration

        init(_ entity: EntityDeclaration) { self.entity = entity }

        func findMistakes(_ findings: inout Findings) {
            for label in ["unique", "indexes"] {
                checkEmpty(label, &findings)
                for set in entity.arguments.sets(label) {
                    var known: Set<String> = []
                    for literal in set { check(literal, label, &known, &findings) }
                }
            }
        }

        private func checkEmpty(_ label: String, _ findings: inout Findings) {
            for element in entity.arguments.option(label)?.as(ArrayExprSyntax.self)?.elements ?? [] {
                guard let list = element.expression.as(ArrayExprSyntax.self), list.elements.isEmpty else { continue }
                let mistake = Mistake("emptySet", "A list of '\(label)' is empty.", "Name an attribute, or remove the list.")
                findings.add(mistake, at: list)
            }
        }

        private func check(_ literal: StringLiteralExprSyntax, _ label: String, _ known: inout Set<String>, _ findings: inout Findings) {
            guard let text = literal.representedLiteralValue else { return }
            let component = Component(text)
            if label == "unique", component.name != text {
                let mistake = Mistake(
                    "directionOfUnique", "A unique set contains only names of attributes, but '\(text)' is not a name.",
                    "Write '\(component.name)'.")
                findings.add(mistake, at: literal, fix: .replacing(literal, with: "\"\(component.name)\""))
            } else if !known.insert(component.name).inserted {
                let mistake = Mistake("repeatedInSet", "The list contains '\(component.name)' twice.", "Remove one of the two.")
                findings.add(mistake, at: literal)
            } else if let property = entity.persistent.first(where: { $0.storedName == component.name }) {
                if label == "unique", Self.isRelationship(property) { return }
                check(property, component, literal, &findings)
            } else if !entity.arguments.hasParent {
                report(component, literal, &findings)
            }
        }

        private func check(
            _ property: StoredProperty, _ component: Component, _ literal: StringLiteralExprSyntax, _ findings: inout Findings
        ) {
            if Self.isRelationship(property) {
                let mistake = Mistake(
                    "relationshipInSet", "'\(property.name)' is a relationship, but a list of attributes names it.", "Name an attribute.")
                findings.add(mistake, at: literal)
            } else if component.isFolded, let type = property.isJSON ? "JSON" : property.attributeTypeName, type != "String" {
                let mistake = Mistake(
                    "foldedNonText", "'[c]' ignores the case of letters, but the type of '\(property.name)' is '\(type)'.", "Remove '[c]'.")
                findings.add(mistake, at: literal, fix: .replacing(literal, with: "\"\(component.text(component.name, isFolded: false))\""))
            }
        }

        private static func isRelationship(_ property: StoredProperty) -> Bool {
            property.isMarkedRelationship || (property.shape?.wrapped.isRelationship == true && !property.isJSON)
        }

        private func report(_ component: Component, _ literal: StringLiteralExprSyntax, _ findings: inout Findings) {
            let attributes = entity.persistent.filter { !Self.isRelationship($0) }
            let renamed = attributes.first { $0.name == component.name }?.storedName
            let similar = renamed ?? attributes.map(\.storedName).closest(to: component.name)
            let names = attributes.map(\.storedName).joined(separator: ", ")
            let mistake = Mistake(
                "unknownInSet", "'\(entity.entityName)' has no attribute '\(component.name)'.",
                similar.map { "Write '\($0)'." } ?? (names.isEmpty ? "Add the attribute, or remove the name." : "It has: \(names)."))
            let fix = similar.map { FixIt.replacing(literal, with: "\"\(component.text($0, isFolded: component.isFolded))\"") }
            findings.add(mistake, at: literal, fix: fix)
        }

        /// A component of an index: `-name` for descending order, `name[c]` for texts without regard to case.
        private struct Component {
            let name: String
            let isDescending: Bool
            let isFolded: Bool

            init(_ text: String) {
                isDescending = text.hasPrefix("-")
                isFolded = text.hasSuffix("[c]")
                name = String(text.dropFirst(isDescending ? 1 : 0).dropLast(isFolded ? 3 : 0))
            }

            /// Returns the text of a component with the given name and the direction of this component.
            func text(_ name: String, isFolded: Bool) -> String { (isDescending ? "-" : "") + name + (isFolded ? "[c]" : "") }
        }
    }
#endif
