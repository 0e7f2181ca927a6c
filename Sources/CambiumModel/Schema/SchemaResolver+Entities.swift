extension SchemaResolver {
    // MARK: Sets

    mutating func checkSets(_ index: Int) {
        let entity = definition.entities[index]
        if entity.identity.isEmpty, entity.unique.isEmpty, entity.indexes.isEmpty { return }
        let place = SchemaPlace.entity(entity.name)
        let lineage = tree.ancestors(of: index)
        let attributes = ([index] + lineage).flatMap { definition.entities[$0].attributes }
        let names = Set(attributes.map(\.name))
        let relationships = ([index] + lineage).flatMap { definition.entities[$0].relationships }
        func check(_ set: [String], _ key: String, _ place: SchemaPlace, _ mistakes: inout SchemaMistakes) {
            var known: Set<String> = []
            for (index, name) in set.enumerated() {
                let relationship = relationships.first { $0.name == name }
                if let relationship, let reason = Self.refusal(of: relationship, in: key) {
                    mistakes.add(place[index].pointer, reason)
                } else if relationship == nil, !names.contains(name) {
                    let hint = name.hasSuffix("]") ? "; the only option of an attribute in an index is [c]" : ""
                    mistakes.add(place[index].pointer, "'\(entity.name)' has no attribute '\(name)'" + hint)
                } else if !known.insert(name).inserted {
                    mistakes.add(place[index].pointer, "the list already contains '\(name)'")
                }
            }
        }
        check(entity.identity, "identity", place["identity"], &mistakes)
        for (index, name) in entity.identity.enumerated() where attributes.contains(where: { $0.name == name && $0.derivation != nil }) {
            mistakes.add(place["identity"][index].pointer, "'\(name)' is derived, so an import cannot find objects by it")
        }
        for (key, sets) in [("unique", entity.unique), ("indexes", entity.indexes)] {
            for (index, set) in sets.enumerated() {
                if set.isEmpty { mistakes.add(place[key][index].pointer, "the list of attributes is empty") }
                let components = set.map(IndexComponentText.init)
                check(key == "indexes" ? components.map(\.name) : set, key, place[key][index], &mistakes)
                if key == "unique" { continue }
                for (number, component) in components.enumerated() where component.comparison == .folded {
                    if attributes.contains(where: { $0.name == component.name && $0.type != .string }) {
                        mistakes.add(
                            place[key][index][number].pointer, "'[c]' ignores the case of strings, but '\(component.name)' is not a string")
                    }
                }
            }
        }
        if !entity.identity.isEmpty, let other = lineage.first(where: { !definition.entities[$0].identity.isEmpty }) {
            let name = definition.entities[other].name
            mistakes.add(place["identity"].pointer, "the entity inherits its identity from '\(name)' and cannot declare another one")
        }
    }

    /// Returns why a set under `key` cannot contain a relationship, or `nil` if the set can contain it.
    private static func refusal(of relationship: RelationshipDefinition, in key: String) -> String? {
        let name = relationship.name
        if key == "indexes" { return "'\(name)' is a relationship, and an index consists of attributes" }
        if relationship.cardinality == .toOne { return nil }
        let what = key == "identity" ? "an identity consists of" : "a unique set contains"
        return "'\(name)' is to-many; \(what) attributes and to-one relationships"
    }

    // MARK: Entities

    func number(ofEntity place: Int) -> EntityNumber { EntityNumber(rawValue: definition.entities[place].number ?? 0) }

    /// Returns the entities of the schema. Each of them has its own and its inherited attributes and relationships.
    ///
    /// - Parameter attributes: The attributes that each entity declares.
    func entities(_ attributes: [[Attribute]], _ pairs: LinkResolver) -> [Entity] {
        var made = [Entity?](repeating: nil, count: definition.entities.count)
        let places = Dictionary(definition.entities.indices.map { (number(ofEntity: $0), $0) }, uniquingKeysWith: { first, _ in first })
        for place in tree.order {
            let parent = tree.parents[place].flatMap { made[$0] }
            let values =
                definition.entities[place].identity.isEmpty
                ? parent?.identityValues ?? [] : identityValues(of: place, attributes, pairs.relationships, places)
            made[place] = entity(place, parent, attributes[place], pairs.relationships[place], values)
        }
        return made.compactMap(\.self)
    }

    private func entity(
        _ place: Int, _ parent: Entity?, _ attributes: [Attribute], _ relationships: [Relationship], _ values: [IdentityValue]
    ) -> Entity {
        let entity = definition.entities[place]
        let all = (parent?.attributes ?? []) + attributes
        let hasSets = !entity.identity.isEmpty || !entity.unique.isEmpty || !entity.indexes.isEmpty
        let byName = hasSets ? Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }) : [:]
        let links = (parent?.relationships ?? []) + relationships
        let identity = entity.identity.compactMap { name in
            byName[name].map { IdentityComponent.attribute($0) } ?? links.first { $0.name == name }.map { .relationship($0) }
        }
        return Entity(
            number: number(ofEntity: place), name: entity.name, formerName: entity.formerName, root: number(ofEntity: tree.roots[place]),
            parent: parent?.number,
            isAbstract: entity.isAbstract, family: Set(tree.family(of: place).map(number(ofEntity:))), attributes: all,
            relationships: links, identity: identity.isEmpty ? parent?.identity ?? [] : identity, identityValues: values,
            uniqueSets: (parent?.uniqueSets ?? []) + uniqueSets(of: entity, byName, links),
            indexes: (parent?.indexes ?? []) + indexes(of: entity, byName),
            queries: (parent?.queries ?? []) + entity.queries.map { StoredQuery(definition: $0, entity: number(ofEntity: place)) },
            userInfo: entity.userInfo)
    }

    /// Returns the indexes of an entity, without duplicates.
    private func indexes(of entity: EntityDefinition, _ attributes: [String: Attribute]) -> [EntityIndex] {
        var indexes: [EntityIndex] = []
        var known: Set<EntityIndex> = []
        for set in entity.indexes {
            let components = set.map(IndexComponentText.init).compactMap { text in
                attributes[text.name].map { EntityIndex.Component($0.number, text.direction, text.comparison) }
            }
            let index = EntityIndex(entity: EntityNumber(rawValue: entity.number ?? 0), components: components)
            if !components.isEmpty, known.insert(index).inserted { indexes.append(index) }
        }
        return indexes
    }

    private func uniqueSets(
        of entity: EntityDefinition, _ attributes: [String: Attribute], _ relationships: [Relationship]
    ) -> [UniqueSet] {
        if entity.identity.isEmpty, entity.unique.isEmpty { return [] }
        let byName = Dictionary(relationships.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        var sets: [UniqueSet] = []
        var known: Set<[PropertyNumber]> = []
        for (names, isIdentity) in [(entity.identity, true)] + entity.unique.map({ ($0, false) }) where !names.isEmpty {
            let numbers = names.compactMap { attributes[$0]?.number ?? byName[$0] }
            guard known.insert(numbers).inserted else { continue }
            sets.append(UniqueSet(entity: EntityNumber(rawValue: entity.number ?? 0), properties: numbers, isIdentity: isIdentity))
        }
        return sets
    }
}
