package import CambiumModel

/// Generates random ops. Most ops are valid for the state of a reference graph. Tests apply each op to the engine and to the reference
/// graph, and compare the results.
///
///     var program = RandomProgram(schema: schema, seed: 7)
///     let op = program.next(for: reference)
package struct RandomProgram: Sendable {
    /// The kinds of ops that a program generates.
    package enum Scope: Sendable {
        /// All ops, including ops that the engine must refuse.
        case everything
        /// All ops; clones are more frequent than any other kind.
        case clones
        /// All ops. The test that runs the program also changes the schema often.
        case migrations
        /// Only changes that `OpDerivation` can derive from a comparison of two graphs: no clones, no deletions, no reuse of skipped
        /// serials, and no ops that the engine must refuse.
        case derivable
    }

    private(set) var schema: Schema
    package let scope: Scope
    var random: SplitMix64
    var values = RandomValues()
    /// Ops that link new objects, so that their relationships reach the minimum number of members.
    private var pending: [Op] = []
    private(set) var concrete: [Entity] = []
    private(set) var relationships: [Relationship] = []
    private(set) var identifying: Set<ObjectIdentifier> = []

    package init(schema: Schema, seed: UInt64, scope: Scope = .everything) {
        self.schema = schema
        self.scope = scope
        random = SplitMix64(seed: seed)
        adopt(schema)
    }

    /// Continues with another schema. Drops the pending links, which were made for the old schema.
    package mutating func adopt(_ schema: Schema) {
        self.schema = schema
        pending = []
        concrete = schema.entities.filter { !$0.isAbstract }
        relationships = schema.entities.flatMap { entity in entity.relationships.filter { $0.entity == entity.number } }
        identifying = Set(
            schema.entities.flatMap { entity in
                entity.uniqueSets.flatMap { $0.properties.compactMap(entity.attribute) }.map(ObjectIdentifier.init)
            })
    }

    /// Returns the next op for the current state of a reference graph.
    package mutating func next(for graph: ReferenceGraph) -> Op {
        while let op = pending.popLast() {
            if case .link(let id, _, let target, _) = op, graph.contains(id), graph.contains(target) { return op }
        }
        if scope != .derivable, random.isTrue(1, outOf: 12) { return wrongOp(graph) }
        return op(graph) ?? insert(graph)
    }

    /// Returns an op of a random kind, or `nil` if the graph contains nothing to which an op of this kind could apply.
    private mutating func op(_ graph: ReferenceGraph) -> Op? {
        if random.isTrue(scope == .clones ? 15 : scope == .derivable ? 0 : 2, outOf: 50) { return clone(graph) }
        if scope != .derivable, random.isTrue(1, outOf: 50) { return mark(graph) }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<15: return insert(graph)
        case 15..<27: return set(graph)
        case 27..<54: return link(graph)
        case 54..<60: return unlink(graph)
        case 60..<68: return move(graph)
        case 68..<72 where scope != .derivable: return delete(graph)
        case 72..<84: return upsert(graph)
        default: return relink(graph)
        }
    }

    // MARK: Objects

    private mutating func insert(_ graph: ReferenceGraph) -> Op {
        guard let entity = random.pick(concrete) else { preconditionFailure("Each hierarchy must have a concrete entity.") }
        let id = ObjectID(root: entity.root, serial: serial(entity, graph))
        var assignments: [Assignment] = []
        for attribute in entity.attributes.filter({ !$0.isDerived }) where isWanted(attribute) || random.isTrue(1, outOf: 2) {
            assignments.append(Assignment(attribute.number, value(attribute)))
        }
        assignments.shuffle(using: &random)
        if random.isTrue(1, outOf: 10), let again = assignments.first {
            if let attribute = entity.attribute(again.property) { assignments.append(Assignment(again.property, value(attribute))) }
        }
        for relationship in entity.relationships where relationship.minCount > 0 && random.isTrue(9, outOf: 10) {
            guard let target = random.pick(targets(relationship, graph)) else { continue }
            pending.append(.link(id, relationship.number, target: target, index: nil))
        }
        return .insert(id, entity: entity.number, assignments)
    }

    private func isWanted(_ attribute: Attribute) -> Bool { !attribute.isOptional && attribute.defaultValue.isNull }

    /// Returns the serial of a new object, the number in its id. Usually returns the next unused serial. Occasionally skips serials, or
    /// returns a serial that was skipped earlier.
    mutating func serial(_ entity: Entity, _ graph: ReferenceGraph) -> UInt64 {
        let next = graph.nextSerial(of: entity.root)
        if random.isTrue(1, outOf: 12) { return next + UInt64.random(in: 1...200, using: &random) }
        if scope != .derivable, random.isTrue(1, outOf: 12) {
            let serial = UInt64.random(in: 1...next, using: &random)
            if !graph.contains(ObjectID(root: entity.root, serial: serial)) { return serial }
        }
        return next
    }

    /// Returns a valid value. The value of an attribute in a unique set is usually new.
    mutating func value(_ attribute: Attribute) -> Value {
        if identifying.contains(ObjectIdentifier(attribute)), random.isTrue(19, outOf: 20) { return values.fresh(attribute.type) }
        let value = values.common(attribute, &random)
        return value.isNull && !attribute.isOptional && random.isTrue(9, outOf: 10) ? values.fresh(attribute.type) : value
    }

    private mutating func set(_ graph: ReferenceGraph) -> Op? {
        guard let id = random.pick(graph.ids), let entity = graph.entity(of: id) else { return nil }
        var assignments: [Assignment] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            if let attribute = random.pick(entity.attributes.filter { !$0.isDerived }) {
                assignments.append(Assignment(attribute.number, value(attribute)))
            }
        }
        return .set(id, assignments)
    }

    /// Returns an op as an undo writes it for an object that comes back. The source may have been deleted.
    private mutating func mark(_ graph: ReferenceGraph) -> Op? {
        guard let id = random.pick(graph.ids) else { return nil }
        let source = UInt64.random(in: 0..<id.serial, using: &random)
        return .mark(id, source: random.isTrue(1, outOf: 3) ? 0 : source, isStub: random.isTrue(1, outOf: 4))
    }

    private mutating func delete(_ graph: ReferenceGraph) -> Op? {
        let ids = graph.ids
        guard let first = random.pick(ids) else { return nil }
        if random.isTrue(1, outOf: 10) {
            return .delete(ids.filter { $0.root == first.root }.prefix(300).map { $0 })
        }
        return .delete([first] + (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in random.pick(ids) })
    }

    // MARK: Links

    /// Returns an object, and one of its relationships that satisfies `fits`. Returns `nil` if there is no such object.
    mutating func owner(
        _ graph: ReferenceGraph, where fits: (Relationship) -> Bool = { _ in true }
    ) -> (id: ObjectID, relationship: Relationship)? {
        guard let relationship = random.pick(relationships.filter(fits)), let entity = schema.entity(relationship.entity),
            let id = random.pick(graph.ids(of: entity))
        else { return nil }
        return (id, relationship)
    }

    func targets(_ relationship: Relationship, _ graph: ReferenceGraph) -> [ObjectID] {
        schema.entity(relationship.destination).map(graph.ids(of:)) ?? []
    }

    private mutating func link(_ graph: ReferenceGraph) -> Op? {
        guard let (id, relationship) = owner(graph), let target = random.pick(targets(relationship, graph)) else { return nil }
        var index: Int?
        if relationship.isOrdered ? random.isTrue(2, outOf: 3) : random.isTrue(1, outOf: 10) {
            index = Int.random(in: 0...graph.members(relationship, of: id).count, using: &random)
        }
        return .link(id, relationship.number, target: target, index: index)
    }

    private mutating func unlink(_ graph: ReferenceGraph) -> Op? {
        guard let (id, relationship) = owner(graph) else { return nil }
        let members = graph.members(relationship, of: id)
        let candidates = random.isTrue(1, outOf: 5) || members.isEmpty ? targets(relationship, graph) : members
        return random.pick(candidates).map { .unlink(id, relationship.number, target: $0) }
    }

    private mutating func move(_ graph: ReferenceGraph) -> Op? {
        for _ in 0..<4 {
            guard let (id, relationship) = owner(graph, where: \.isOrdered) else { return nil }
            let members = graph.members(relationship, of: id)
            guard let target = random.pick(members) else { continue }
            return .move(id, relationship.number, target: target, index: Int.random(in: 0...members.count, using: &random))
        }
        return nil
    }
}
