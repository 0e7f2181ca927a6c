#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports markers that contradict each other, and options that appear twice.
    struct MarkerCheck {
        private let property: StoredProperty

        init(_ property: StoredProperty) { self.property = property }

        func findMistakes(_ findings: inout Findings) {
            checkMarkers(&findings)
            checkRepetition(&findings)
        }

        private func checkMarkers(_ findings: inout Findings) {
            guard property.markers.count > 1 else { return }
            let names = property.markers.map { "@\($0.kind.rawValue)" }
            if property.isTransient, let other = property.markers.first(where: { $0.kind != .transient }) {
                let mistake = Mistake(
                    "transientMarker", "'\(property.name)' is not stored, so '@\(other.kind.rawValue)' has no effect.",
                    "Remove '@\(other.kind.rawValue)', or remove '@Transient' to store the property.")
                findings.add(mistake, at: other.attribute)
                return
            }
            let second = property.markers[1]
            let mistake = Mistake(
                "twoMarkers", "'\(property.name)' has both \(names[0]) and \(names[1]).",
                mergeFix == nil
                    ? "Keep the one that fits: a property is either an attribute or a relationship."
                    : "Keep one of them, with the options of both.")
            findings.add(mistake, at: second.attribute, fix: mergeFix)
        }

        /// The change from `@Identity @Attribute(.x)` to `@Identity(.x)`. The change is possible because both markers accept the same
        /// options.
        private var mergeFix: FixIt? {
            let (first, second) = (property.markers[0], property.markers[1])
            guard property.markers.count == 2, Set([first.kind, second.kind]).isSubset(of: [.identity, .attribute]) else { return nil }
            let kind: Marker.Kind = property.isIdentity ? .identity : .attribute
            let options = (first.options + second.options).map(\.expression.trimmedDescription).joined(separator: ", ")
            let text = options.isEmpty ? "@\(kind.rawValue)" : "@\(kind.rawValue)(\(options))"
            return FixIt(
                message: FixTitle(message: "Replace both with '\(text)'"),
                changes: [first.attribute.removal, second.attribute.change(to: text)])
        }

        private func checkRepetition(_ findings: inout Findings) {
            var known: Set<String> = []
            for marker in property.markers {
                for (name, place) in marker.optionNames where !known.insert(name).inserted {
                    let mistake = Mistake("repeatedOption", "'\(property.name)' has the option '\(name)' twice.", "Keep one of them.")
                    findings.add(mistake, at: place)
                }
            }
        }
    }

    extension Marker {
        /// The names of the options and of the labeled arguments, each with its position.
        fileprivate var optionNames: [(String, Syntax)] {
            options.compactMap { option in option.name.map { ($0, Syntax(option.expression)) } }
                + labeled.compactMap { argument in argument.label.map { ($0.text, Syntax(argument)) } }
        }
    }
#endif
