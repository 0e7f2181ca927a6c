internal import CambiumModel

extension ModelReader {
    /// Reads the expression of a derived attribute. Later, `ModelDerivations` checks whether a schema can have the expression.
    mutating func readDerivation(_ element: ModelElement, _ attribute: inout AttributeDefinition, _ place: String) {
        let hasExpression = element["derivationExpression"] != nil
        guard element["derived"] == nil ? hasExpression : flag(element, "derived", place) else {
            if hasExpression { warnings.add(place, "'derivationExpression' is ignored; the attribute is not derived") }
            return
        }
        let expression = text(element["derivationExpression"]) ?? ""
        if let derivation = Derivation(coreData: expression), !attribute.isTransient {
            attribute.derivation = derivation
        } else {
            warnings.add(place, ModelDerivations.warning("a schema has no equivalent of the expression '\(expression)'"))
        }
    }
}

extension Derivation {
    /// Reads a Core Data expression: `items.@count`, `items.@sum.price`, `sum:(items.price)` or `canonical:(name)`. Returns `nil` for any
    /// other expression.
    fileprivate init?(coreData expression: String) {
        let text = expression.filter { $0 != " " }
        if text.hasSuffix(")"), let open = text.firstIndex(of: "(") {
            let function = text[..<open].filter { $0 != ":" && $0 != "@" }
            let path = String(text[text.index(after: open)...].dropLast())
            guard Self.isPath(path) else { return nil }
            self.init(key: function == "canonical" ? "folded" : function == "folded" ? "" : String(function), path: path)
            return
        }
        let steps = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let place = steps.firstIndex(where: { $0.hasPrefix("@") }), place > 0 else { return nil }
        let path = (steps[..<place] + steps[(place + 1)...]).joined(separator: ".")
        guard Self.isPath(path), steps[place] != "@folded" else { return nil }
        self.init(key: String(steps[place].dropFirst()), path: path)
    }

    private static func isPath(_ text: String) -> Bool {
        !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || "_-.".contains($0) }
    }
}

/// The derived attributes of a model. The attributes are converted after all entities have been read, because an expression names
/// properties of other entities.
struct ModelDerivations {
    private(set) var entities: [EntityDefinition]
    private let parents: [Int?]

    init(_ sets: ModelSets) {
        entities = sets.entities
        parents = sets.parents
    }

    static func warning(_ reason: String) -> String {
        "the attribute is derived in Core Data, but Cambium cannot derive it, because \(reason); set its value in the program"
    }

    /// Converts derived attributes to the form that a schema requires. If there is no such form, the attribute becomes an ordinary
    /// attribute and keeps its default. An attribute that remains derived loses its default without a warning, because the store computes
    /// even its initial value.
    mutating func settle(_ warnings: inout ModelWarnings) {
        var check = DerivationCheck(SchemaDefinition(entities: entities), parents: parents)
        for index in entities.indices {
            for place in entities[index].attributes.indices where entities[index].attributes[place].derivation != nil {
                entities[index].attributes[place] = settled(entities[index].attributes[place], of: index, &check, &warnings)
            }
        }
    }

    private func settled(
        _ attribute: AttributeDefinition, of index: Int, _ check: inout DerivationCheck, _ warnings: inout ModelWarnings
    ) -> AttributeDefinition {
        let place = "\(entities[index].name).\(attribute.name)"
        var derived = AttributeDefinition(attribute.name, attribute.type, attribute.presence, derived: attribute.derivation)
        (derived.userInfo, derived.formerName) = (attribute.userInfo, attribute.formerName)
        let types = check.types(derived, of: index)
        if let type = types.first, !types.contains(derived.type), Self.isNumber(type), Self.isNumber(derived.type) { derived.type = type }
        if let mistake = check.mistake(derived, of: index) {
            var ordinary = attribute
            ordinary.derivation = nil
            warnings.add(place, Self.warning(mistake))
            return ordinary
        }
        if derived.type != attribute.type {
            warnings.add(place, "the derived attribute is of type \(derived.type.rawValue) instead of \(attribute.type.rawValue)")
        }
        let rules = [
            ("minimum", attribute.min != nil || attribute.minLength != nil),
            ("maximum", attribute.max != nil || attribute.maxLength != nil),
            ("regular expression", attribute.regex != nil),
        ]
        for (rule, isGiven) in rules where isGiven {
            warnings.add(place, "the \(rule) is ignored; the store computes the values")
        }
        return derived
    }

    private static func isNumber(_ type: AttributeType) -> Bool {
        [.int16, .int32, .int64, .float, .double, .decimal].contains(type)
    }
}
