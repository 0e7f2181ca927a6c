/// A resolver for relationships: it finds the inverse of each relationship, and combines the relationship and its inverse into one link.
struct LinkResolver {
    let definition: SchemaDefinition
    let byName: [String: EntityDefinition]
    private(set) var links: [Link] = []
    /// The relationships that each entity declares, by the entity's index in the definition.
    private(set) var relationships: [[Relationship]] = []
    /// For each relationship that already has a link, the index of the link, and the number of the relationship's end (0 or 1).
    private var placed: [Key: (link: Int, end: Int)] = [:]
    private var inverses: [Key: Key] = [:]
    private let tree: SchemaTree
    private let places: [String: Int]
    private let declared: [Key: RelationshipDefinition]

    private struct Key: Hashable {
        let entity: String
        let name: String
    }

    init(definition: SchemaDefinition, byName: [String: EntityDefinition], tree: SchemaTree) {
        self.definition = definition
        self.byName = byName
        self.tree = tree
        places = Dictionary(definition.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let keys = definition.entities.flatMap { entity in
            entity.relationships.map { (Key(entity: entity.name, name: $0.name), $0) }
        }
        declared = Dictionary(keys, uniquingKeysWith: { first, _ in first })
    }

    mutating func resolve(_ mistakes: inout SchemaMistakes) {
        for entity in definition.entities {
            for relationship in entity.relationships { check(relationship, of: entity, &mistakes) }
        }
        guard mistakes.all.isEmpty else { return }
        for entity in definition.entities {
            for relationship in entity.relationships { place(relationship, of: entity) }
        }
        relationships = definition.entities.map { entity in entity.relationships.map { make($0, of: entity) } }
    }

    // MARK: Rules

    private mutating func check(
        _ relationship: RelationshipDefinition, of entity: EntityDefinition, _ mistakes: inout SchemaMistakes
    ) {
        let place = SchemaPlace.entity(entity.name)["relationships"][relationship.name]
        let min = relationship.minCount ?? 0
        if min < 0 { mistakes.add(place["min"].pointer, "the minimum number of members must be at least 0") }
        if relationship.cardinality == .toOne {
            if min > 1 { mistakes.add(place["min"].pointer, "a to-one relationship has at most one member") }
            if let max = relationship.maxCount, max != 1 {
                mistakes.add(place["max"].pointer, "a to-one relationship has at most one member")
            }
        } else if let max = relationship.maxCount {
            if max <= 0 {
                mistakes.add(place["max"].pointer, "a maximum of \(max) allows no members")
            } else if min > max {
                mistakes.add(place["min"].pointer, "the minimum number of members is greater than the maximum number")
            }
        }
        guard let destination = byName[relationship.destination] else {
            mistakes.add(place["to"].pointer, "the schema has no entity '\(relationship.destination)'")
            return
        }
        guard let name = relationship.inverse else { return }
        let problem = inverseProblem(relationship, entity, destination, name)
        if let problem {
            mistakes.add(place["inverse"].pointer, problem)
            return
        }
        let (key, other) = (Key(entity: entity.name, name: relationship.name), Key(entity: destination.name, name: name))
        if relationship.orphanRule == .delete, declared[other]?.orphanRule == .delete {
            mistakes.add(
                place["orphans"].pointer, "the inverse '\(name)' has this rule, too, but only one of two objects can own the other")
        }
        claim(key, other, place, &mistakes)
    }

    private func inverseProblem(
        _ relationship: RelationshipDefinition, _ entity: EntityDefinition, _ destination: EntityDefinition, _ name: String
    ) -> String? {
        guard let inverse = declared[Key(entity: destination.name, name: name)] else {
            var current = destination.parent
            while let parent = current.flatMap({ byName[$0] }) {
                if declared[Key(entity: parent.name, name: name)] != nil {
                    return "'\(parent.name)' declares '\(name)', so this relationship must lead to '\(parent.name)'"
                }
                current = parent.parent
            }
            return "'\(destination.name)' has no relationship '\(name)'"
        }
        if inverse.destination != entity.name {
            return "'\(destination.name).\(name)' leads to '\(inverse.destination)', not back to '\(entity.name)'"
        }
        if let back = inverse.inverse, back != relationship.name {
            return "'\(destination.name).\(name)' has another inverse, '\(back)'"
        }
        if destination.name == entity.name, name == relationship.name, relationship.cardinality == .orderedToMany {
            return "an ordered relationship cannot be its own inverse, because each side has an order of its own"
        }
        return nil
    }

    private mutating func claim(_ key: Key, _ inverse: Key, _ place: SchemaPlace, _ mistakes: inout SchemaMistakes) {
        for (one, other) in [(key, inverse), (inverse, key)] {
            if let taken = inverses[one], taken != other {
                mistakes.add(
                    place["inverse"].pointer, "'\(one.entity).\(one.name)' is already the inverse of '\(taken.entity).\(taken.name)'")
                return
            }
            inverses[one] = other
        }
    }

    // MARK: Links

    private mutating func place(_ relationship: RelationshipDefinition, of entity: EntityDefinition) {
        let key = Key(entity: entity.name, name: relationship.name)
        guard placed[key] == nil else { return }
        let first = end(key)
        let second =
            inverses[key].map(end) ?? Link.End(root: root(relationship.destination), property: nil, isToMany: true, isOrdered: false)
        placed[key] = (links.count, 0)
        if let inverse = inverses[key], inverse != key { placed[inverse] = (links.count, 1) }
        links.append(Link(first: first, second: second))
    }

    private func end(_ key: Key) -> Link.End {
        let relationship = declared[key]
        let cardinality = relationship?.cardinality ?? .toMany
        return Link.End(
            root: root(key.entity), property: relationship?.number.map { PropertyNumber(rawValue: $0) },
            isToMany: cardinality != .toOne, isOrdered: cardinality == .orderedToMany)
    }

    private func make(_ relationship: RelationshipDefinition, of entity: EntityDefinition) -> Relationship {
        let key = Key(entity: entity.name, name: relationship.name)
        let (link, end) = placed[key] ?? (0, 0)
        let inverse = inverses[key].flatMap { declared[$0]?.number }
        return Relationship(
            number: PropertyNumber(rawValue: relationship.number ?? 0), name: relationship.name, formerName: relationship.formerName,
            entity: number(entity.name),
            root: root(entity.name), destination: number(relationship.destination),
            destinationRoot: root(relationship.destination), isToMany: relationship.cardinality != .toOne,
            isOrdered: relationship.cardinality == .orderedToMany, inverse: inverse.map { PropertyNumber(rawValue: $0) },
            deleteRule: relationship.deleteRule, orphanRule: relationship.orphanRule, minCount: relationship.minCount ?? 0,
            maxCount: relationship.cardinality == .toOne ? 1 : relationship.maxCount, userInfo: relationship.userInfo,
            link: link, end: end)
    }

    private func number(_ name: String) -> EntityNumber { EntityNumber(rawValue: byName[name]?.number ?? 0) }
    private func root(_ name: String) -> EntityNumber { number(places[name].map { definition.entities[tree.roots[$0]].name } ?? name) }
}
