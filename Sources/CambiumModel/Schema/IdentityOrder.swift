/// The order in which identities depend on each other: an identity with a relationship needs the identity of the destination.
package struct IdentityOrder {
    /// The entities whose identity needs itself, through its relationships, and the relationship with which the way begins.
    package private(set) var cyclic: [(place: Int, relationship: String)] = []
    /// For each entity that declares an identity, the number of its values.
    private(set) var valueCounts: [Int: Int] = [:]

    /// Whether a schema accepts the identities.
    package var isSound: Bool { cyclic.isEmpty && valueCounts.allSatisfy { $0.value <= IdentityValue.countMax } }

    private struct Need {
        let relationship: String
        /// The entity whose identity states the values of the relationship: the destination or an ancestor; `nil` if it has no identity.
        let stated: Int?
        /// The entities whose identities the target may have: those of `stated` and of the sub-entities of the destination.
        let all: [Int]
    }

    /// - Parameter parents: For each entity, the index of its parent. The parents must not form a cycle.
    package init(_ entities: [EntityDefinition], parents: [Int?]) {
        let declaring = entities.indices.filter { !entities[$0].identity.isEmpty }
        let tree = SchemaTree(parents: parents)
        let places = Dictionary(entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        var needs: [Int: [Need]] = [:]
        for place in declaring {
            let relationships = ([place] + tree.ancestors(of: place)).flatMap { entities[$0].relationships }
            for name in entities[place].identity {
                guard let found = relationships.first(where: { $0.name == name }), let target = places[found.destination] else { continue }
                let stated = ([target] + tree.ancestors(of: target)).first { !entities[$0].identity.isEmpty }
                let below = tree.family(of: target).filter { !entities[$0].identity.isEmpty }
                needs[place, default: []].append(
                    Need(relationship: name, stated: stated, all: Array(Set(below + (stated.map { [$0] } ?? [])))))
            }
        }
        var waiting = needs.mapValues { Set($0.flatMap(\.all)).count }
        var dependents: [Int: [Int]] = [:]
        for (place, list) in needs { for other in Set(list.flatMap(\.all)) { dependents[other, default: []].append(place) } }
        var ready = declaring.filter { (waiting[$0] ?? 0) == 0 }
        while let place = ready.popLast() {
            let own = needs[place] ?? []
            let count = own.reduce(entities[place].identity.count - own.count) { sum, need in
                sum + (need.stated.flatMap { valueCounts[$0] } ?? 1)
            }
            // More values are refused, so that the sums cannot overflow.
            valueCounts[place] = min(count, IdentityValue.countMax + 1)
            for other in dependents[place] ?? [] {
                waiting[other, default: 0] -= 1
                if waiting[other] == 0 { ready.append(other) }
            }
        }
        for place in declaring where valueCounts[place] == nil {
            guard let need = needs[place]?.first(where: { $0.all.contains { valueCounts[$0] == nil } }) else { continue }
            cyclic.append((place, need.relationship))
        }
    }
}

extension SchemaResolver {
    /// Refuses identities that need themselves through relationships, and identities of too many values.
    mutating func checkIdentities() {
        let order = IdentityOrder(definition.entities, parents: tree.parents)
        for (place, relationship) in order.cyclic {
            let entity = definition.entities[place]
            let index = entity.identity.firstIndex(of: relationship) ?? 0
            mistakes.add(
                SchemaPlace.entity(entity.name)["identity"][index].pointer,
                "the identity needs itself: '\(relationship)' leads to an object whose identity needs '\(entity.name)', or another "
                    + "identity that needs itself; move the list to 'unique', or use attributes only")
        }
        for (place, count) in order.valueCounts.sorted(by: { $0.key < $1.key }) where count > IdentityValue.countMax {
            let pointer = SchemaPlace.entity(definition.entities[place].name)["identity"].pointer
            mistakes.add(
                pointer,
                "the identity has more than \(IdentityValue.countMax) values, together with the identities to which its relationships lead")
        }
    }

    /// Returns the values that state the identity of an entity, in the order of its components.
    ///
    /// - Parameters:
    ///   - attributes: The attributes that each entity declares.
    ///   - relationships: The relationships that each entity declares.
    func identityValues(
        of place: Int, _ attributes: [[Attribute]], _ relationships: [[Relationship]], _ places: [EntityNumber: Int]
    ) -> [IdentityValue] {
        let lineage = [place] + tree.ancestors(of: place)
        guard let owner = lineage.first(where: { !definition.entities[$0].identity.isEmpty }) else { return [] }
        var found: [IdentityValue] = []
        // An identity depends only on identities that precede it in their order, so the recursion ends.
        for name in definition.entities[owner].identity {
            if let attribute = lineage.lazy.flatMap({ attributes[$0] }).first(where: { $0.name == name }) {
                found.append(IdentityValue(path: [], attribute: attribute))
            } else if let relationship = lineage.lazy.flatMap({ relationships[$0] }).first(where: { $0.name == name }) {
                let inner = places[relationship.destination].map { identityValues(of: $0, attributes, relationships, places) } ?? []
                for value in inner.isEmpty ? [IdentityValue(path: [], attribute: nil)] : inner {
                    found.append(IdentityValue(path: [relationship] + value.path, attribute: value.attribute))
                }
            }
        }
        return found
    }
}
