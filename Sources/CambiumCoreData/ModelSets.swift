internal import CambiumModel

/// The sets of attributes in a model: identities, uniqueness constraints and indexes. They are settled when all entities are
/// known, since a set may name attributes that its entity inherits.
struct ModelSets {
    private(set) var entities: [EntityDefinition]
    /// Each entity's parent. A ring of parents is a mistake that the schema tells; here its entities have none.
    private let parents: [Int?]
    /// Parents before their children.
    private let order: [Int]
    /// The length of the longest line from a root down, bounded because every entity's line is walked.
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

    /// Keeps the sets that have attributes only, and those once.
    private mutating func keepAttributes(_ index: Int, _ warnings: inout ModelWarnings) {
        if entities[index].unique.isEmpty, entities[index].indexes.isEmpty { return }
        let attributes = Set(([index] + ancestors(index)).flatMap { entities[$0].attributes.map(\.name) })
        func kept(_ sets: [[String]], _ what: String) -> [[String]] {
            var known: Set<[String]> = [[]]
            return sets.filter { set in
                guard known.insert(set).inserted else { return false }
                // A minus stands before an attribute of an index in descending order; no name begins with one.
                let names = set.map { $0.hasPrefix("-") ? String($0.dropFirst()) : $0 }
                guard let stranger = names.first(where: { !attributes.contains($0) }) else { return true }
                let list = set.joined(separator: ", ")
                warnings.add(entities[index].name, "the \(what) of '\(list)' is not carried over; '\(stranger)' is no attribute")
                return false
            }
        }
        entities[index].unique = kept(entities[index].unique, "uniqueness constraint")
        entities[index].indexes = kept(entities[index].indexes, "index")
    }

    // MARK: Identity

    /// The identity that the user info names. Its names are checked with the schema.
    private mutating func readIdentity(_ index: Int) {
        guard let text = entities[index].userInfo[Self.identityKey] else { return }
        let identity = text.split(separator: ",").map { name in
            String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        entities[index].identity = identity
        entities[index].unique.removeAll { $0 == identity }
    }

    /// An only constraint becomes the identity, unless one is named above or below: a family of entities has one identity.
    private mutating func deriveIdentities() {
        let named = entities.indices.filter { !entities[$0].identity.isEmpty }
        let isNamedBelow = Set(named.flatMap(ancestors))
        for index in order where entities[index].unique.count == 1 && entities[index].identity.isEmpty && !isNamedBelow.contains(index) {
            guard ancestors(index).allSatisfy({ entities[$0].identity.isEmpty }) else { continue }
            entities[index].identity = entities[index].unique[0]
            entities[index].unique = []
        }
    }

    /// The parent first, the root last.
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
