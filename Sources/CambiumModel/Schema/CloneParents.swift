internal import CambiumBytes

/// An index of the possible parents of each entity, for the check of the clone rule `followParent`. If an attribute has this rule, each
/// copy takes the value of the attribute from an attribute of its parent's copy. A possible parent of an entity is an entity with a
/// relationship to that entity, to one of its ancestors, or to one of its descendants.
///
/// A schema may have many entities with many parents each. Therefore, this type counts its steps and limits their number.
struct CloneParents {
    private let tree: SchemaTree
    /// For each entity X, the positions in `tree.order` of the entities that have a relationship to X.
    private var sources: [[Int]]
    private var declared: [String: [(place: Int, type: AttributeType)]] = [:]
    /// The parents of the entity that was looked up last, as ascending positions in `tree.order`. The positions are kept, because the check
    /// looks up an entity once for each attribute that has the rule.
    private var parents: (place: Int, positions: [Int])?
    private var stepCount = 0
    static let stepCountMax = 1 << 24

    init(_ definition: SchemaDefinition, _ tree: SchemaTree) {
        self.tree = tree
        sources = [[Int]](repeating: [], count: definition.entities.count)
        let places = Dictionary(definition.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for (place, entity) in definition.entities.enumerated() {
            for destination in Set(entity.relationships.map(\.destination)) {
                if let target = places[destination] { sources[target].append(tree.subtrees[place].lowerBound) }
            }
            for attribute in entity.attributes where attribute.derivation == nil {
                declared[attribute.name, default: []].append((place, attribute.type))
            }
        }
    }

    /// Returns the types that an attribute `name` can have in the parents of an entity.
    mutating func types(of name: String, above place: Int) throws(CambiumError) -> Set<AttributeType> {
        let positions = try positions(ofParentsOf: place)
        var types: Set<AttributeType> = []
        for (holder, type) in declared[name] ?? [] where !types.contains(type) {
            try count(tree.depths[holder] + 1)
            if Self.has(positions, in: tree.subtrees[holder])
                || tree.ancestors(of: holder).contains(where: { Self.has(positions, at: tree.subtrees[$0].lowerBound) })
            {
                types.insert(type)
            }
        }
        return types
    }

    private mutating func positions(ofParentsOf place: Int) throws(CambiumError) -> [Int] {
        if let parents, parents.place == place { return parents.positions }
        var found: Set<Int> = []
        for member in tree.ancestors(of: place) + tree.family(of: place) {
            try count(sources[member].count + 1)
            found.formUnion(sources[member])
        }
        let positions = found.sorted()
        parents = (place, positions)
        return positions
    }

    private mutating func count(_ steps: Int) throws(CambiumError) {
        stepCount += steps
        guard stepCount <= Self.stepCountMax else {
            throw CambiumError(
                .limitExceeded,
                "Checking 'followParent' takes more than \(Self.stepCountMax) steps, because too many entities may be parents. "
                    + "Use 'followParent' for fewer attributes, or declare fewer relationships to the entities that have these attributes.")
        }
    }

    private static func has(_ positions: [Int], at position: Int) -> Bool { has(positions, in: position..<position + 1) }

    /// Whether a range contains at least one of the positions, which are in ascending order. Complexity: O(log n) for n positions.
    private static func has(_ positions: [Int], in range: Range<Int>) -> Bool {
        let place = positions.indices.prefixEnd { positions[$0] < range.lowerBound }
        return place < positions.count && positions[place] < range.upperBound
    }
}
