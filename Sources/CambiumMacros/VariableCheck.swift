#if Macros
    import SwiftSyntax

    /// Reports declarations of properties that @Entity cannot store.
    struct VariableCheck {
        private let variable: VariableDeclSyntax
        private let markers: [Marker]

        init(_ variable: VariableDeclSyntax) {
            self.variable = variable
            markers = Marker.all(in: variable.attributes)
        }

        private var name: String {
            variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText ?? "this property"
        }

        private var isTransient: Bool { markers.contains { $0.kind == .transient } }

        func findMistakes(_ findings: inout Findings) {
            if variable.isStatic { return checkMarker("static", "is static, but an entity stores properties of instances.", &findings) }
            if variable.bindings.allSatisfy(\.isComputed) {
                return checkMarker("computed", "is computed, so it holds no value to store.", &findings)
            }
            if isTransient { return }
            checkModifiers(&findings)
            checkPatterns(&findings)
            checkWrappers(&findings)
        }

        private func checkMarker(_ word: String, _ problem: String, _ findings: inout Findings) {
            guard let marker = markers.first else { return }
            let mistake = Mistake("\(word)Property", "'\(name)' \(problem)", "Remove '@\(marker.kind.rawValue)'.")
            findings.add(mistake, at: marker.attribute, fix: .removing(marker.attribute))
        }

        private func checkModifiers(_ findings: inout Findings) {
            for modifier in variable.modifiers {
                switch modifier.name.text {
                case "lazy":
                    let mistake = Mistake(
                        "lazyProperty", "'\(name)' is lazy, so reading it would change the record.",
                        "Remove 'lazy', or mark the property with @Transient.")
                    findings.add(mistake, at: modifier)
                case "weak", "unowned":
                    let mistake = Mistake(
                        "weakProperty", "'\(name)' is \(modifier.name.text), but a record cannot hold a reference to a class instance.",
                        "Refer to another object with a property of type 'Ref<...>?'.")
                    findings.add(mistake, at: modifier)
                default: break
                }
            }
        }

        private func checkPatterns(_ findings: inout Findings) {
            for binding in variable.bindings where binding.pattern.is(TuplePatternSyntax.self) {
                let mistake = Mistake(
                    "tuplePattern", "@Entity cannot store the properties of a tuple pattern.", "Declare each property separately.")
                findings.add(mistake, at: binding.pattern)
            }
        }

        /// Reports Swift attributes of other modules, which may be property wrappers. Skips the attributes of the compiler, which begin
        /// with a lower-case letter.
        private func checkWrappers(_ findings: inout Findings) {
            for attribute in variable.attributes.compactMap({ $0.as(AttributeSyntax.self) }) {
                let isOwn = Marker(attribute) != nil
                let base = attribute.attributeName.trimmedDescription
                if isOwn || base.first?.isUppercase != true { continue }
                let mistake = Mistake(
                    "propertyWrapper", "'@\(base)' may replace the storage of '\(name)', so @Entity cannot read and write it.",
                    "Remove '@\(base)', or mark the property with @Transient.")
                findings.add(mistake, at: attribute)
            }
        }
    }
#endif
