import CambiumJSON
package import CambiumModel

/// Random changes to a schema. A migration makes most of these changes automatically. Some changes need a closure that converts values, and
/// some add rules that existing objects violate.
extension RandomSchema {
    /// Returns a valid schema that differs from another schema in one to three respects. Occasionally, two attributes also swap their
    /// names.
    package static func changed(_ schema: Schema, _ random: inout SplitMix64) -> SchemaDefinition {
        var definition = schema.definition
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            var made = RandomSchema()
            made.entities = definition.entities
            made.nameCount = Int(random.next() % 1_000_000) * 100
            made.change(&random)
            made.forgetLostTargets()
            let changed = SchemaDefinition(entities: made.entities)
            // Skips a change if it makes the schema invalid, alone or together with the earlier changes.
            if isSound(changed) { definition = changed }
        }
        if random.isTrue(1, outOf: 10) {
            var made = RandomSchema()
            made.entities = definition.entities
            made.exchangeNames(since: schema.definition, &random)
            let changed = SchemaDefinition(entities: made.entities)
            if isSound(changed) { definition = changed }
        }
        return definition
    }

    /// Whether a definition is a valid schema, and its rules for clones are valid with the standard names of their keys and with
    /// `otherKeys`.
    private static func isSound(_ definition: SchemaDefinition) -> Bool {
        do {
            _ = try ClonePolicy(Schema(definition), CloneOptions(keys: otherKeys))
        } catch { return false }  // An error means that the definition or its clone rules are not valid.
        return definition.entities.contains { !$0.isAbstract }
    }

    private mutating func change(_ random: inout SplitMix64) {
        guard let entity = entities.indices.randomElement(using: &random) else { return addEntity(parent: nil, &random) }
        switch Int.random(in: 0..<46, using: &random) {
        case 0, 1: entities[entity].attributes.append(attribute(&random))
        case 2: removeAttribute(entity, &random)
        case 3, 4: renameAttribute(entity, &random)
        case 5, 6, 7, 24, 25, 26: changeAttribute(entity, &random)
        case 8: addSets(entity, &random)
        case 9: removeSets(entity, &random)
        case 10: addEntity(parent: random.isTrue(1, outOf: 2) ? nil : entities[entity].name, &random)
        case 11: removeEntity(entity)
        case 12: renameEntity(entity)
        case 13: move(entity, &random)
        case 14: entities[entity].isAbstract.toggle()
        case 15:
            addRelationships(&random)
            addOwnedSet(entity, &random)
        case 16: removeRelationship(entity, &random)
        case 17, 18, 19, 27, 28, 29: changeRelationship(entity, &random)
        case 20: joinOrPart(entity, &random)
        case 21: entities.shuffle(using: &random)
        case 30, 31: addDerived(entity, &random)
        case 32, 33: changeDerived(entity, &random)
        case 22: entities[entity].attributes.shuffle(using: &random)
        case 34, 35: removeBetween(entity, &random)
        case 36, 37: insertBetween(entity, &random)
        case 38, 39: changeRules(entity, &random)
        case 40: changeDestination(entity, &random)
        case 41: declareInChildren(entity, &random)
        case 42, 43: pullUp(entity)
        case 44: pushDown(entity, &random)
        case 45: putAbove(entity, &random)
        default: moveAttribute(entity, &random)
        }
    }

    private func family(_ index: Int) -> [Int] { entities.indices.filter { lineage($0).contains(index) } }

    // MARK: Attributes

    mutating func replaceInSets(_ entity: Int, _ name: String, by other: String?) {
        func replaced(_ set: [String]) -> [String] { set.compactMap { $0 == name ? other : $0 } }
        for index in family(entity) {
            entities[index].identity = replaced(entities[index].identity)
            entities[index].unique = entities[index].unique.map(replaced).filter { !$0.isEmpty }
            entities[index].indexes = entities[index].indexes { $0 == name ? other : $0 }
        }
    }

    private mutating func removeAttribute(_ entity: Int, _ random: inout SplitMix64) {
        guard let place = entities[entity].attributes.indices.randomElement(using: &random) else { return }
        replaceInSets(entity, entities[entity].attributes[place].name, by: nil)
        entities[entity].attributes.remove(at: place)
    }

    private mutating func renameAttribute(_ entity: Int, _ random: inout SplitMix64) {
        guard let place = entities[entity].attributes.indices.randomElement(using: &random) else { return }
        let former = entities[entity].attributes[place].name
        entities[entity].attributes[place].name = name("renamed")
        entities[entity].attributes[place].formerName = former
        renameInDerivations(former, to: entities[entity].attributes[place].name)
        replaceInSets(entity, former, by: entities[entity].attributes[place].name)
    }

    private mutating func changeAttribute(_ entity: Int, _ random: inout SplitMix64) {
        guard let place = entities[entity].attributes.indices.randomElement(using: &random) else { return }
        var attribute = entities[entity].attributes[place]
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
            attribute.presence = attribute.presence == .optional ? .mandatory : .optional
            if random.isTrue(1, outOf: 2) { attribute.defaultValue = Self.defaultValue(attribute.type) }
        case 2: attribute.defaultValue = random.isTrue(1, outOf: 2) ? nil : Self.defaultValue(attribute.type)
        case 3:
            switch attribute.type {
            case .int16, .int32, .int64, .double, .float, .decimal: attribute.max = .number("\(Int.random(in: 5...40_000, using: &random))")
            case .string, .data, .uri: attribute.maxLength = Int.random(in: 20...300, using: &random)
            default: attribute.min = nil
            }
        case 4: (attribute.max, attribute.maxLength) = (nil, nil)
        default:
            let wider = AttributeType.allCases.filter { attribute.type != $0 && attribute.type.converts(to: $0) }
            attribute.type =
                random.isTrue(3, outOf: 4) ? random.pick(wider) ?? attribute.type : random.pick(AttributeType.allCases) ?? .string
            attribute.userInfo = [:]
            if attribute.defaultValue != nil { attribute.defaultValue = Self.defaultValue(attribute.type) }
        }
        entities[entity].attributes[place] = attribute
    }

    /// Moves an attribute to an ancestor or a descendant.
    private mutating func moveAttribute(_ entity: Int, _ random: inout SplitMix64) {
        guard let place = entities[entity].attributes.indices.randomElement(using: &random) else { return }
        let relatives = Set(lineage(entity) + family(entity)).subtracting([entity]).sorted()
        guard let target = random.pick(relatives) else { return }
        entities[target].attributes.append(entities[entity].attributes.remove(at: place))
    }

    private mutating func removeSets(_ entity: Int, _ random: inout SplitMix64) {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: entities[entity].identity = []
        case 1: entities[entity].unique = []
        default: entities[entity].indexes = []
        }
    }

    // MARK: Entities

    private mutating func removeEntity(_ entity: Int) {
        let name = entities[entity].name
        if entities.count == 1 || entities.contains(where: { $0.parent == name }) { return }
        entities.remove(at: entity)
        for index in entities.indices { entities[index].relationships.removeAll { $0.destination == name } }
    }

    private mutating func renameEntity(_ entity: Int) {
        let former = entities[entity].name
        let new = name("Entity")
        entities[entity].name = new
        entities[entity].formerName = former
        for index in entities.indices {
            if entities[index].parent == former { entities[index].parent = new }
            for place in entities[index].relationships.indices where entities[index].relationships[place].destination == former {
                entities[index].relationships[place].destination = new
            }
        }
    }

    private mutating func move(_ entity: Int, _ random: inout SplitMix64) {
        let root = entities[lineage(entity)[0]].name
        let others = entities.filter { lineage(entities.firstIndex(of: $0) ?? 0).contains(entities.firstIndex { $0.name == root } ?? 0) }
        if entities[entity].parent != nil { entities[entity].parent = random.pick(others)?.name }
    }

    // MARK: Relationships

    private mutating func inverse(of relationship: RelationshipDefinition, _ change: (inout RelationshipDefinition) -> Void) {
        guard let name = relationship.inverse, let index = entities.firstIndex(where: { $0.name == relationship.destination }),
            let place = entities[index].relationships.firstIndex(where: { $0.name == name })
        else { return }
        change(&entities[index].relationships[place])
    }

    private mutating func removeRelationship(_ entity: Int, _ random: inout SplitMix64) {
        guard let relationship = random.pick(entities[entity].relationships) else { return }
        inverse(of: relationship) { $0.inverse = nil }
        entities[entity].relationships.removeAll { $0.name == relationship.name }
    }

    private mutating func changeRelationship(_ entity: Int, _ random: inout SplitMix64) {
        guard let place = entities[entity].relationships.indices.randomElement(using: &random) else { return }
        var relationship = entities[entity].relationships[place]
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            let new = name("renamed")
            inverse(of: relationship) { if $0.inverse != nil { $0.inverse = new } }
            relationship.formerName = relationship.name
            renameInDerivations(relationship.name, to: new)
            if relationship.inverse == relationship.name { relationship.inverse = new }
            relationship.name = new
        case 1: relationship.deleteRule = random.pick(DeleteRule.allCases) ?? .nullify
        case 2 where relationship.cardinality != .toOne:
            relationship.maxCount = random.isTrue(1, outOf: 2) ? nil : Int.random(in: 2...5, using: &random)
        case 3: relationship.minCount = random.isTrue(1, outOf: 3) ? 1 : nil
        default:
            let cardinalities: [RelationshipDefinition.Cardinality] = [.toMany, .orderedToMany, .orderedToMany, .toOne]
            relationship.cardinality = random.pick(cardinalities) ?? .toMany
            if relationship.cardinality == .toOne { relationship.maxCount = nil }
        }
        entities[entity].relationships[place] = relationship
    }

    /// Adds an inverse to a relationship, or removes its inverse.
    private mutating func joinOrPart(_ entity: Int, _ random: inout SplitMix64) {
        guard let place = entities[entity].relationships.indices.randomElement(using: &random) else { return }
        let relationship = entities[entity].relationships[place]
        if relationship.inverse != nil {
            inverse(of: relationship) { $0.inverse = nil }
            entities[entity].relationships[place].inverse = nil
            return
        }
        guard let target = entities.firstIndex(where: { $0.name == relationship.destination }) else { return }
        let cardinalities: [RelationshipDefinition.Cardinality] = [.toMany, .orderedToMany, .toOne]
        var other = RelationshipDefinition(name("relationship"), to: entities[entity].name, random.pick(cardinalities) ?? .toMany)
        other.inverse = relationship.name
        entities[entity].relationships[place].inverse = other.name
        entities[target].relationships.append(other)
    }
}
