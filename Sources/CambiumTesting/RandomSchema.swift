import CambiumJSON
package import CambiumModel

/// Makes random schemas that contain examples of every feature.
///
///     var random = SplitMix64(seed: 7)
///     let schema = try RandomSchema.make(&random)
package struct RandomSchema {
    var entities: [EntityDefinition] = []
    var nameCount = 0

    /// Returns a schema with one to five hierarchies, attributes of all types, identities, unique sets, relationships of every kind,
    /// rules for clones, and derived attributes.
    package static func make(_ random: inout SplitMix64) throws(CambiumError) -> Schema {
        var made = RandomSchema()
        for _ in 0..<Int.random(in: 1...5, using: &random) { made.addHierarchy(&random) }
        for index in made.entities.indices { made.addSets(index, &random) }
        for _ in 0..<Int.random(in: 1...2 * made.entities.count + 1, using: &random) { made.addRelationships(&random) }
        for index in made.entities.indices { made.addOwnedSet(index, &random) }
        // A copy of the generator, so that the other parts of the schema do not depend on the owners.
        var own = random
        for index in made.entities.indices { made.addOwner(index, &own) }
        made.addCloneRules(&random)
        made.addDerivedAttributes(&random)
        if random.isTrue(1, outOf: 3) { made.entities.shuffle(using: &random) }
        return try Schema(SchemaDefinition(entities: made.entities))
    }

    /// Returns a schema in which some relationships delete the members that lose their last owner.
    package static func addingOrphanRules(to schema: Schema, _ random: inout SplitMix64) throws(CambiumError) -> Schema {
        var definition = schema.definition
        for entity in definition.entities.indices {
            for place in definition.entities[entity].relationships.indices where random.isTrue(1, outOf: 2) {
                definition.entities[entity].relationships[place].orphanRule = .delete
                if (try? Schema(definition)) == nil { definition.entities[entity].relationships[place].orphanRule = .keep }
            }
        }
        return try Schema(definition)
    }

    mutating func name(_ prefix: String) -> String {
        nameCount += 1
        return "\(prefix)\(nameCount)"
    }

    // MARK: Entities

    private mutating func addHierarchy(_ random: inout SplitMix64) {
        let root = entities.count
        addEntity(parent: nil, &random)
        guard random.isTrue(1, outOf: 2) else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let candidates = (root..<entities.count).filter { place in
                place == root || entities[place].parent == entities[root].name
            }
            let parent = random.pick(candidates) ?? root
            if random.isTrue(1, outOf: 3) { entities[parent].isAbstract = true }
            addEntity(parent: entities[parent].name, &random)
        }
    }

    mutating func addEntity(parent: String?, _ random: inout SplitMix64) {
        var entity = EntityDefinition(name("Entity"), parent: parent)
        for _ in 0..<Int.random(in: 0...6, using: &random) { entity.attributes.append(attribute(&random)) }
        if parent == nil { entity.attributes.append(AttributeDefinition(name("key"), .int64, .optional)) }
        entities.append(entity)
    }

    mutating func attribute(_ random: inout SplitMix64) -> AttributeDefinition {
        let type = random.pick(AttributeType.allCases) ?? .string
        var attribute = AttributeDefinition(name("attribute"), type, random.isTrue(1, outOf: 3) ? .mandatory : .optional)
        if random.isTrue(1, outOf: 3) { attribute.defaultValue = Self.defaultValue(type) }
        return attribute
    }

    static func defaultValue(_ type: AttributeType) -> JSONValue {
        switch type {
        case .bool: .bool(true)
        case .int16, .int32, .int64: .number("3")
        case .float, .double, .decimal: .number("-1.5")
        case .string: .string("")
        case .data: .string("AQI=")
        case .date: .string("2021-03-04T05:06:07Z")
        case .uuid: .string("00112233-4455-6677-8899-AABBCCDDEEFF")
        case .uri: .string("http://example.org/a")
        case .json: .array([.number("1"), .null])
        }
    }

    // MARK: Identities and unique sets

    mutating func addSets(_ index: Int, _ random: inout SplitMix64) {
        let lineage = self.lineage(index)
        let names = lineage.flatMap { entities[$0].attributes.map(\.name) }
        // An entity inherits the identity of its ancestor, and cannot have another one. Parents precede their children in `entities`.
        if !lineage.contains(where: { !entities[$0].identity.isEmpty }), random.isTrue(1, outOf: 2) {
            entities[index].identity = uniqueNames(index, names, &random)
        }
        if random.isTrue(1, outOf: 3) { entities[index].unique.append(uniqueNames(index, names, &random)) }
        while random.isTrue(1, outOf: 2) { addIndex(index, &random) }
    }

    /// Adds an index of random attributes in random order. Most texts are compared without regard to case.
    private mutating func addIndex(_ index: Int, _ random: inout SplitMix64) {
        let attributes = lineage(index).flatMap { entities[$0].attributes }
        let components = someOf(attributes.map(\.name), &random).map { name in
            let isText = attributes.contains { $0.name == name && $0.type == .string }
            return (random.isTrue(1, outOf: 3) ? "-" : "") + name + (isText && random.isTrue(2, outOf: 3) ? "[c]" : "")
        }
        if !components.isEmpty { entities[index].indexes.append(components) }
    }

    /// Returns the names of the attributes of a new unique set. The set usually includes an attribute that gets a new value in each copy.
    /// Without such an attribute, most clones would violate the set.
    private mutating func uniqueNames(_ index: Int, _ names: [String], _ random: inout SplitMix64) -> [String] {
        let some = someOf(names, &random)
        if random.isTrue(1, outOf: 4) { return some }
        return random.isTrue(1, outOf: 2) ? [addRebuilt(index)] : some + [addRebuilt(index)]
    }

    /// Adds a unique set with a to-one relationship and at most one attribute: the attribute is unique within the target.
    mutating func addOwnedSet(_ index: Int, _ random: inout SplitMix64) {
        let targets = lineage(index).flatMap { entities[$0].relationships }.filter { $0.cardinality == .toOne }
        guard random.isTrue(1, outOf: 3), let target = random.pick(targets)?.name else { return }
        let attribute = random.pick(lineage(index).flatMap { entities[$0].attributes })?.name
        entities[index].unique.append(([target] + (attribute.map { [$0] } ?? [])).shuffled(using: &random))
    }

    /// Adds a to-one relationship to the identity that an entity declares, unless an identity would then need itself.
    private mutating func addOwner(_ index: Int, _ random: inout SplitMix64) {
        let targets = lineage(index).flatMap { entities[$0].relationships }.filter { $0.cardinality == .toOne }
        guard random.isTrue(1, outOf: 2), !entities[index].identity.isEmpty, let target = random.pick(targets)?.name else { return }
        let before = entities[index].identity
        entities[index].identity = (before + [target]).shuffled(using: &random)
        let places = Dictionary(uniqueKeysWithValues: entities.indices.map { (entities[$0].name, $0) })
        let parents = entities.map { $0.parent.flatMap { places[$0] } }
        if !IdentityOrder(entities, parents: parents).isSound { entities[index].identity = before }
    }

    /// Removes the relationships from unique sets and identities that no longer exist under their names, or that have become to-many.
    mutating func forgetLostTargets() {
        let attributes = Set(entities.flatMap { $0.attributes.map(\.name) })
        for index in entities.indices {
            let targets = lineage(index).flatMap { entities[$0].relationships }.filter { $0.cardinality == .toOne }.map(\.name)
            func isKept(_ name: String) -> Bool { attributes.contains(name) || targets.contains(name) }
            entities[index].identity = entities[index].identity.filter(isKept)
            let sets = entities[index].unique.map { $0.filter(isKept) }
            entities[index].unique = sets.filter { !$0.isEmpty }
        }
    }

    func someOf(_ names: [String], _ random: inout SplitMix64) -> [String] {
        Array(names.shuffled(using: &random).prefix(random.isTrue(2, outOf: 3) ? 1 : Int.random(in: 1...3, using: &random)))
    }

    func lineage(_ index: Int) -> [Int] {
        var found = [index]
        // A random change can make the parents form a cycle.
        while found.count <= entities.count, let name = entities[found[0]].parent,
            let parent = entities.firstIndex(where: { $0.name == name })
        {
            found.insert(parent, at: 0)
        }
        return found
    }

    // MARK: Relationships

    mutating func addRelationships(_ random: inout SplitMix64) {
        let source = Int.random(in: 0..<entities.count, using: &random)
        let target = random.isTrue(1, outOf: 3) ? source : Int.random(in: 0..<entities.count, using: &random)
        var first = relationship(to: entities[target].name, &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: entities[source].relationships.append(first)
        case 2:
            if first.cardinality == .orderedToMany { first.cardinality = .toMany }
            first.destination = entities[source].name
            first.inverse = first.name
            entities[source].relationships.append(first)
        default:
            var second = relationship(to: entities[source].name, &random)
            if random.isTrue(1, outOf: 5) { (first.cardinality, second.cardinality) = (.orderedToMany, .orderedToMany) }
            first.inverse = second.name
            second.inverse = first.name
            entities[source].relationships.append(first)
            entities[target].relationships.append(second)
        }
    }

    private mutating func relationship(to destination: String, _ random: inout SplitMix64) -> RelationshipDefinition {
        let cardinalities: [RelationshipDefinition.Cardinality] = [.toOne, .toMany, .orderedToMany]
        var relationship = RelationshipDefinition(
            name("relationship"), to: destination, random.pick(cardinalities) ?? .toOne,
            onDelete: random.pick(DeleteRule.allCases) ?? .nullify)
        if random.isTrue(1, outOf: 30) { relationship.minCount = 1 }
        if relationship.cardinality != .toOne, random.isTrue(1, outOf: 6) {
            relationship.maxCount = Int.random(in: 2...5, using: &random)
        }
        return relationship
    }
}
