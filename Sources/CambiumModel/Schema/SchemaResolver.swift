internal import CambiumJSON

/// A resolver for the definition of a schema: it resolves the names, and checks the rules that a schema must obey. The definition already
/// has numbers.
///
/// Complexity: O(properties + inherited properties). The number of inherited properties is limited.
struct SchemaResolver {
    /// The time at which the regular expressions and stored queries of a schema are compiled. A schema from the log was checked when it was
    /// set, so its expressions are compiled at their first use.
    enum Expressions { case compileAll, compileAtFirstUse }

    let definition: SchemaDefinition
    private let expressions: SchemaExpressions
    var mistakes = SchemaMistakes()
    private(set) var byName: [String: EntityDefinition] = [:]
    var tree = SchemaTree(parents: [])
    /// The numbers of the properties that were checked so far, by root entity.
    private var numbers: [Int: Set<UInt16>] = [:]

    init(_ definition: SchemaDefinition, _ expressions: Expressions) {
        self.definition = definition
        self.expressions = SchemaExpressions(expressions)
    }

    mutating func resolve() throws(CambiumError) -> (entities: [Entity], links: [Link]) {
        checkNames()
        checkParents()
        // The next steps need correct names, numbers and parents of entities.
        try mistakes.throwIfAny()
        try definition.checkInheritance(tree)
        checkProperties()
        try mistakes.throwIfAny()
        var pairs = LinkResolver(definition: definition, byName: byName, tree: tree)
        pairs.resolve(&mistakes)
        var derivations = DerivationResolver(definition, tree)
        let attributes = definition.entities.indices.map { place in
            definition.entities[place].attributes.map { attribute($0, of: place, &derivations) }
        }
        if expressions.isExceeded {
            throw CambiumError(
                .limitExceeded,
                "The schema has more than \(SchemaExpressions.countMax) different regular expressions. Use fewer of them.")
        }
        for place in definition.entities.indices { checkSets(place) }
        if mistakes.all.isEmpty { checkIdentities() }
        try CloneRules.check(definition, tree, &mistakes)
        try mistakes.throwIfAny()
        return (entities(attributes, pairs), pairs.links)
    }

    /// Checks the names and the parents of entities, and the relationships, in a definition that has other mistakes. Adds the mistakes that
    /// it finds. Throws `.limitExceeded` if the entities inherit too much.
    mutating func checkRelationships(_ found: inout SchemaMistakes) throws(CambiumError) {
        checkNames()
        checkParents()
        for mistake in mistakes.all { found.add(mistake.pointer, mistake.message) }
        guard mistakes.all.isEmpty else { return }
        // The search for an inverse follows the parents of the destination, so long chains of parents would take too much time.
        try definition.checkInheritance(tree)
        var pairs = LinkResolver(definition: definition, byName: byName, tree: tree)
        pairs.resolve(&found)
    }

    // MARK: Names

    private mutating func checkNames() {
        var formerNames: Set<String> = []
        var numbers: Set<UInt16> = []
        for entity in definition.entities {
            let place = SchemaPlace.entity(entity.name)
            check(name: entity.name, "entity", place)
            if byName.updateValue(entity, forKey: entity.name) != nil { mistakes.add(place.pointer, "two entities have this name") }
            if let former = entity.formerName, !formerNames.insert(former).inserted {
                mistakes.add(place["renamedFrom"].pointer, "two entities state the former name '\(former)'")
            }
            if let number = entity.number, !numbers.insert(number).inserted {
                mistakes.add(place.pointer, "another entity already has the number \(number)")
            }
        }
    }

    private mutating func check(name: String, _ what: String, _ place: SchemaPlace) {
        if let mistake = Self.mistake(inName: name, what) { mistakes.add(place.pointer, mistake) }
    }

    static func mistake(inName name: String, _ what: String) -> String? {
        let first = name.unicodeScalars.first
        let isSound =
            first.map { $0.properties.isXIDStart } ?? false
            && name.unicodeScalars.allSatisfy { $0.properties.isXIDContinue || $0 == "-" }
        if !isSound {
            return "the \(what)'s name must begin with a letter and contain only letters, digits, '_' and '-'"
        }
        return name.utf8.count > 200 ? "the \(what)'s name must have at most 200 bytes" : nil
    }

    /// Whether the chain of parents of an entity ends, or leads into a cycle.
    private enum Line { case unknown, ends, isRing }

    private mutating func checkParents() {
        let places = Dictionary(definition.entities.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        let parents = definition.entities.map { $0.parent.flatMap { places[$0] } }
        var lines = [Line](repeating: .unknown, count: parents.count)
        for start in parents.indices {
            var path: [Int] = []
            var onPath: Set<Int> = []
            var next: Int? = start
            while let place = next, lines[place] == .unknown, onPath.insert(place).inserted {
                path.append(place)
                next = parents[place]
            }
            let line = next.map { lines[$0] == .ends ? Line.ends : .isRing } ?? .ends
            for place in path { lines[place] = line }
        }
        for (place, entity) in definition.entities.enumerated() {
            let pointer = SchemaPlace.entity(entity.name)["parent"].pointer
            if let parent = entity.parent, places[parent] == nil { mistakes.add(pointer, "the schema has no entity '\(parent)'") }
            if lines[place] == .isRing { mistakes.add(pointer, "the parents of '\(entity.name)' form a cycle") }
        }
        if mistakes.all.isEmpty { tree = SchemaTree(parents: parents) }
    }

    private mutating func checkProperties() {
        let inherited = inheritedNames()
        for place in definition.entities.indices { checkProperties(place, inherited[place] ?? []) }
    }

    /// Returns, for each entity, the names of its own properties that an ancestor also declares.
    private func inheritedNames() -> [Int: Set<String>] {
        var found: [Int: Set<String>] = [:]
        var declared: Set<String> = []
        // The loop visits each entity twice. The first visit adds the names of the entity to `declared`, and its descendants are visited
        // next. The second visit removes the names again.
        var pending: [(place: Int, names: [String]?)] = tree.order.filter { tree.parents[$0] == nil }.map { ($0, nil) }
        var children = [[Int]](repeating: [], count: tree.parents.count)
        for (place, parent) in tree.parents.enumerated() { if let parent { children[parent].append(place) } }
        while let (place, names) = pending.popLast() {
            if let names {
                declared.subtract(names)
                continue
            }
            let entity = definition.entities[place]
            let own = Set(entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.queries.map(\.name))
            for name in own where declared.contains(name) { found[place, default: []].insert(name) }
            let new = own.filter { !declared.contains($0) }
            declared.formUnion(new)
            pending.append((place, Array(new)))
            pending += children[place].map { ($0, nil) }
        }
        return found
    }

    private mutating func checkProperties(_ index: Int, _ inherited: Set<String>) {
        let entity = definition.entities[index]
        let place = SchemaPlace.entity(entity.name)
        var own: Set<String> = []
        let properties =
            entity.attributes.map { ($0.name, place["attributes"][$0.name], $0.number, "attribute") }
            + entity.relationships.map { ($0.name, place["relationships"][$0.name], $0.number, "relationship") }
        for (name, place, number, what) in properties {
            check(name: name, what, place)
            if !own.insert(name).inserted { mistakes.add(place.pointer, "two properties of the entity have this name") }
            if inherited.contains(name) { mistakes.add(place.pointer, "the entity inherits a property or a query with this name") }
            if let number {
                let isNew = numbers[tree.roots[index], default: []].insert(number).inserted
                if !isNew { mistakes.add(place.pointer, "another property already has the number \(number)") }
            } else {
                mistakes.add(place.pointer, "the property has no number")
            }
        }
        for query in entity.queries {
            let place = place["queries"][query.name]
            check(name: query.name, "query", place)
            if !own.insert(query.name).inserted { mistakes.add(place.pointer, "a property or a query of the entity has this name already") }
            if inherited.contains(query.name) { mistakes.add(place.pointer, "the entity inherits a property or a query with this name") }
        }
        if entity.number == nil { mistakes.add(place.pointer, "the entity has no number") }
    }

    // MARK: Attributes

    private mutating func attribute(
        _ attribute: AttributeDefinition, of place: Int, _ derivations: inout DerivationResolver
    ) -> Attribute {
        let entity = definition.entities[place]
        let resolver = AttributeResolver(attribute, SchemaPlace.entity(entity.name)["attributes"][attribute.name], expressions)
        let (constraints, defaultValue) = resolver.resolve(&mistakes)
        return Attribute(
            number: PropertyNumber(rawValue: attribute.number ?? 0), name: attribute.name, formerName: attribute.formerName,
            entity: number(ofEntity: place), root: number(ofEntity: tree.roots[place]), type: attribute.type,
            isOptional: attribute.presence == .optional || derivations.mayBeNull(attribute, of: place),
            defaultValue: defaultValue, constraints: constraints, isTransient: attribute.isTransient,
            derivation: derivations.resolve(attribute, of: place, &mistakes), userInfo: attribute.userInfo)
    }
}
