#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports markers that do not fit the type of their property: for example, a relationship with the marker `@Attribute`, or an optional
    /// identity.
    struct RoleCheck {
        private let property: StoredProperty

        init(_ property: StoredProperty) { self.property = property }

        func findMistakes(_ findings: inout Findings) {
            guard let marker = property.markers.first else { return }
            guard let type = property.type, let shape = property.shape else {
                if marker.kind == .relationship { checkRelationship(marker, &findings) }
                return checkIdentityJSON(&findings)
            }
            switch marker.kind {
            case .identity: checkIdentity(type, shape, &findings)
            case .attribute: checkAttribute(marker, shape, &findings)
            case .relationship: checkRelationship(marker, &findings)
            case .transient: break
            }
        }

        // MARK: Identity

        private func checkIdentity(_ type: TypeSyntax, _ shape: TypeShape, _ findings: inout Findings) {
            checkIdentityJSON(&findings)
            if shape.wrapped.isToMany {
                let mistake = Mistake(
                    "identityRelationship", "'\(property.name)' leads to several objects, so it cannot be part of an identity.",
                    "Mark an attribute or a Ref with @Identity instead, for example one of type UUID, Int or String.")
                findings.add(mistake, at: type)
            } else if shape.isOptional {
                let mistake = Mistake(
                    "optionalIdentity", "'\(property.name)' is optional, but each object needs a value of its identity.",
                    "Remove '?'.")
                findings.add(mistake, at: type, fix: .replacing(type, with: type.withoutOptional.trimmedDescription))
            }
        }

        private func checkIdentityJSON(_ findings: inout Findings) {
            guard let marker = property.markers.first(where: { $0.kind == .identity }) else { return }
            for option in marker.options where option.name == "json" || option.name == "derived" {
                let name = option.name ?? ""
                let reason = name == "json" ? "one JSON value can be written in several ways" : "the store computes a derived value"
                let mistake = Mistake(
                    "\(name)Identity", "'\(property.name)' cannot be the identity, because \(reason).",
                    "Write @Attribute instead of @Identity.")
                findings.add(mistake, at: option.expression, fix: marker.fix(as: .attribute))
            }
        }

        // MARK: Attributes and relationships

        private func checkAttribute(_ marker: Marker, _ shape: TypeShape, _ findings: inout Findings) {
            guard shape.wrapped.isRelationship, !property.isJSON else { return }
            let mistake = Mistake(
                "attributeOfObjects", "'\(property.name)' is a relationship, because its type refers to other objects.",
                "Write @Relationship.")
            let hasOnlyShared = marker.options.allSatisfy { $0.name.map { OptionRule.roles(of: $0).count == 2 } ?? false }
            findings.add(mistake, at: marker.attribute.attributeName, fix: hasOnlyShared ? marker.fix(as: .relationship) : nil)
        }

        private func checkRelationship(_ marker: Marker, _ findings: inout Findings) {
            guard let type = property.attributeTypeName else { return }
            let mistake = Mistake(
                "relationshipOfValue", "'\(property.name)' is an attribute, because its type is '\(type)'.",
                "Write @Attribute, or the type of a record.")
            let hasOnlyShared =
                marker.labeled.isEmpty && marker.options.allSatisfy { $0.name.map { OptionRule.roles(of: $0).count == 2 } ?? false }
            findings.add(mistake, at: marker.attribute.attributeName, fix: hasOnlyShared ? marker.fix(as: .attribute) : nil)
        }
    }

    extension Marker {
        /// Returns the change that replaces the name of the marker, for example `@Identity` with `@Attribute`.
        fileprivate func fix(as kind: Kind) -> FixIt { .replacing(attribute.attributeName, with: kind.rawValue) }
    }

    extension TypeShape {
        /// Whether the syntax of the type shows that the property leads to several objects.
        var isToMany: Bool {
            switch self {
            case .toMany, .array, .set: true
            default: false
            }
        }

        /// Whether the syntax of the type shows that the property is a relationship.
        var isRelationship: Bool {
            switch self {
            case .ref, .toMany, .array, .set: true
            default: false
            }
        }
    }
#endif
