#if Macros
    import SwiftDiagnostics
    import SwiftSyntax

    /// Reports options that do not fit a property: its role (attribute or relationship) or its type.
    struct OptionCheck {
        private let property: StoredProperty
        private let marker: Marker

        init(_ property: StoredProperty, _ marker: Marker) { (self.property, self.marker) = (property, marker) }

        func findMistakes(_ findings: inout Findings) {
            for option in marker.options {
                guard let name = option.name else { continue }
                if !checkRole(option, name, &findings) { continue }
                checkIdentity(option, name, &findings)
                checkType(option, name, &findings)
                checkRebuild(option, name, &findings)
                checkOrder(option, name, &findings)
                checkCount(option, name, &findings)
                checkDerived(option, name, &findings)
            }
        }

        // MARK: Roles

        private var role: OptionRule.Role { marker.kind == .relationship ? .relationship : .attribute }

        /// Reports an option that does not fit the marker. Returns whether the option fits.
        private func checkRole(_ option: Option, _ name: String, _ findings: inout Findings) -> Bool {
            let roles = OptionRule.roles(of: name)
            guard let other = roles.first, !roles.contains(role) else { return true }
            let mistake = Mistake(
                "optionOf\(other.rawValue)", "'.\(name)' is an option of \(other.rawValue.lowercased())s.",
                "Write it in @\(other.rawValue), or remove it.")
            findings.add(mistake, at: option.expression)
            return false
        }

        private func checkIdentity(_ option: Option, _ name: String, _ findings: inout Findings) {
            guard name == "identity" else { return }
            let rest = marker.options.filter { $0.name != "identity" }.map(\.expression.trimmedDescription).joined(separator: ", ")
            let text = rest.isEmpty ? "@Identity" : "@Identity(\(rest))"
            let mistake = Mistake("identityOption", "'.identity' is not an option of @\(marker.kind.rawValue).", "Write \(text).")
            findings.add(mistake, at: option.expression, fix: .replacing(marker.attribute, with: text))
        }

        // MARK: Types

        private func checkType(_ option: Option, _ name: String, _ findings: inout Findings) {
            guard let allowed = OptionRule.types(of: name), let type = typeName, !allowed.names.contains(type) else { return }
            let mistake = Mistake(
                "\(name)OfType", "Only \(allowed.description) can have '.\(name)', but the type of '\(property.name)' is '\(type)'.",
                lengthName(name, type).map { "Write '.\($0)'." } ?? "Remove the option.")
            let place = option.nameToken.map { Syntax($0) } ?? Syntax(option.expression)
            let fix = lengthName(name, type).flatMap { text in option.nameToken.map { FixIt.replacing($0, with: text) } }
            findings.add(mistake, at: place, fix: fix ?? .removing(option, from: marker))
        }

        /// Returns the option for the length, if `.min` or `.max` was written for a type with a length.
        private func lengthName(_ name: String, _ type: String) -> String? {
            guard ["min", "max"].contains(name), OptionRule.types(of: "minLength")?.names.contains(type) == true else { return nil }
            return "\(name)Length"
        }

        /// The type, if the annotation or the literal shows it. `.json` makes the type JSON, which has no length and no order.
        private var typeName: String? {
            if property.isJSON { return "JSON" }
            return property.attributeTypeName
        }

        private func checkRebuild(_ option: Option, _ name: String, _ findings: inout Findings) {
            guard name == "rebuild", let word = option.firstArgument?.as(MemberAccessExprSyntax.self)?.declName.baseName.text else {
                return
            }
            guard let wanted = ["uuid": "UUID", "now": "Date"][word], let type = typeName, type != wanted else { return }
            let mistake = Mistake(
                "rebuildOfType", "'.rebuild(.\(word))' gives each copy a new \(wanted), but the type of '\(property.name)' is '\(type)'.",
                "Remove the option, or change the type to '\(wanted)'.")
            findings.add(mistake, at: option.expression)
        }

        // MARK: Order and derivation

        private func checkOrder(_ option: Option, _ name: String, _ findings: inout Findings) {
            guard name == "ordered", let type = property.type, let shape = property.shape else { return }
            if case .set = shape.wrapped {
                let member = type.as(IdentifierTypeSyntax.self)?.genericTypes.first?.trimmedDescription ?? "Item"
                let mistake = Mistake("orderedSet", "A set has no order, so '\(property.name)' cannot be ordered.", "Write '[\(member)]'.")
                findings.add(mistake, at: type, fix: .replacing(type, with: "[\(member)]"))
            } else if case .ref = shape.wrapped {
                let mistake = Mistake(
                    "orderedReference", "'\(property.name)' refers to one object, so it has no order.", "Remove the option '.ordered'.")
                findings.add(mistake, at: option.expression, fix: .removing(option, from: marker))
            }
        }

        /// Reports a number of members other than 1 for a property that refers to one object. If the property is optional, its minimum may
        /// be 0.
        private func checkCount(_ option: Option, _ name: String, _ findings: inout Findings) {
            guard let shape = property.shape, case .ref = shape.wrapped, ["minCount", "maxCount"].contains(name) else { return }
            guard let count = AttributeLimits(property).number(name)?.value else { return }
            guard count > 1 || (count < 1 && (name == "maxCount" || !property.isOptional)) else { return }
            let text = option.expression.trimmedDescription
            let mistake = Mistake(
                "countOfReference", "'\(property.name)' refers to one object, so it cannot have '\(text)'.", "Remove the option.")
            findings.add(mistake, at: option.expression, fix: .removing(option, from: marker))
        }

        private func checkDerived(_ option: Option, _ name: String, _ findings: inout Findings) {
            guard property.isDerived else { return }
            if ["default", "min", "max", "minLength", "maxLength", "regex"].contains(name) {
                let mistake = Mistake(
                    "derivedWithOption", "The store computes '\(property.name)', so '.\(name)' has no effect.", "Remove the option.")
                findings.add(mistake, at: option.expression, fix: .removing(option, from: marker))
            }
        }
    }

    extension StoredProperty {
        /// The attribute type that the annotation or the literal shows; `nil` if it is not known.
        var attributeTypeName: String? {
            if let shape { return shape.attributeType }
            let sign = initialValue?.as(PrefixOperatorExprSyntax.self)
            let literal = sign?.operator.text == "-" ? sign?.expression : initialValue
            switch literal?.kind {
            case .stringLiteralExpr: return "String"
            case .integerLiteralExpr: return "Int"
            case .floatLiteralExpr: return "Double"
            case .booleanLiteralExpr: return "Bool"
            default: return nil
            }
        }
    }

    extension Option {
        /// The token of the name after the dot.
        var nameToken: TokenSyntax? {
            let call = expression.as(FunctionCallExprSyntax.self)
            return (call?.calledExpression ?? expression).as(MemberAccessExprSyntax.self)?.declName.baseName
        }
    }
#endif
