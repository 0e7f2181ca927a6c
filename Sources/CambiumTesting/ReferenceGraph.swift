internal import CambiumGraph
package import CambiumModel

/// A model of the engine's graph that consists of dictionaries and arrays. The model is simple and slow. Tests apply the same changes to
/// the engine and to the model, and compare the results.
///
/// The model shares values and schemas with the engine, but no code for storage, indexes or rules.
///
///     var reference = ReferenceGraph(schema: schema)
///     try reference.apply(.insert(id, entity: note.number, []))
///     reference.brokenRules()      // what a commit would refuse
///     reference.commit()
package struct ReferenceGraph: Sendable {
    struct Object: Sendable {
        var entity: Entity
        var attributes: [PropertyNumber: Value]
        var isStub: Bool
    }

    /// The key of the members of one relationship: an end, 0 or 1, of `schema.links[link]`. A link is a relationship together with its
    /// inverse.
    struct Side: Hashable, Sendable {
        let link: Int
        let end: Int
    }

    struct Loss: Hashable, Sendable {
        let side: Side
        let object: ObjectID
    }

    /// A deletion that the `deny` rule of a relationship forbids, unless the members are deleted or unlinked before the transaction ends.
    struct Denial: Sendable {
        let object: String
        let relationship: String
        let members: [ObjectID]
    }

    package internal(set) var schema: Schema
    var objects: [ObjectID: Object] = [:]
    /// For each relationship, the members of each object, in the order in which they were linked or moved. There is no entry for an object
    /// without members.
    var members: [Side: [ObjectID: [ObjectID]]] = [:]
    var nextSerials: [EntityNumber: UInt64] = [:]
    /// The original of each copy.
    var sources: [ObjectID: ObjectID] = [:]
    /// The objects whose rules the current transaction may have broken.
    var noted = Set<ObjectID>()
    var denials: [Denial] = []
    /// The objects that lost an owner in the current transaction, each with the side at which they have their owners.
    var losses = Set<Loss>()
    /// The schema before the current transaction, if the transaction has changed it.
    var schemaBefore: Schema?
    /// The values that the current transaction converted to another type without an exact equivalent.
    var inexact: [(object: ObjectID, attribute: PropertyNumber, rule: Violation.Rule, result: Value)] = []
    /// The objects that lost members in the current transaction, because a relationship became to-one.
    var narrowed: [(object: ObjectID, relationship: PropertyNumber, count: Int, kept: ObjectID?)] = []
    /// Whether the current transaction accepts the nearest values and the first members.
    package var acceptsNearest = false

    package init(schema: Schema) { self.schema = schema }

    // MARK: Reading

    package var objectCount: Int { objects.count }

    package func contains(_ id: ObjectID) -> Bool { objects[id] != nil }

    package func entity(of id: ObjectID) -> Entity? { objects[id]?.entity }

    package func isStub(_ id: ObjectID) -> Bool { objects[id]?.isStub ?? false }

    /// All ids, in ascending order.
    package var ids: [ObjectID] { objects.keys.sorted() }

    /// Returns the ids of an entity's objects, including sub-entities, in ascending order.
    package func ids(of entity: Entity) -> [ObjectID] {
        // A filtered dictionary would hash each id again.
        objects.compactMap { id, object in entity.family.contains(object.entity.number) ? id : nil }.sorted()
    }

    /// Returns the value of an attribute, or `nil` if the object does not exist.
    package func value(of attribute: Attribute, of id: ObjectID) -> Value? {
        objects[id].map { _ in value(attribute.number, of: id) }
    }

    /// Returns the members of a relationship: in their order if the relationship is ordered, otherwise in ascending order of their ids.
    package func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        let found = members[side(relationship)]?[id] ?? []
        return relationship.isOrdered ? found : found.sorted()
    }

    /// Returns the serial of the next object of a hierarchy.
    package func nextSerial(of root: EntityNumber) -> UInt64 { nextSerials[root] ?? 1 }

    /// Returns the object with these identity values, or `nil` if there is no such object.
    package func find(_ entity: Entity, identity values: [Value]) -> ObjectID? {
        guard !values.isEmpty, values.count == entity.identityValues.count else { return nil }
        let wanted = values.map(ValueKey.init(unique:))
        if wanted.contains(.null) { return nil }
        return ids(of: entity).first { identityValues(of: $0, entity).map(ValueKey.init(unique:)) == wanted }
    }

    /// Returns the values that state the identity of an object.
    package func identityValues(of id: ObjectID, _ entity: Entity) -> [Value] {
        entity.identityValues.map { wanted in
            var owner = id
            for relationship in wanted.path {
                guard let next = members(relationship, of: owner).first else { return .null }
                owner = next
            }
            guard let attribute = wanted.attribute else {
                return self.entity(of: owner).map { .string(schema.text(of: owner, entity: $0)) } ?? .null
            }
            return objects[owner]?.attributes[attribute.number] ?? .null
        }
    }

    // MARK: Changing

    /// Applies one op. If the engine must refuse the op, throws `.notFound`, `.invalidInput`, `.ruleViolated`, `.limitExceeded` or
    /// `.corrupted`. After an error, nothing has changed, except that a part of a `relink` op may have been applied.
    package mutating func apply(_ op: Op) throws(CambiumError) {
        switch op {
        case .schema(let catalog):
            try migrate(to: try Schema(catalog: catalog))
            losses = []
        case .label, .digest, .undo: break
        case .mark(let id, let source, let isStub): try mark(id, source, isStub)
        case .insert(let id, let entity, let assignments): try insert(id, entity, assignments)
        case .set(let id, let assignments): try set(id, assignments)
        case .link(let id, let property, let target, let index): try link(id, property, target, index)
        case .unlink(let id, let property, let target): try unlink(id, property, target)
        case .move(let id, let property, let target, let index): try move(id, property, target, index)
        case .delete(let ids): try delete(ids)
        case .upsert(let block): try apply(block)
        case .relink(let block): try apply(block)
        case .clone(let clone): try self.clone(clone)
        }
    }

    /// Ends the transaction. Later calls of `brokenRules()` check only the changes after this call, and all unique sets.
    package mutating func commit() {
        noted = []
        denials = []
        losses = []
        schemaBefore = nil
        inexact = []
        narrowed = []
        acceptsNearest = false
    }

    private mutating func insert(_ id: ObjectID, _ number: EntityNumber, _ assignments: [Assignment]) throws(CambiumError) {
        guard let entity = schema.entity(number), !entity.isAbstract, entity.root == id.root else {
            throw CambiumError(.invalidInput, "The schema has no concrete \(number) in the hierarchy of \(id.root).")
        }
        guard id.serial > 0, objects[id] == nil else { throw CambiumError(.invalidInput, "\(text(id)) already exists.") }
        var attributes = Dictionary(uniqueKeysWithValues: entity.attributes.map { ($0.number, $0.defaultValue) })
        for assignment in assignments {
            attributes[assignment.property] = try checked(assignment, entity)
        }
        create(id, Object(entity: entity, attributes: attributes, isStub: false))
        noted.insert(id)
    }

    private mutating func mark(_ id: ObjectID, _ source: UInt64, _ isStub: Bool) throws(CambiumError) {
        _ = try live(id)
        guard source < id.serial else { throw CambiumError(.invalidInput, "\(id) is older than the object with the serial \(source).") }
        objects[id]?.isStub = isStub
        sources[id] = source == 0 ? nil : ObjectID(root: id.root, serial: source)
        noted.insert(id)
    }

    mutating func create(_ id: ObjectID, _ object: Object) {
        objects[id] = object
        nextSerials[id.root] = max(nextSerial(of: id.root), id.serial + 1)
    }

    private mutating func set(_ id: ObjectID, _ assignments: [Assignment]) throws(CambiumError) {
        let entity = try live(id).entity
        var changed: [PropertyNumber: Value] = [:]
        for assignment in assignments { changed[assignment.property] = try checked(assignment, entity) }
        for (property, value) in changed { objects[id]?.attributes[property] = value }
        let isMissing = assignments.contains { $0.value.isNull && entity.attribute($0.property)?.isOptional == false }
        if isMissing { noted.insert(id) }
    }

    private func checked(_ assignment: Assignment, _ entity: Entity) throws(CambiumError) -> Value {
        guard let attribute = entity.attribute(assignment.property) else {
            throw CambiumError(.invalidInput, "'\(entity.name)' has no attribute with the number \(assignment.property.rawValue).")
        }
        if attribute.isDerived { throw CambiumError(.invalidInput, "'\(attribute.name)' is derived.") }
        guard ValueKey.fits(assignment.value, attribute.type) else {
            throw CambiumError(.invalidInput, "'\(attribute.name)' cannot hold the value.")
        }
        return assignment.value
    }

    func live(_ id: ObjectID) throws(CambiumError) -> Object {
        guard let object = objects[id] else { throw CambiumError(.notFound, "\(text(id)) does not exist.") }
        return object
    }

    func text(_ id: ObjectID) -> String {
        "\((objects[id]?.entity ?? schema.entity(id.root))?.name ?? "?")/\(id.serial)"
    }
}
