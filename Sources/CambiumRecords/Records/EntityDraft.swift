/// An entity definition that is assembled from the descriptions of record types. Several record types can describe one entity.
struct EntityDraft {
    private(set) var definition: EntityDefinition
    /// For each property, the record that declared it first and the form in that record.
    private var declared: [String: (record: String, form: PropertyForm)] = [:]
    /// For each property, the options that record types declare for the property. `place` names the declaration, such as `Note.title`, for
    /// errors.
    private var options: [String: [(place: String, effect: PropertyOption.Effect)]] = [:]
    /// The inverses that record types state for inherited relationships.
    private(set) var repeatedInverses: [RepeatedInverse] = []

    /// An inverse that a record of a sub-entity states for a relationship of an ancestor.
    struct RepeatedInverse {
        let place: String
        /// The name of the ancestor.
        let entity: String
        let relationship: String
        let inverse: String
    }

    init(_ name: String) { definition = EntityDefinition(name) }

    /// The names of the properties that this entity's record types declare. `drop` removes the names of inherited properties.
    var declaredNames: Set<String> { Set(declared.keys) }

    /// Adds the properties and the options that a record declares.
    ///
    /// - Parameter names: Returns the stored name of the property that a name or a key path denotes, or `nil` if no record type has the
    ///   property.
    mutating func add(
        _ description: RecordDescription, of type: any EntityRecord.Type, names: (PropertyName) -> String?, _ mistakes: inout [String]
    ) {
        mistakes += description.mistakes
        if description.isAbstract { definition.isAbstract = true }
        if let parent = description.parent?.recordDescription.entity {
            if let other = definition.parent, other != parent { mistakes.append(Self.difference(type, "the parent", parent, other)) }
            definition.parent = parent
        }
        for set in description.unique where !definition.unique.contains(set) { definition.unique.append(set) }
        for index in description.indexes where !definition.indexes.contains(index) { definition.indexes.append(index) }
        for (key, text) in description.userInfo.sorted(by: { $0.key < $1.key }) {
            if let other = definition.userInfo.updateValue(text, forKey: key), other != text {
                mistakes.append(Self.difference(type, "the text '\(key)'", text, other))
            }
        }
        if let name = description.formerName {
            if let other = definition.formerName, other != name { mistakes.append(Self.difference(type, "the former name", name, other)) }
            definition.formerName = name
        }
        var listed: Set<String> = []
        for property in description.properties {
            if !listed.insert(property.name).inserted {
                mistakes.append("\(type) lists two properties with the stored name '\(property.name)'. Give one of them another name.")
                continue
            }
            if let first = declared[property.name] {
                if !first.form.isSame(as: property.form) {
                    mistakes.append(
                        "\(type).\(property.name) and \(first.record).\(property.name) have different types, but both are views of the "
                            + "same property of '\(description.entity)'. Declare the same type.")
                }
                if case .relationship(_, .orderedToMany, _) = property.form { order(property.name) }
            } else {
                declared[property.name] = (String(describing: type), property.form)
                addProperty(property)
            }
            for option in property.options {
                let place = "\(type).\(property.name)"
                let earlier = options[property.name] ?? []
                if let other = earlier.first(where: { $0.effect.contradicts(option.effect, names) }) {
                    mistakes.append(
                        "\(place) has an option that contradicts an option of \(other.place). Declare the same rule in both places.")
                }
                options[property.name, default: []].append((place, option.effect))
                apply(option.effect, to: property.name, place, names, &mistakes)
            }
        }
    }

    private static func difference(_ type: any EntityRecord.Type, _ part: String, _ own: String, _ other: String) -> String {
        "\(type) states \(part) '\(own)', but another record of the same entity states '\(other)'. Make both records agree."
    }

    private mutating func addProperty(_ property: RecordDescription.Property) {
        switch property.form {
        case .attribute(let type, let isOptional, let allowed):
            definition.attributes.append(
                AttributeDefinition(property.name, type, isOptional ? .optional : .mandatory, allowed: allowed))
        case .relationship(let target, let cardinality, let isOptional):
            definition.relationships.append(
                RelationshipDefinition(
                    property.name, to: target.recordDescription.entity, cardinality,
                    min: cardinality == .toOne && !isOptional ? 1 : nil))
        }
    }

    /// Marks a relationship as ordered if another record declared it without an order.
    private mutating func order(_ name: String) {
        guard let index = definition.relationships.firstIndex(where: { $0.name == name && $0.cardinality == .toMany }) else { return }
        definition.relationships[index].cardinality = .orderedToMany
    }

    private mutating func apply(
        _ effect: PropertyOption.Effect, to name: String, _ place: String, _ names: (PropertyName) -> String?, _ mistakes: inout [String]
    ) {
        if let index = definition.attributes.firstIndex(where: { $0.name == name }) {
            applyToAttribute(effect, index, place, names, &mistakes)
        } else if let index = definition.relationships.firstIndex(where: { $0.name == name }) {
            applyToRelationship(effect, index, place, names, &mistakes)
        }
    }

    private mutating func applyToAttribute(
        _ effect: PropertyOption.Effect, _ index: Int, _ place: String, _ names: (PropertyName) -> String?, _ mistakes: inout [String]
    ) {
        var attribute = definition.attributes[index]
        switch effect {
        case .identity: if !definition.identity.contains(attribute.name) { definition.identity.append(attribute.name) }
        case .unique: if !definition.unique.contains([attribute.name]) { definition.unique.append([attribute.name]) }
        case .indexed: if !definition.indexes.contains([attribute.name]) { definition.indexes.append([attribute.name]) }
        case .json, .named: break
        case .default(let value): attribute.setDefault(value)
        case .min(let value): attribute.setMin(value)
        case .max(let value): attribute.setMax(value)
        case .minLength(let length): attribute.minLength = length
        case .maxLength(let length): attribute.maxLength = length
        case .regex(let pattern): attribute.regex = pattern
        case .derived(let derivation): attribute.derivation = derivation
        case .renamed(let name): attribute.formerName = name
        case .userInfo(let texts): attribute.userInfo.merge(texts) { _, new in new }
        case .followParent(let name):
            if let name = names(name) {
                attribute.userInfo["followParent"] = name
            } else {
                mistakes.append(Self.unknown(place, "followParent"))
            }
        case .inverse, .onDelete, .orphans, .ordered, .minCount, .maxCount:
            mistakes.append("\(place) is an attribute, but has an option for relationships. Remove the option.")
        }
        definition.attributes[index] = attribute
    }

    private mutating func applyToRelationship(
        _ effect: PropertyOption.Effect, _ index: Int, _ place: String, _ names: (PropertyName) -> String?, _ mistakes: inout [String]
    ) {
        var relationship = definition.relationships[index]
        switch effect {
        case .identity:
            if relationship.cardinality == .toOne {
                if !definition.identity.contains(relationship.name) { definition.identity.append(relationship.name) }
            } else {
                mistakes.append("\(place) leads to several objects, which cannot be part of an identity. Remove .identity.")
            }
        case .inverse(let name):
            if let name = names(name) { relationship.inverse = name } else { mistakes.append(Self.unknown(place, "inverse")) }
        case .onDelete(let rule): relationship.deleteRule = rule
        case .orphans(let rule): relationship.orphanRule = rule
        case .ordered:
            if relationship.cardinality == .toOne {
                mistakes.append("\(place) leads to one object, which has no order. Remove .ordered.")
            } else {
                relationship.cardinality = .orderedToMany
            }
        case .minCount(let count):
            if count < 1, case .relationship(_, .toOne, false)? = declared[relationship.name]?.form {
                mistakes.append(
                    "\(place) leads to one object and is not optional, so it always has a member. Remove .minCount(\(count)), or make "
                        + "the type optional.")
            }
            relationship.minCount = count
        case .maxCount(let count): relationship.maxCount = count
        case .renamed(let name): relationship.formerName = name
        case .userInfo(let texts): relationship.userInfo.merge(texts) { _, new in new }
        case .named: break
        default: mistakes.append("\(place) is a relationship, but has an option for attributes. Remove the option.")
        }
        definition.relationships[index] = relationship
    }

    private static func unknown(_ place: String, _ option: String) -> String {
        "The key path of .\(option) at \(place) leads to no stored property of the records of this schema. Use a property that a "
            + "recordSchema lists, and name its record in the call that makes the schema."
    }

    /// Removes the properties, identity attributes, unique sets and indexes that an ancestor also declares, because the entity inherits
    /// them.
    ///
    /// Reports each option of an inherited property that would change the ancestor's property. A default is not reported, because the macro
    /// may have made the default from an initial value. An inverse is not reported here, but added to `repeatedInverses`, because the
    /// relationship at the other end may state it. Also reports each declared type that cannot read the ancestor's property.
    ///
    /// - Parameters:
    ///   - lookup: Returns the stored name of a property, as `names` of `add` does.
    ///   - areRelated: Returns whether two entities are the same, or one is an ancestor of the other.
    mutating func drop(
        _ ancestor: EntityDraft, _ lookup: (PropertyName) -> String?, _ areRelated: (String, String) -> Bool, _ mistakes: inout [String]
    ) {
        let names = ancestor.declaredNames
        for name in definition.attributes.map(\.name) + definition.relationships.map(\.name) where names.contains(name) {
            let parent = ancestor.definition.name
            if let own = declared[name], !own.form.canRead(name, of: ancestor.definition, areRelated) {
                mistakes.append(
                    "\(own.record).\(name) and the inherited property '\(parent).\(name)' have different types. "
                        + "Declare the same type as in the record of '\(parent)'.")
            }
            for option in options[name] ?? [] {
                if ancestor.isChanged(by: option.effect, name, lookup) { mistakes.append(Self.surplus(option.place, parent, name)) }
                if case .inverse(let inverse) = option.effect, let inverse = lookup(inverse) {
                    repeatedInverses.append(
                        RepeatedInverse(place: option.place, entity: parent, relationship: name, inverse: inverse))
                }
            }
        }
        definition.unique.removeAll(where: ancestor.definition.unique.contains)
        definition.indexes.removeAll(where: ancestor.definition.indexes.contains)
        definition.identity.removeAll(where: ancestor.definition.identity.contains)
        definition.attributes.removeAll { names.contains($0.name) }
        definition.relationships.removeAll { names.contains($0.name) }
        for name in names { declared[name] = nil }
    }

    private static func surplus(_ place: String, _ parent: String, _ name: String) -> String {
        "\(place) has an option that the inherited property '\(parent).\(name)' lacks. Move the option to the record of '\(parent)'."
    }

    /// Returns the mistake if a relationship of this entity has an inverse other than the repeated one; otherwise `nil`. Call this method
    /// after the inverses of all relationships were completed.
    func mistake(in repeated: RepeatedInverse) -> String? {
        let inverse = definition.relationships.first { $0.name == repeated.relationship }?.inverse
        return inverse == repeated.inverse ? nil : Self.surplus(repeated.place, repeated.entity, repeated.relationship)
    }

    /// Whether an option would change a property.
    private func isChanged(by effect: PropertyOption.Effect, _ name: String, _ lookup: (PropertyName) -> String?) -> Bool {
        switch effect {
        case .default, .inverse: return false
        default: break
        }
        // Ignores the mistakes, because they were reported when `add` applied the option.
        var (changed, mistakes) = (self, [String]())
        changed.apply(effect, to: name, "", lookup, &mistakes)
        return changed.definition.attributes != definition.attributes || changed.definition.relationships != definition.relationships
    }

    /// Sets the inverse of a relationship that has no inverse yet.
    mutating func setInverse(of name: String, to inverse: String) {
        guard let index = definition.relationships.firstIndex(where: { $0.name == name && $0.inverse == nil }) else { return }
        definition.relationships[index].inverse = inverse
    }
}
