import CambiumJSON
internal import CambiumModel

/// Random changes to the hierarchies of a schema, to the rules for values, and to the meaning of names.
extension RandomSchema {
    // MARK: Hierarchies

    /// Removes an entity that has a parent. Its sub-entities get this parent, and one of them may get the attributes of the removed entity.
    mutating func removeBetween(_ entity: Int, _ random: inout SplitMix64) {
        let removed = entities[entity]
        guard let parent = removed.parent else { return }
        let children = entities.indices.filter { entities[$0].parent == removed.name }
        for attribute in removed.attributes { replaceInSets(entity, attribute.name, by: nil) }
        if random.isTrue(1, outOf: 2), let heir = random.pick(children) { entities[heir].attributes += removed.attributes }
        for child in children { entities[child].parent = parent }
        for index in entities.indices { entities[index].relationships.removeAll { $0.destination == removed.name } }
        entities.remove(at: entity)
    }

    /// Adds an entity between an entity and its parent. One attribute may move to the new entity.
    mutating func insertBetween(_ entity: Int, _ random: inout SplitMix64) {
        guard let parent = entities[entity].parent else { return }
        addEntity(parent: parent, &random)
        let new = entities.count - 1
        entities[new].isAbstract = random.isTrue(1, outOf: 3)
        entities[entity].parent = entities[new].name
        guard let place = entities[entity].attributes.indices.randomElement(using: &random) else { return }
        entities[new].attributes.append(entities[entity].attributes.remove(at: place))
    }

    /// Declares the same attribute in each child of an entity.
    mutating func declareInChildren(_ entity: Int, _ random: inout SplitMix64) {
        let new = attribute(&random)
        for child in entities.indices where entities[child].parent == entities[entity].name { entities[child].attributes.append(new) }
    }

    /// Moves the attributes that several children of an entity declare to this entity.
    mutating func pullUp(_ entity: Int) {
        let children = entities.indices.filter { entities[$0].parent == entities[entity].name }
        let counts = Dictionary(children.flatMap { entities[$0].attributes.map { ($0.name, 1) } }, uniquingKeysWith: +)
        for name in counts.filter({ $0.value > 1 }).keys.sorted() {
            guard let found = children.flatMap({ entities[$0].attributes }).first(where: { $0.name == name }) else { continue }
            for child in children { entities[child].attributes.removeAll { $0.name == name } }
            entities[entity].attributes.append(found)
        }
    }

    /// Moves an attribute of an entity to its children. One of the children may lose it.
    mutating func pushDown(_ entity: Int, _ random: inout SplitMix64) {
        let children = entities.indices.filter { entities[$0].parent == entities[entity].name }
        guard !children.isEmpty, let place = entities[entity].attributes.indices.randomElement(using: &random) else { return }
        let moved = entities[entity].attributes.remove(at: place)
        let without = random.isTrue(1, outOf: 3) ? random.pick(children) : nil
        for child in children where child != without { entities[child].attributes.append(moved) }
    }

    /// Puts a new entity above a root. The root may move an attribute there.
    mutating func putAbove(_ entity: Int, _ random: inout SplitMix64) {
        let root = lineage(entity)[0]
        if entities[root].parent != nil { return }
        addEntity(parent: nil, &random)
        entities[entities.count - 1].isAbstract = random.isTrue(1, outOf: 2)
        entities[root].parent = entities[entities.count - 1].name
        guard random.isTrue(1, outOf: 2), let place = entities[root].attributes.indices.randomElement(using: &random) else { return }
        entities[entities.count - 1].attributes.append(entities[root].attributes.remove(at: place))
    }

    // MARK: Rules

    /// Adds rules for the values of an attribute, or removes all of them.
    mutating func changeRules(_ entity: Int, _ random: inout SplitMix64) {
        guard let place = entities[entity].attributes.indices.randomElement(using: &random) else { return }
        var attribute = entities[entity].attributes[place]
        let kind = Int.random(in: 0..<4, using: &random)
        switch attribute.type {
        case _ where kind == 3:
            (attribute.min, attribute.max, attribute.allowed, attribute.regex) = (nil, nil, nil, nil)
            (attribute.minLength, attribute.maxLength) = (nil, nil)
        case .string where kind == 0: attribute.regex = "text -?[0-9]+|s*"
        case .string where kind == 1: attribute.minLength = Int.random(in: 0...2, using: &random)
        case .string: attribute.allowed = (-4...40).map { JSONValue.string("text \($0)") } + [JSONValue.string("")]
        case .int16, .int32, .int64:
            if kind == 0 { attribute.min = .number("\(Int.random(in: -5...1, using: &random))") }
            if kind > 0 { attribute.allowed = (-4...40).map { JSONValue.number("\($0)") } }
        default: attribute.isTransient.toggle()
        }
        entities[entity].attributes[place] = attribute
    }

    /// Changes the destination of a relationship that has no inverse.
    mutating func changeDestination(_ entity: Int, _ random: inout SplitMix64) {
        let places = entities[entity].relationships.indices.filter { entities[entity].relationships[$0].inverse == nil }
        guard let place = random.pick(places), let target = random.pick(entities) else { return }
        entities[entity].relationships[place].destination = target.name
    }

    // MARK: Names

    /// Exchanges the names of two attributes of an entity.
    ///
    /// - Parameter before: The schema before all changes. A name that these changes have introduced is not exchanged, because only a name
    ///   of the old schema can be a former name.
    mutating func exchangeNames(since before: SchemaDefinition, _ random: inout SplitMix64) {
        guard let entity = entities.indices.randomElement(using: &random),
            let old = before.entities.first(where: { $0.name == entities[entity].name })
        else { return }
        let attributes = entities[entity].attributes
        let formerNames = Set(attributes.compactMap(\.formerName) + entities[entity].relationships.compactMap(\.formerName))
        let known = attributes.indices.filter { place in
            let (name, former) = (attributes[place].name, attributes[place].formerName)
            return !formerNames.contains(name) && old.attributes.contains { $0.name == name && $0.formerName == former }
        }
        let chosen = known.shuffled(using: &random).prefix(2)
        guard let first = chosen.first, let second = chosen.last, first != second else { return }
        for (place, other) in [(first, second), (second, first)] {
            entities[entity].attributes[place].name = attributes[other].name
            entities[entity].attributes[place].formerName = attributes[place].name
        }
    }
}
