extension SchemaDefinition {
    /// The maximum total of entities, properties, unique sets, indexes and queries in a schema. Inherited parts count again for each entity
    /// that inherits them.
    static let inheritedCountMax = 1 << 22

    /// Checks, before the whole definition of the schema is resolved, that its entities do not inherit too much.
    ///
    /// - Parameter parents: For each entity, the index of its parent. The parents must not form a cycle.
    package func checkInheritance(parents: [Int?]) throws(CambiumError) { try checkInheritance(SchemaTree(parents: parents)) }

    /// Checks that the entities do not inherit too much. Each entity has a list of everything that it inherits, so many levels with many
    /// properties would need too much memory.
    func checkInheritance(_ tree: SchemaTree) throws(CambiumError) {
        var ownCounts = entities.map {
            $0.attributes.count + $0.relationships.count + $0.unique.count + $0.indexes.count + $0.queries.count + 1
        }
        var sum = 0
        for place in tree.order {
            if let parent = tree.parents[place] { ownCounts[place] += ownCounts[parent] }
            sum += ownCounts[place]
            guard sum <= Self.inheritedCountMax else {
                throw CambiumError(
                    .limitExceeded,
                    "The schema has more than \(Self.inheritedCountMax) entities, properties, unique sets, indexes and queries, "
                        + "including those that each entity inherits. "
                        + "Use fewer levels of parents, or declare fewer properties in the upper levels.")
            }
        }
    }
}
