internal import CambiumModel

/// Derived attributes of random schemas.
extension RandomSchema {
    /// Adds derived attributes to some entities, and indexes over some of them.
    mutating func addDerivedAttributes(_ random: inout SplitMix64) {
        for index in entities.indices {
            while random.isTrue(2, outOf: 5) { addDerived(index, &random) }
        }
    }

    mutating func addDerived(_ index: Int, _ random: inout SplitMix64) {
        guard let attribute = derivedAttribute(index, &random) else { return }
        entities[index].attributes.append(attribute)
        if random.isTrue(1, outOf: 3) { entities[index].indexes.append([(random.isTrue(1, outOf: 2) ? "-" : "") + attribute.name]) }
        if case .folded = attribute.derivation, random.isTrue(1, outOf: 6) { entities[index].unique.append([attribute.name]) }
    }

    private mutating func derivedAttribute(_ index: Int, _ random: inout SplitMix64) -> AttributeDefinition? {
        let lineage = lineage(index)
        let relationships = lineage.flatMap { entities[$0].relationships }.filter { $0.cardinality != .toOne }
        guard let relationship = random.pick(relationships), random.isTrue(3, outOf: 4) else { return foldedAttribute(lineage, &random) }
        if random.isTrue(1, outOf: 3) {
            return AttributeDefinition(
                name("count"), random.isTrue(1, outOf: 2) ? .int32 : .int64, random.isTrue(1, outOf: 2) ? .mandatory : .optional,
                derived: .count(relationship.name))
        }
        guard let destination = entities.firstIndex(where: { $0.name == relationship.destination }) else { return nil }
        let sources = self.lineage(destination).flatMap { entities[$0].attributes }.filter { $0.derivation == nil }
        if random.isTrue(1, outOf: 2), let source = random.pick(sources.filter { [.int16, .int32, .float].contains($0.type) }) {
            let type: AttributeType =
                source.type == .float ? .double : source.type == .int16 && random.isTrue(1, outOf: 4) ? .int32 : .int64
            return AttributeDefinition(name("sum"), type, derived: .sum(relationship.name + "." + source.name))
        }
        let ordered: [AttributeType] = [.int16, .int32, .int64, .float, .double, .decimal, .date, .string]
        guard let source = random.pick(sources.filter { ordered.contains($0.type) }) else { return nil }
        let path = relationship.name + "." + source.name
        return AttributeDefinition(
            name("extreme"), source.type, random.isTrue(1, outOf: 2) ? .mandatory : .optional,
            derived: random.isTrue(1, outOf: 2) ? .min(path) : .max(path))
    }

    private mutating func foldedAttribute(_ lineage: [Int], _ random: inout SplitMix64) -> AttributeDefinition? {
        let texts = lineage.flatMap { entities[$0].attributes }.filter { $0.type == .string && $0.derivation == nil }
        guard let source = random.pick(texts) else { return nil }
        return AttributeDefinition(name("folded"), .string, source.presence, derived: .folded(source.name))
    }

    /// Turns the first derived attribute of an entity into an ordinary attribute, or changes its expression. If the entity has no derived
    /// attribute, adds one.
    mutating func changeDerived(_ index: Int, _ random: inout SplitMix64) {
        guard let place = entities[index].attributes.indices.filter({ entities[index].attributes[$0].derivation != nil }).first,
            var other = derivedAttribute(index, &random)
        else { return addDerived(index, &random) }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: entities[index].attributes[place].derivation = nil
        default:
            other.name = entities[index].attributes[place].name
            entities[index].attributes[place] = other
        }
    }

    /// Replaces the name of a property in the expressions of all derived attributes. Names in a random schema are unique, so the entity
    /// does not matter.
    mutating func renameInDerivations(_ former: String, to new: String) {
        for entity in entities.indices {
            for attribute in entities[entity].attributes.indices {
                guard let derivation = entities[entity].attributes[attribute].derivation else { continue }
                entities[entity].attributes[attribute].derivation = derivation.renamed(
                    relationship: { $0 == former ? new : $0 }, attribute: { $0 == former ? new : $0 })
            }
        }
    }
}
