/// A resolver for derived attributes: it checks their expressions, and converts the names in the expressions to numbers.
struct DerivationResolver {
    private let definition: SchemaDefinition
    private let tree: SchemaTree
    private let places: [String: Int]
    /// The properties that an entity declares or inherits, by the index of the entity. They are collected at their first use.
    private var known: [Int: Properties] = [:]

    private struct Properties {
        var relationships: [String: PropertyPlace] = [:]
        var attributes: [String: PropertyPlace] = [:]
    }

    /// The place of a property in the definition: the index of the entity that declares it, and the index in the entity's list.
    ///
    /// Thousands of entities may inherit thousands of properties. Copies of their definitions would take gigabytes of memory.
    private struct PropertyPlace {
        let entity: Int32
        let index: Int32

        init(_ entity: Int, _ index: Int) { (self.entity, self.index) = (Int32(clamping: entity), Int32(clamping: index)) }
    }

    init(_ definition: SchemaDefinition, _ tree: SchemaTree) {
        self.definition = definition
        self.tree = tree
        places = Dictionary(definition.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the expression of an attribute, or `nil` if the attribute is not derived or has a mistake.
    ///
    /// Complexity: O(properties of the entities that the expression reads), or O(1) if an earlier expression has read these entities.
    ///
    /// - Parameter index: The index of the entity that declares the attribute.
    mutating func resolve(_ attribute: AttributeDefinition, of index: Int, _ mistakes: inout SchemaMistakes) -> ResolvedDerivation? {
        guard let derivation = attribute.derivation else { return nil }
        let place = SchemaPlace.entity(definition.entities[index].name)["attributes"][attribute.name]
        for (key, isGiven) in given(attribute) where isGiven {
            mistakes.add(place[key].pointer, "a derived attribute cannot have '\(key)', because the store computes its value")
        }
        let expression = place["derived"][derivation.key].pointer
        do throws(Mistake) {
            let (relationship, source) = try operands(derivation, index)
            try check(attribute, derivation, source)
            return ResolvedDerivation(
                function: derivation.function, relationship: relationship?.number.map { PropertyNumber(rawValue: $0) },
                attribute: source?.number.map { PropertyNumber(rawValue: $0) })
        } catch {
            mistakes.add(expression, error.message)
            return nil
        }
    }

    private struct Mistake: Error { let message: String }

    private func given(_ attribute: AttributeDefinition) -> [(String, Bool)] {
        [
            ("default", attribute.defaultValue ?? .null != .null), ("min", attribute.min != nil), ("max", attribute.max != nil),
            ("minLength", attribute.minLength != nil), ("maxLength", attribute.maxLength != nil), ("regex", attribute.regex != nil),
            ("enum", attribute.allowed != nil), ("transient", attribute.isTransient),
        ]
    }

    // MARK: Names

    /// Returns the relationship and the attribute that an expression reads.
    private mutating func operands(
        _ derivation: Derivation, _ index: Int
    ) throws(Mistake) -> (relationship: RelationshipDefinition?, source: AttributeDefinition?) {
        let names = derivation.names
        guard let name = names.relationship else { return (nil, try source(names.attribute ?? "", of: index)) }
        let relationship = try relationship(name, of: index)
        if derivation.function == .count { return (relationship, nil) }
        guard let name = names.attribute else {
            throw Mistake(message: "'\(derivation.path)' must be a relationship and an attribute of its members, such as 'items.price'")
        }
        // The check of the relationships reports the missing destination, too. This error only ends the check of the expression.
        guard let destination = places[relationship.destination] else { throw Mistake(message: "the destination does not exist") }
        return (relationship, try source(name, of: destination))
    }

    private mutating func properties(of index: Int) -> Properties {
        if let known = known[index] { return known }
        var found = Properties()
        for place in [index] + tree.ancestors(of: index) {
            let entity = definition.entities[place]
            for (number, relationship) in entity.relationships.enumerated() {
                found.relationships[relationship.name] = PropertyPlace(place, number)
            }
            for (number, attribute) in entity.attributes.enumerated() { found.attributes[attribute.name] = PropertyPlace(place, number) }
        }
        known[index] = found
        return found
    }

    /// Returns an attribute that an entity declares or inherits.
    private mutating func attribute(_ name: String, of index: Int) -> AttributeDefinition? {
        properties(of: index).attributes[name].map { definition.entities[Int($0.entity)].attributes[Int($0.index)] }
    }

    private mutating func relationship(_ name: String, of index: Int) throws(Mistake) -> RelationshipDefinition {
        guard let place = properties(of: index).relationships[name] else {
            throw Mistake(message: "'\(definition.entities[index].name)' has no relationship '\(name)'")
        }
        let found = definition.entities[Int(place.entity)].relationships[Int(place.index)]
        if found.cardinality == .toOne {
            throw Mistake(message: "'\(name)' is a to-one relationship, but an expression needs one with \"many\": true")
        }
        return found
    }

    private mutating func source(_ name: String, of index: Int) throws(Mistake) -> AttributeDefinition {
        let entity = definition.entities[index].name
        guard let found = attribute(name, of: index) else {
            throw Mistake(message: "'\(entity)' has no attribute '\(name)'")
        }
        if found.derivation != nil {
            throw Mistake(message: "'\(entity).\(name)' is derived itself, but an expression can read only attributes that users set")
        }
        return found
    }

    // MARK: Types

    private func check(_ attribute: AttributeDefinition, _ derivation: Derivation, _ source: AttributeDefinition?) throws(Mistake) {
        let types = types(derivation.function, source)
        if types.isEmpty, let source {
            throw Mistake(message: "'\(derivation.key)' cannot read '\(source.name)', which is of type \(source.type.rawValue)")
        }
        guard types.contains(attribute.type) else {
            let names = types.map(\.rawValue).joined(separator: " or ")
            throw Mistake(message: "the attribute must be of type \(names), but it is of type \(attribute.type.rawValue)")
        }
    }

    /// Returns whether the value of an attribute's expression can be null. If the value can be null, the attribute is optional, even if the
    /// definition makes the attribute mandatory.
    mutating func mayBeNull(_ attribute: AttributeDefinition, of index: Int) -> Bool {
        switch attribute.derivation?.function {
        case .count, .sum, nil: return false
        case .min, .max: return true
        case .folded:
            let name = attribute.derivation?.names.attribute ?? ""
            return self.attribute(name, of: index)?.presence == .optional
        }
    }

    /// Returns the types that the derived attribute can have. The list is empty if the function cannot read `source`, because `source` has
    /// the wrong type.
    private func types(_ function: ResolvedDerivation.Function, _ source: AttributeDefinition?) -> [AttributeType] {
        switch (function, source?.type) {
        case (.count, _): [.int64, .int32, .int16]
        case (.folded, .string): [.string]
        case (.sum, .int16), (.sum, .int32), (.sum, .int64): [.int64, .int32, .int16]
        case (.sum, .float), (.sum, .double): [.double]
        case (.sum, .decimal): [.decimal]
        case (.min, let type?), (.max, let type?):
            switch type {
            case .int16, .int32, .int64, .float, .double, .decimal, .date, .string: [type]
            case .bool, .data, .uuid, .uri, .json: []
            }
        default: []
        }
    }

    /// Returns the types that an attribute with this expression can have. The list is empty if the expression has a mistake.
    mutating func types(_ derivation: Derivation, of index: Int) -> [AttributeType] {
        do throws(Mistake) {
            return types(derivation.function, try operands(derivation, index).source)
        } catch {
            return []  // `resolve` reports the mistake.
        }
    }
}

extension Derivation {
    fileprivate var function: ResolvedDerivation.Function {
        switch self {
        case .count: .count
        case .sum: .sum
        case .min: .min
        case .max: .max
        case .folded: .folded
        }
    }
}
