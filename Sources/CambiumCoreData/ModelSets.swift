internal import CambiumModel

/// The sets of attributes in a model: identities, uniqueness constraints and indexes. The sets are resolved after all entities have been
/// read, because a set may contain inherited attributes.
struct ModelSets {
    private(set) var entities: [EntityDefinition]
    /// For each entity, the index of its parent. If the parents form a cycle, the entities in the cycle and below it have no parent here.
    /// The check of the schema reports the cycle.
    let parents: [Int?]
    /// The indexes of the entities, parents before their children.
    private let order: [Int]
    /// The number of levels of the deepest hierarchy. The reader follows the path from each entity to its root, so this number is limited.
    let depth: Int
    static let depthMax = 200
    private static let identityKey = "cambium.identity"

    init(_ entities: [EntityDefinition]) {
        self.entities = entities
        let places = Dictionary(entities.indices.map { (entities[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        var parents = entities.map { entity in entity.parent.flatMap { places[$0] } }
        var children = [[Int]](repeating: [], count: entities.count)
        for (index, parent) in parents.enumerated() { if let parent { children[parent].append(index) } }
        var order = entities.indices.filter { parents[$0] == nil }
        var depths = [Int](repeating: 1, count: entities.count)
        var next = 0
        while next < order.count {
            for child in children[order[next]] { depths[child] = depths[order[next]] + 1 }
            order += children[order[next]]
            next += 1
        }
        for index in Set(entities.indices).subtracting(order) { parents[index] = nil }
        self.parents = parents
        self.order = order
        depth = depths.max() ?? 0
    }

    mutating func settle(_ warnings: inout ModelWarnings) {
        for index in entities.indices { keepAttributes(index, &warnings) }
        for index in entities.indices { readIdentity(index) }
        deriveIdentities()
    }

    // MARK: Sets

    /// Removes duplicates in sets, duplicate sets, and sets that name a property that they cannot contain. Uniqueness constraints
    /// with the same properties in another order are duplicates.
    private mutating func keepAttributes(_ index: Int, _ warnings: inout ModelWarnings) {
        if entities[index].unique.isEmpty, entities[index].indexes.isEmpty { return }
        let holders = ([index] + ancestors(index)).map { entities[$0] }
        let attributes = Set(holders.flatMap { $0.attributes.map(\.name) })
        let targets = Set(holders.flatMap { $0.relationships.filter { $0.cardinality == .toOne }.map(\.name) })
        func kept(_ sets: [[String]], _ what: String, hasOrder: Bool) -> [[String]] {
            let names = hasOrder ? attributes : attributes.union(targets)
            let kind = hasOrder ? "an attribute" : "an attribute or a to-one relationship"
            var known: Set<[String]> = [[]]
            return sets.map(Self.distinct).filter { set in
                guard known.insert(hasOrder ? set : set.sorted()).inserted else { return false }
                guard let stranger = set.map(Self.name(of:)).first(where: { !names.contains($0) }) else { return true }
                let list = set.joined(separator: ", ")
                warnings.add(entities[index].name, "the \(what) of '\(list)' is ignored; '\(stranger)' is not \(kind)")
                return false
            }
        }
        entities[index].unique = kept(entities[index].unique, "uniqueness constraint", hasOrder: false)
        entities[index].indexes = kept(entities[index].indexes, "index", hasOrder: true)
    }

    /// Returns a set without the attributes that repeat an earlier attribute of the set. A schema refuses repeated attributes, and they
    /// affect neither which objects are equal nor the order of the objects.
    private static func distinct(_ set: [String]) -> [String] {
        var known: Set<String> = []
        return set.filter { known.insert(name(of: $0)).inserted }
    }

    /// Returns the name of an attribute in a set. In a descending order, a minus precedes the name. No attribute name begins with a minus.
    private static func name(of text: String) -> String { text.hasPrefix("-") ? String(text.dropFirst()) : text }

    // MARK: Identity

    /// Reads the identity that the user info states. The check of the schema later verifies the names in the identity.
    private mutating func readIdentity(_ index: Int) {
        guard let text = entities[index].userInfo[Self.identityKey] else { return }
        let identity = text.split(separator: ",").map { name in
            String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        entities[index].identity = identity
        entities[index].unique.removeAll { $0.sorted() == identity.sorted() }
    }

    /// Makes a uniqueness constraint the identity if it is the only constraint of its entity. If an ancestor or a descendant of the entity
    /// has an identity, the constraint stays a constraint, because a hierarchy has only one identity. So does a constraint whose
    /// relationships would make identities need each other.
    private mutating func deriveIdentities() {
        let named = entities.indices.filter { !entities[$0].identity.isEmpty }
        let isNamedBelow = Set(named.flatMap(ancestors))
        for hasOwner in [false, true] {
            for index in order where entities[index].unique.count == 1 && entities[index].identity.isEmpty && !isNamedBelow.contains(index)
            {
                let (set, lineage) = (entities[index].unique[0], [index] + ancestors(index))
                guard lineage.dropFirst().allSatisfy({ entities[$0].identity.isEmpty }), isFindable(set, lineage),
                    lineage.contains(where: { entities[$0].relationships.contains { set.contains($0.name) } }) == hasOwner
                else { continue }
                let before = entities[index]
                entities[index].identity = set
                entities[index].unique = []
                if hasOwner, !IdentityOrder(entities, parents: parents).isSound { entities[index] = before }
            }
        }
    }

    /// Returns whether an import can find objects by a set of an entity. A set with a derived attribute cannot be the identity.
    ///
    /// - Parameter lineage: The entity and its ancestors.
    private func isFindable(_ set: [String], _ lineage: [Int]) -> Bool {
        lineage.allSatisfy { entity in !entities[entity].attributes.contains { $0.derivation != nil && set.contains($0.name) } }
    }

    /// Returns the ancestors of an entity, from its parent to its root.
    private func ancestors(_ index: Int) -> [Int] {
        var found: [Int] = []
        var current = index
        while let parent = parents[current] {
            found.append(parent)
            current = parent
        }
        return found
    }
}
