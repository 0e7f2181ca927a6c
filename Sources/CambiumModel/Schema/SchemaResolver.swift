internal import CambiumJSON

/// Resolves the names of a definition whose numbers are given, and checks its rules.
struct SchemaResolver {
    let definition: SchemaDefinition
    var mistakes = SchemaMistakes()
    private(set) var byName: [String: EntityDefinition] = [:]
    /// The numbers of properties met, by root entity.
    private var numbers: [String: Set<UInt16>] = [:]

    init(_ definition: SchemaDefinition) { self.definition = definition }

    mutating func resolve() throws(CambiumError) -> (entities: [Entity], links: [Link]) {
        checkNames()
        checkParents()
        // Everything behind this follows parents and numbers, which have to be sound.
        try mistakes.throwIfAny()
        var pairs = LinkResolver(definition: definition, byName: byName)
        pairs.resolve(&mistakes)
        let attributes = definition.entities.map { entity in entity.attributes.map { attribute($0, of: entity) } }
        for entity in definition.entities { checkSets(entity) }
        CloneRules.check(definition, byName, &mistakes)
        try mistakes.throwIfAny()
        let attributesByName = Dictionary(uniqueKeysWithValues: zip(definition.entities.map(\.name), attributes))
        var families: [String: Set<EntityNumber>] = [:]
        for entity in definition.entities {
            for member in lineage(of: entity) { families[member.name, default: []].insert(number(of: entity)) }
        }
        return (definition.entities.map { entity($0, attributesByName, families, pairs) }, pairs.links)
    }

    // MARK: Names

    private mutating func checkNames() {
        var formerNames: Set<String> = []
        var numbers: Set<UInt16> = []
        for entity in definition.entities {
            let place = SchemaPlace.entity(entity.name)
            check(name: entity.name, "entity", place)
            if byName.updateValue(entity, forKey: entity.name) != nil { mistakes.add(place.pointer, "there are two entities of this name") }
            if let former = entity.formerName, !formerNames.insert(former).inserted {
                mistakes.add(place["renamedFrom"].pointer, "two entities were called '\(former)'")
            }
            if let number = entity.number, !numbers.insert(number).inserted {
                mistakes.add(place.pointer, "another entity has the number \(number) already")
            }
        }
    }

    private mutating func check(name: String, _ what: String, _ place: SchemaPlace) {
        let first = name.unicodeScalars.first
        let isSound =
            first.map { $0.properties.isXIDStart } ?? false
            && name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue || $0 == "-" }
        if !isSound {
            mistakes.add(place.pointer, "the name of an \(what) begins with a letter and has letters, digits, '_' and '-' only")
        } else if name.utf8.count > 200 {
            mistakes.add(place.pointer, "the name of an \(what) has at most 200 bytes")
        }
    }

    private mutating func checkParents() {
        for entity in definition.entities {
            let place = SchemaPlace.entity(entity.name)
            var seen: Set<String> = [entity.name]
            var current = entity.parent
            while let name = current {
                guard let parent = byName[name] else {
                    if name == entity.parent { mistakes.add(place["parent"].pointer, "there is no entity '\(name)'") }
                    break
                }
                guard seen.insert(name).inserted else {
                    mistakes.add(place["parent"].pointer, "the parents of '\(entity.name)' go round in a ring")
                    break
                }
                current = parent.parent
            }
        }
        if mistakes.all.isEmpty { for entity in definition.entities { checkProperties(entity) } }
    }

    private mutating func checkProperties(_ entity: EntityDefinition) {
        let place = SchemaPlace.entity(entity.name)
        let inherited = Set(ancestors(of: entity).flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) })
        let root = lineage(of: entity)[0].name
        var own: Set<String> = []
        let properties =
            entity.attributes.map { ($0.name, place["attributes"][$0.name], $0.number, "attribute") }
            + entity.relationships.map { ($0.name, place["relationships"][$0.name], $0.number, "relationship") }
        for (name, place, number, what) in properties {
            check(name: name, what, place)
            if !own.insert(name).inserted { mistakes.add(place.pointer, "the entity has two properties of this name") }
            if inherited.contains(name) { mistakes.add(place.pointer, "the entity inherits a property of this name") }
            if let number {
                let isNew = numbers[root, default: []].insert(number).inserted
                if !isNew { mistakes.add(place.pointer, "another property has the number \(number) already") }
            } else {
                mistakes.add(place.pointer, "the property has no number")
            }
        }
        if entity.number == nil { mistakes.add(place.pointer, "the entity has no number") }
    }

    /// The parent first, the root last.
    func ancestors(of entity: EntityDefinition) -> [EntityDefinition] {
        var found: [EntityDefinition] = []
        var current = entity.parent
        while let name = current, let parent = byName[name], found.count < definition.entities.count {
            found.append(parent)
            current = parent.parent
        }
        return found
    }

    /// The entity and its ancestors, the root first.
    func lineage(of entity: EntityDefinition) -> [EntityDefinition] { ancestors(of: entity).reversed() + [entity] }

    // MARK: Attributes

    private mutating func attribute(_ attribute: AttributeDefinition, of entity: EntityDefinition) -> Attribute {
        let place = SchemaPlace.entity(entity.name)["attributes"][attribute.name]
        let constraints = constraints(attribute, place)
        var defaultValue = Value.null
        if let json = attribute.defaultValue, json != .null, let value = value(json, attribute.type, place["default"]) {
            defaultValue = value
            if let flaw = constraints.check(value) {
                mistakes.add(place["default"].pointer, "the default breaks the attribute's own rules: \(flaw)")
            }
        }
        return Attribute(
            number: PropertyNumber(rawValue: attribute.number ?? 0), name: attribute.name, formerName: attribute.formerName,
            entity: number(of: entity),
            root: number(of: lineage(of: entity)[0]), type: attribute.type, isOptional: attribute.presence == .optional,
            defaultValue: defaultValue, constraints: constraints, isTransient: attribute.isTransient, userInfo: attribute.userInfo)
    }

    private mutating func constraints(_ attribute: AttributeDefinition, _ place: SchemaPlace) -> AttributeConstraints {
        let isNumeric = [.int16, .int32, .int64, .float, .double, .decimal, .date].contains(attribute.type)
        let hasLength = [.string, .uri, .data].contains(attribute.type)
        for (key, isGiven) in [("min", attribute.min != nil), ("max", attribute.max != nil)] where isGiven && !isNumeric {
            mistakes.add(place[key].pointer, "only numbers and dates have a least and a greatest value")
        }
        for (key, isGiven) in [("minLength", attribute.minLength != nil), ("maxLength", attribute.maxLength != nil)]
        where isGiven && !hasLength {
            mistakes.add(place[key].pointer, "only text and data have a length")
        }
        let min = isNumeric ? attribute.min.flatMap { value($0, attribute.type, place["min"]) } : nil
        let max = isNumeric ? attribute.max.flatMap { value($0, attribute.type, place["max"]) } : nil
        if let min, let max, max.precedes(min) { mistakes.add(place["min"].pointer, "the least value is more than the greatest") }
        if let least = attribute.minLength, let most = attribute.maxLength, least > most {
            mistakes.add(place["minLength"].pointer, "the least length is more than the greatest")
        }
        return AttributeConstraints(
            min: min, max: max, minLength: attribute.minLength, maxLength: attribute.maxLength,
            regex: regex(attribute, place["regex"]), allowed: allowed(attribute, place["enum"]))
    }

    private mutating func regex(_ attribute: AttributeDefinition, _ place: SchemaPlace) -> LinearRegex? {
        guard let pattern = attribute.regex else { return nil }
        guard attribute.type == .string || attribute.type == .uri else {
            mistakes.add(place.pointer, "only text can be matched with a regular expression")
            return nil
        }
        do {
            return try LinearRegex(pattern)
        } catch {
            mistakes.add(place.pointer, "\(error.message), at byte \(error.offset) of the pattern")
            return nil
        }
    }

    private mutating func allowed(_ attribute: AttributeDefinition, _ place: SchemaPlace) -> [Value]? {
        guard let allowed = attribute.allowed else { return nil }
        if allowed.isEmpty { mistakes.add(place.pointer, "a list without values allows nothing") }
        var values: [Value] = []
        for (index, json) in allowed.enumerated() {
            guard let value = value(json, attribute.type, place[index]) else { continue }
            if values.contains(value) { mistakes.add(place[index].pointer, "the value is in the list already") }
            values.append(value)
        }
        return values
    }

    private mutating func value(_ json: JSONValue, _ type: AttributeType, _ place: SchemaPlace) -> Value? {
        do {
            return try Value(json: json, type: type)
        } catch {
            mistakes.add(place.pointer, error.message)
            return nil
        }
    }

    // MARK: Sets

    private mutating func checkSets(_ entity: EntityDefinition) {
        let place = SchemaPlace.entity(entity.name)
        let names = Set(lineage(of: entity).flatMap { $0.attributes.map(\.name) })
        func check(_ set: [String], _ place: SchemaPlace, _ mistakes: inout SchemaMistakes) {
            for (index, name) in set.enumerated() {
                if !names.contains(name) {
                    mistakes.add(place[index].pointer, "'\(entity.name)' has no attribute '\(name)'")
                } else if set.prefix(index).contains(name) {
                    mistakes.add(place[index].pointer, "'\(name)' is in the list already")
                }
            }
        }
        check(entity.identity, place["identity"], &mistakes)
        for (key, sets) in [("unique", entity.unique), ("indexes", entity.indexes)] {
            for (index, set) in sets.enumerated() {
                if set.isEmpty { mistakes.add(place[key][index].pointer, "a list of attributes is wanted, and this one is empty") }
                check(set, place[key][index], &mistakes)
            }
        }
        if !entity.identity.isEmpty, let other = ancestors(of: entity).first(where: { !$0.identity.isEmpty }) {
            mistakes.add(place["identity"].pointer, "the identity is inherited from '\(other.name)' and cannot be another one")
        }
    }

    // MARK: Entities

    private func number(of entity: EntityDefinition) -> EntityNumber { EntityNumber(rawValue: entity.number ?? 0) }

    private func entity(
        _ entity: EntityDefinition, _ attributes: [String: [Attribute]], _ families: [String: Set<EntityNumber>], _ pairs: LinkResolver
    ) -> Entity {
        let lineage = lineage(of: entity)
        let all = lineage.flatMap { attributes[$0.name] ?? [] }
        let identity = lineage.first { !$0.identity.isEmpty }?.identity ?? []
        return Entity(
            number: number(of: entity), name: entity.name, formerName: entity.formerName, root: number(of: lineage[0]),
            parent: entity.parent.flatMap { byName[$0] }.map(number), isAbstract: entity.isAbstract,
            family: families[entity.name] ?? [], attributes: all,
            relationships: lineage.flatMap { pairs.relationships[$0.name] ?? [] },
            identity: identity.compactMap { name in all.first { $0.name == name } },
            uniqueSets: lineage.flatMap { uniqueSets(of: $0, all) }, userInfo: entity.userInfo)
    }

    private func uniqueSets(of entity: EntityDefinition, _ attributes: [Attribute]) -> [UniqueSet] {
        var sets: [UniqueSet] = []
        for (names, isIdentity) in [(entity.identity, true)] + entity.unique.map({ ($0, false) }) where !names.isEmpty {
            let numbers = names.compactMap { name in attributes.first { $0.name == name }?.number }
            if !isIdentity, sets.contains(where: { $0.attributes == numbers }) { continue }
            sets.append(UniqueSet(entity: number(of: entity), attributes: numbers, isIdentity: isIdentity))
        }
        return sets
    }
}
