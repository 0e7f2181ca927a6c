extension CloneOptions {
    /// Converts the names in a request to numbers.
    ///
    /// - Parameter rootEntities: The concrete entities of the roots. Each of these entities must have all attributes of `rootValues`.
    /// - Throws: `.unknownName` for a name that the schema does not have, and for a relationship that is excluded at the root but that no
    ///   root has. `.invalidInput` for a negative depth, a value whose type differs from the type of the attribute, or invalid keys.
    ///   `.ruleViolated` for a value that the attribute does not allow.
    package init(_ request: CloneRequest, _ schema: Schema, rootEntities: [Entity]) throws(CambiumError) {
        if let depth = request.depth, depth < 0 {
            throw CambiumError(.invalidInput, "The depth of the clone is \(depth), which is negative. Pass 0 or a larger number.")
        }
        let keys = [request.keys.exclude, request.keys.rebuild, request.keys.followParent, request.keys.withoutParent]
        guard Set(keys).count == keys.count, keys.allSatisfy({ !$0.isEmpty && $0 != "clone" && $0.utf8.count <= Self.keyByteCountMax })
        else {
            throw CambiumError(
                .invalidInput,
                "The keys of a clone must be four different words of 1 to 255 bytes, and 'clone' must not be one of them. "
                    + "Choose other words.")
        }
        var rules = try Self.rules(request.rules.map { ($0.key, $0.value) }, isAtRoot: false, schema)
        rules += try Self.rules(request.excludedAtRoot.map { ($0, .skip) }, isAtRoot: true, schema)
        try Self.checkExcluded(request.excludedAtRoot, rootEntities, schema)
        rules.sort { ($0.entity, $0.relationship, $0.isAtRoot ? 1 : 0) < ($1.entity, $1.relationship, $1.isAtRoot ? 1 : 0) }
        self.init(
            rules: rules, depth: request.depth.map { Swift.min($0, Self.depthMax) }, keys: request.keys,
            rootValues: try Self.rootValues(request.rootValues, rootEntities))
    }

    package static let keyByteCountMax = 255
    /// The largest depth. No graph has more levels, and the log cannot store a larger number.
    package static let depthMax = Int(UInt32.max)

    /// Converts the names in rules to numbers. If several rules fit one relationship, `Entity.name` takes precedence over `name`. A rule
    /// with the name of a sub-entity takes precedence over a rule with the name of its parent.
    private static func rules(
        _ named: [(String, CloneRule)], isAtRoot: Bool, _ schema: Schema
    ) throws(CambiumError) -> [Rule] {
        var found: [Rule: (rule: CloneRule, familySize: Int)] = [:]
        for (text, rule) in named {
            let (owner, name) = try split(text, schema)
            var isKnown = false
            for entity in schema.entities where owner?.family.contains(entity.number) ?? true {
                guard let relationship = entity.relationship(name) else { continue }
                isKnown = true
                if entity.isAbstract { continue }
                let key = Rule(entity: entity.number, relationship: relationship.number, rule: .skip, isAtRoot: isAtRoot)
                let familySize = owner?.family.count ?? Int.max
                if let other = found[key], other.familySize <= familySize { continue }
                found[key] = (rule, familySize)
            }
            guard isKnown else { throw unknown(text, owner, name, schema) }
        }
        return found.map { Rule(entity: $0.key.entity, relationship: $0.key.relationship, rule: $0.value.rule, isAtRoot: isAtRoot) }
    }

    /// Throws `.unknownName` if no root has a relationship that is excluded at the root. A clone without roots is refused later.
    private static func checkExcluded(_ names: [String], _ roots: [Entity], _ schema: Schema) throws(CambiumError) {
        for text in names where !roots.isEmpty {
            let (owner, name) = try split(text, schema)
            if roots.contains(where: { (owner?.family.contains($0.number) ?? true) && $0.relationship(name) != nil }) { continue }
            throw CambiumError(
                .unknownName,
                "The clone excludes the relationship '\(text.excerpt)' at the root, but no object to clone has it. "
                    + "Check the name, or exclude the relationship at every level.")
        }
    }

    private static func split(_ text: String, _ schema: Schema) throws(CambiumError) -> (Entity?, String) {
        guard let dot = text.firstIndex(of: ".") else { return (nil, text) }
        let name = String(text[..<dot])
        guard let entity = schema.entity(name) else {
            let remedy = schema.newName(ofEntity: name) ?? "Check the name in the request."
            throw CambiumError(.unknownName, "'\(text.excerpt)': the schema has no entity '\(name.excerpt)'. \(remedy)")
        }
        return (entity, String(text[text.index(after: dot)...]))
    }

    private static func unknown(_ text: String, _ owner: Entity?, _ name: String, _ schema: Schema) -> CambiumError {
        if let owner {
            let kind = owner.attribute(name) == nil ? "has no relationship '\(name.excerpt)'" : "has '\(name)' as an attribute"
            let remedy = owner.newName(ofRelationship: name) ?? "Use the name of a relationship in the rules of the clone."
            return CambiumError(.unknownName, "'\(owner.name)' \(kind). \(remedy)")
        }
        let newName = schema.entities.lazy.compactMap { $0.newName(ofRelationship: name) }.first
        let remedy = newName ?? "Check the name in the request."
        return CambiumError(.unknownName, "No entity has a relationship '\(text.excerpt)'. \(remedy)")
    }

    private static func rootValues(_ values: [String: Value], _ entities: [Entity]) throws(CambiumError) -> [RootValue] {
        var found: [RootValue] = []
        for (name, value) in values {
            for entity in entities {
                guard let attribute = entity.attribute(name) else {
                    let remedy = entity.newName(ofAttribute: name) ?? "Check the name in the request."
                    throw CambiumError(.unknownName, "'\(entity.name)' has no attribute '\(name.excerpt)'. \(remedy)")
                }
                if attribute.isDerived { throw attribute.refusal(in: entity) }
                guard value.isNull || StoredForm(value, type: attribute.type) != nil else {
                    let type = attribute.type.rawValue
                    throw CambiumError(
                        .invalidInput, "'\(entity.name).\(name)' cannot have the given value. Pass a value of type \(type).")
                }
                if let violation = attribute.constraints.check(value) {
                    throw CambiumError(
                        .ruleViolated, "'\(entity.name).\(name)' \(violation). Pass a value that the attribute allows.")
                }
                let isNew = !found.contains { $0.root == entity.root && $0.attribute == attribute.number }
                if isNew { found.append(RootValue(root: entity.root, attribute: attribute.number, value: value)) }
            }
        }
        return found.sorted { ($0.root, $0.attribute) < ($1.root, $1.attribute) }
    }
}
