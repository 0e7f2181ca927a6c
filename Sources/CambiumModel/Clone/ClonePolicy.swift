/// The rules of a clone for each property of each concrete entity. A rule of the request replaces the rule of the schema.
package struct ClonePolicy: Sendable {
    /// The rules for one relationship of an entity.
    package struct Branch: Sendable {
        package let relationship: Relationship
        package let rule: CloneRule
        /// The rule for the roots of the clone, the objects that the request names.
        package let rootRule: CloneRule
    }

    /// The rules for all properties of one concrete entity.
    package struct Member: Sendable {
        package let entity: Entity
        /// The rules for each relationship of the entity, in declaration order.
        package let branches: [Branch]
        package let attributes: [(attribute: Attribute, rule: CloneAttributeRule)]

        /// Returns the rule of a relationship of the entity.
        package func rule(of relationship: PropertyNumber, isRoot: Bool) -> CloneRule {
            guard let branch = branches.first(where: { $0.relationship.number == relationship }) else { return .skip }
            return isRoot ? branch.rootRule : branch.rule
        }
    }

    private let members: NumberTable<Member>

    /// Combines the rules of the schema with the rules of a request. Throws `.invalidInput` if a rule of the request would remove objects
    /// from the original.
    ///
    /// A request can also rename the keys of `userInfo`. Throws `.invalidInput` if the schema has, under a new key, a value that is not a
    /// rule.
    package init(_ schema: Schema, _ options: CloneOptions) throws(CambiumError) {
        var requested: [Key: CloneRule] = [:]
        for rule in options.rules { requested[Key(rule.entity, rule.relationship, rule.isAtRoot)] = rule.rule }
        var mistakes: [String] = []
        members = NumberTable(
            schema.entities.filter { !$0.isAbstract }.map { entity in
                let branches = entity.relationships.map { Self.branch($0, entity, schema, options.keys, requested, &mistakes) }
                let attributes = entity.attributes.map { ($0, Self.rule($0, entity, options.keys, &mistakes)) }
                return (entity.number.rawValue, Member(entity: entity, branches: branches, attributes: attributes))
            })
        guard mistakes.isEmpty else {
            throw CambiumError(
                .invalidInput, "Some rules of the clone cannot be used. Correct each of them.", details: Array(mistakes.prefix(20)))
        }
    }

    package subscript(_ entity: EntityNumber) -> Member? { members[entity.rawValue] }

    private struct Key: Hashable {
        let entity: EntityNumber
        let relationship: PropertyNumber
        let isAtRoot: Bool

        init(_ entity: EntityNumber, _ relationship: PropertyNumber, _ isAtRoot: Bool) {
            self.entity = entity
            self.relationship = relationship
            self.isAtRoot = isAtRoot
        }
    }

    private static func branch(
        _ relationship: Relationship, _ entity: Entity, _ schema: Schema, _ keys: CloneKeys, _ requested: [Key: CloneRule],
        _ mistakes: inout [String]
    ) -> Branch {
        let link = schema.links[relationship.link]
        let other = relationship.end == 0 && !link.isSymmetric ? link.second : link.first
        let hasOneOwner = other.property != nil && !other.isToMany
        let isOwning = hasOneOwner || other.property == nil
        let rule = requested[Key(entity.number, relationship.number, false)] ?? rule(relationship, keys, isOwning)
        let rootRule = requested[Key(entity.number, relationship.number, true)] ?? rule
        if rule == .share || rootRule == .share, hasOneOwner {
            mistakes.append(
                "'\(entity.name).\(relationship.name)' cannot be shared: each target has one owner, so the clone would take the targets "
                    + "from the original. Copy or skip the relationship.")
        }
        return Branch(relationship: relationship, rule: rule, rootRule: rootRule)
    }

    private static func rule(_ relationship: Relationship, _ keys: CloneKeys, _ isOwning: Bool) -> CloneRule {
        if relationship.userInfo[keys.exclude] != nil { return .skip }
        switch relationship.userInfo["clone"]?.lowercased() {
        case "skip": return .skip
        case "copy": return .copy
        case "share": return .share
        default: return isOwning ? .copy : .share
        }
    }

    private static func rule(
        _ attribute: Attribute, _ entity: Entity, _ keys: CloneKeys, _ mistakes: inout [String]
    ) -> CloneAttributeRule {
        if attribute.isDerived { return .computed }
        let mayBeMissing = attribute.isOptional || !attribute.defaultValue.isNull
        var found: [String] = []
        let rule = CloneAttributeRule(attribute.userInfo, keys, type: attribute.type, mayBeMissing: mayBeMissing) { key, message in
            found.append("'\(entity.name).\(attribute.name)', key '\(key)': \(message).")
        }
        mistakes += found
        return rule
    }
}
