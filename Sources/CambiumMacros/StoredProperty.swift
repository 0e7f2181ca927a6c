#if Macros
    import SwiftSyntax

    /// A stored property of a struct with `@Entity`.
    struct StoredProperty {
        let variable: VariableDeclSyntax
        let binding: PatternBindingSyntax
        let identifier: TokenSyntax
        let type: TypeSyntax?
        let markers: [Marker]

        /// Returns the properties that a declaration stores in each instance.
        static func all(in variable: VariableDeclSyntax) -> [StoredProperty] {
            if variable.isStatic || variable.hasModifier("lazy") { return [] }
            var properties: [StoredProperty] = []
            var type: TypeSyntax?
            let markers = Marker.all(in: variable.attributes)
            // In `var x, y: Int`, the annotation of the last binding also applies to the preceding bindings, so the loop begins with the
            // last one.
            for binding in variable.bindings.reversed() {
                type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
                guard !binding.isComputed, let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else { continue }
                properties.append(
                    StoredProperty(variable: variable, binding: binding, identifier: identifier, type: type, markers: markers))
            }
            return properties.reversed()
        }

        /// The name in Swift, without backquotes.
        var name: String { identifier.bareText }

        /// The name in the store.
        var storedName: String { options.first { $0.name == "named" }?.firstArgument?.literalText ?? name }

        var shape: TypeShape? { type.map(TypeShape.init) }
        var isConstant: Bool { variable.bindingSpecifier.tokenKind == .keyword(.let) }
        var initialValue: ExprSyntax? { binding.initializer?.value }
        var options: [Option] { markers.flatMap(\.options) }

        var isTransient: Bool { markers.contains { $0.kind == .transient } }
        var isIdentity: Bool { markers.contains { $0.kind == .identity } }
        var isMarkedRelationship: Bool { markers.contains { $0.kind == .relationship } }
        var isJSON: Bool { options.contains { $0.name == "json" } }
        /// Whether the store computes the values. The initial value is then only the value of a record that was not read yet.
        var isDerived: Bool { options.contains { $0.name == "derived" } }
    }

    extension VariableDeclSyntax {
        var isStatic: Bool { hasModifier("static") || hasModifier("class") }

        func hasModifier(_ name: String) -> Bool { modifiers.contains { $0.name.text == name } }
    }

    extension PatternBindingSyntax {
        /// The name of the property without backquotes; `nil` if the pattern is not a name.
        var name: String? { pattern.as(IdentifierPatternSyntax.self)?.identifier.bareText }

        /// Whether the property is computed. A property with observers only is stored.
        var isComputed: Bool {
            switch accessorBlock?.accessors {
            case nil: false
            case .getter: true
            case .accessors(let accessors): !accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
            }
        }
    }
#endif
