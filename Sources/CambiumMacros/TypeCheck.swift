#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports types that can be neither an attribute nor a relationship in the store.
    struct TypeCheck {
        private let property: StoredProperty
        private let entity: EntityDeclaration

        init(_ property: StoredProperty, of entity: EntityDeclaration) { (self.property, self.entity) = (property, entity) }

        func findMistakes(_ findings: inout Findings) {
            guard let type = property.type, let shape = property.shape else { return }
            checkOptional(type, shape, &findings)
            switch shape.wrapped {
            case .tuple:
                findings.add(
                    .unstorable("tuple", property, "Declare a Codable struct, and mark the property with @Attribute(.json)."), at: type)
            case .function:
                let remedy = "Mark the property with @Transient and give it an initial value, or remove it."
                findings.add(.unstorable("closure", property, remedy), at: type)
            case .existential:
                let remedy = "Write a concrete type; an enum can hold values of several types."
                findings.add(.unstorable("existential", property, remedy), at: type)
            case .array, .set, .dictionary, .unsupported, .named, .attribute, .ref, .toMany:
                if property.isJSON { checkJSON(shape, &findings) } else { checkValue(type, shape, &findings) }
            case .optional, .implicitlyUnwrapped: break
            }
        }

        private func checkOptional(_ type: TypeSyntax, _ shape: TypeShape, _ findings: inout Findings) {
            switch shape {
            case .implicitlyUnwrapped:
                let mark = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self)?.exclamationMark
                // The remedy '?' is wrong for an identity and for a collection of objects, because neither can be optional.
                let mayBeOptional = !property.isIdentity && (property.isJSON || !shape.wrapped.isToMany)
                let mistake = Mistake(
                    "implicitlyUnwrapped", "'\(property.name)' is implicitly unwrapped, so a missing value would end the program.",
                    mayBeOptional ? "Write '?'." : "Remove '!'.")
                findings.add(
                    mistake, at: mark ?? type.lastToken(viewMode: .sourceAccurate) ?? .unknown(""),
                    fix: mark.map { mayBeOptional ? .replacing($0, with: "?") : .erasing($0) })
            case .optional(.optional):
                let wrapped = type.withoutOptional
                let mistake = Mistake(
                    "nestedOptional", "'\(property.name)' is optional twice, but the store has only one kind of missing value.",
                    "Write '\(wrapped.trimmedDescription)'.")
                findings.add(mistake, at: type, fix: .replacing(type, with: wrapped.trimmedDescription))
            default: break
            }
        }

        /// Reports JSON with references to objects. A reference has no form in JSON.
        private func checkJSON(_ shape: TypeShape, _ findings: inout Findings) {
            guard shape.wrapped.holdsReference else { return }
            let marker = property.markers.first { $0.options.contains { $0.name == "json" } }
            guard let marker, let option = marker.options.first(where: { $0.name == "json" }) else { return }
            let mistake = Mistake(
                "jsonReference", "'\(property.name)' refers to objects, but JSON can hold only values.", "Remove '.json'.")
            findings.add(mistake, at: option.expression, fix: .removing(option, from: marker))
        }

        private func checkValue(_ type: TypeSyntax, _ shape: TypeShape, _ findings: inout Findings) {
            switch shape.wrapped {
            case .dictionary:
                findings.add(.needsJSON("dictionary", property, "a dictionary"), at: type, fix: jsonFix)
            case .array(let element):
                checkMembers(element, of: type, "array", shape, &findings)
            case .set(let element):
                checkMembers(element, of: type, "set", shape, &findings)
            case .unsupported(let name):
                let replacement = TypeShape.replacements[name] ?? nil
                let mistake = Mistake(
                    "unsupportedType", "An attribute cannot have the type '\(name)'.",
                    replacement.map { "Write '\($0)', which holds all of its values." }
                        ?? "Write a type that attributes can have, such as Int64 or Decimal.")
                findings.add(mistake, at: type.withoutOptional, fix: replacement.map { .replacing(type.withoutOptional, with: $0) })
            case .named(let name) where name == entity.typeName || name == "Self":
                let mistake = Mistake(
                    "recursiveStruct", "A record of '\(entity.typeName)' cannot contain another record of '\(entity.typeName)'.",
                    "Write 'Ref<\(entity.typeName)>', which refers to the other object.")
                findings.add(mistake, at: type.withoutOptional, fix: .replacing(type.withoutOptional, with: "Ref<\(entity.typeName)>"))
            case .toMany where shape.isOptional:
                checkPresence(of: type, &findings)
            default: break
            }
        }

        /// Checks the members of an array or a set. If the members are records, the property is a relationship.
        private func checkMembers(
            _ member: TypeShape, of type: TypeSyntax, _ word: String, _ shape: TypeShape, _ findings: inout Findings
        ) {
            switch member.wrapped {
            case .attribute(let name), .unsupported(let name):
                findings.add(.needsJSON("\(word)OfValues", property, "several values of type '\(name)'"), at: type, fix: jsonFix)
            case .array, .set, .dictionary:
                findings.add(.needsJSON("nestedCollection", property, "collections of collections"), at: type, fix: jsonFix)
            case .tuple, .function, .existential, .toMany:
                let remedy = "Write an array of records, or mark the property with @Attribute(.json) if its type conforms to Codable."
                findings.add(.unstorable("member", property, remedy), at: type)
            case .named, .ref:
                if member.isOptional { return checkOptionalMember(type, shape, &findings) }
                if shape.isOptional { checkPresence(of: type, &findings) }
            case .optional, .implicitlyUnwrapped: break
            }
        }

        private func checkOptionalMember(_ type: TypeSyntax, _ shape: TypeShape, _ findings: inout Findings) {
            let mistake = Mistake(
                "optionalMember", "The members of a relationship cannot be optional.", "Remove the '?' from the members' type.")
            let mark = type.lastOptionalMark
            findings.add(mistake, at: type, fix: shape.isOptional ? nil : mark.map { .removing($0) })
        }

        /// The change that stores the property as JSON. It is `nil` if the property has a marker whose parts have no meaning for JSON,
        /// because the user must choose which parts stay.
        private var jsonFix: FixIt? {
            guard let marker = property.markers.first else { return .adding(".json", to: property) }
            switch marker.kind {
            case .attribute: return .adding(".json", to: property)
            case .relationship where marker.options.isEmpty && marker.labeled.isEmpty:
                return .replacing(marker.attribute, with: "@Attribute(.json)")
            case .identity, .relationship, .transient: return nil
            }
        }

        private func checkPresence(of type: TypeSyntax, _ findings: inout Findings) {
            let wrapped = type.withoutOptional.trimmedDescription
            let mistake = Mistake(
                "optionalCollection", "A relationship to many objects cannot be optional, but it may be empty.", "Write '\(wrapped)'.")
            findings.add(mistake, at: type, fix: .replacing(type, with: wrapped))
        }
    }

    extension Mistake {
        fileprivate static func unstorable(_ kind: String, _ property: StoredProperty, _ remedy: String) -> Mistake {
            let type = property.type?.trimmedDescription ?? ""
            return Mistake("\(kind)Type", "The store cannot hold '\(property.name)', whose type is '\(type)'.", remedy)
        }

        fileprivate static func needsJSON(_ kind: String, _ property: StoredProperty, _ values: String) -> Mistake {
            Mistake(
                kind, "An attribute holds one value, and '\(property.name)' holds \(values).", "Store it as JSON with @Attribute(.json).")
        }
    }

    extension TypeShape {
        /// Whether the syntax of the type shows a reference to objects.
        fileprivate var holdsReference: Bool {
            switch self {
            case .ref, .toMany: true
            case .array(let member), .set(let member): member.wrapped.holdsReference
            default: false
            }
        }
    }

    extension TypeSyntax {
        /// The `?` of the member's type in `[Member?]` or `Set<Member?>`.
        fileprivate var lastOptionalMark: TokenSyntax? {
            let member = self.as(ArrayTypeSyntax.self)?.element ?? self.as(IdentifierTypeSyntax.self)?.genericTypes.first
            return member?.as(OptionalTypeSyntax.self)?.questionMark
        }
    }
#endif
