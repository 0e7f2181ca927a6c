internal import CambiumModel

/// Adds random rules for clones to the `userInfo` of attributes and relationships. A schema with these rules is valid, and most clones
/// succeed.
extension RandomSchema {
    /// Names for the clone rules in `userInfo` that differ from the standard names. Some clones of random programs use these names.
    static let otherKeys = CloneKeys(exclude: "omit", rebuild: "renew", followParent: "above", withoutParent: "orphan")

    /// Adds an attribute that gets a new value in each copy, so that a unique set with this attribute allows clones. Returns the name of
    /// the attribute.
    mutating func addRebuilt(_ index: Int) -> String {
        var attribute = AttributeDefinition(name("uuid"), .uuid, .optional)
        for keys in [CloneKeys.standard, Self.otherKeys] { attribute.userInfo[keys.rebuild] = "uuid" }
        entities[index].attributes.append(attribute)
        return attribute.name
    }

    mutating func addCloneRules(_ random: inout SplitMix64) {
        for keys in [CloneKeys.standard, Self.otherKeys] {
            for entity in entities.indices {
                for attribute in entities[entity].attributes.indices where random.isTrue(1, outOf: 3) {
                    addAttributeRule(entity, attribute, keys, &random)
                }
            }
        }
        for entity in entities.indices {
            for relationship in entities[entity].relationships.indices { addRelationshipRule(entity, relationship, &random) }
        }
    }

    private mutating func addAttributeRule(_ entity: Int, _ place: Int, _ keys: CloneKeys, _ random: inout SplitMix64) {
        var attribute = entities[entity].attributes[place]
        let mayBeMissing = attribute.presence == .optional || attribute.defaultValue != nil
        switch attribute.type {
        case .uuid where random.isTrue(2, outOf: 3): attribute.userInfo[keys.rebuild] = random.isTrue(1, outOf: 2) ? "uuid" : "UUID"
        case .date where random.isTrue(2, outOf: 3): attribute.userInfo[keys.rebuild] = "now"
        default: break
        }
        if mayBeMissing, random.isTrue(1, outOf: 4) { attribute.userInfo[keys.exclude] = random.isTrue(1, outOf: 2) ? "" : "no" }
        if let path = path(entity, attribute, &random) {
            attribute.userInfo[keys.followParent] = path
            if !random.isTrue(1, outOf: 20) {
                attribute.userInfo[keys.withoutParent] = mayBeMissing && random.isTrue(1, outOf: 2) ? "blank" : "keep"
            }
        }
        entities[entity].attributes[place] = attribute
    }

    /// Returns a path to an attribute with the type of `attribute`, or `nil` if there is no such attribute.
    ///
    /// A short path leads to an attribute of an entity with a relationship to this entity. A long path goes two or three levels up, and its
    /// attribute may belong to any entity.
    private func path(_ entity: Int, _ attribute: AttributeDefinition, _ random: inout SplitMix64) -> String? {
        let isNear = random.isTrue(2, outOf: 3)
        let lineage = Set(lineage(entity).map { entities[$0].name })
        let above = entities.filter { other in !isNear || other.relationships.contains { lineage.contains($0.destination) } }
        let names = above.flatMap { $0.attributes.filter { $0.type == attribute.type }.map(\.name) }
        guard let name = random.pick(names) else { return nil }
        if isNear { return random.isTrue(1, outOf: 3) ? "^." + name : name }
        return random.isTrue(2, outOf: 3) ? "^.^." + name : "^.^.^." + name
    }

    private mutating func addRelationshipRule(_ entity: Int, _ place: Int, _ random: inout SplitMix64) {
        let relationship = entities[entity].relationships[place]
        let inverse = entities.first { $0.name == relationship.destination }?.relationships.first { $0.name == relationship.inverse }
        var rules = ["copy", "copy", "skip"]
        if inverse?.cardinality != .toOne { rules += ["share", "Share"] }
        if random.isTrue(1, outOf: 4) { entities[entity].relationships[place].userInfo["clone"] = random.pick(rules) }
        for keys in [CloneKeys.standard, Self.otherKeys] where random.isTrue(1, outOf: 16) {
            entities[entity].relationships[place].userInfo[keys.exclude] = ""
        }
    }
}
