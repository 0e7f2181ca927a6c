import CambiumModel

/// Compares two graphs object by object: graphs whose schemas differ, or a single object of any two graphs.
///
/// Two properties with the same number are the same property. If the type of an attribute was widened, two values are the same if they are
/// equal after conversion to the wider type.
struct SchemaChangeFinder {
    let old: Graph
    let new: Graph
    private var events: [ChangeEvent] = []

    init(_ old: Graph, _ new: Graph) {
        self.old = old
        self.new = new
    }

    /// Returns all differences, in order. Complexity: O(objects and members of both graphs).
    mutating func run() -> [ChangeEvent] {
        let roots = Set((old.schema.roots + new.schema.roots).map(\.number))
        for root in roots {
            forEachID(old, root) { if !new.contains($0) { events.append(.init(.deleted, root, $0.serial)) } }
            forEachID(new, root) { id in
                guard let before = old.place(of: id), let after = new.place(of: id) else {
                    return events.append(.init(.inserted, root, id.serial))
                }
                compare(id, before, after)
            }
        }
        events.sort()
        return events
    }

    /// Returns the differences of one object, in order. Complexity: O(properties and members of the object).
    mutating func run(for id: ObjectID) -> [ChangeEvent] {
        switch (old.place(of: id), new.place(of: id)) {
        case (nil, nil): break
        case (nil, _?): events.append(.init(.inserted, id.root, id.serial))
        case (_?, nil): events.append(.init(.deleted, id.root, id.serial))
        case (let before?, let after?): compare(id, before, after)
        }
        events.sort()
        return events
    }

    private func forEachID(_ graph: Graph, _ root: EntityNumber, _ body: (ObjectID) -> Void) {
        guard let entity = graph.schema.entity(root) else { return }
        for id in graph.objects(of: entity) { body(id) }
    }

    private mutating func compare(_ id: ObjectID, _ before: ObjectPlace, _ after: ObjectPlace) {
        let (oldEntity, newEntity) = (old.entity(of: before), new.entity(of: after))
        if old.isStub(before) != new.isStub(after) { events.append(.init(.stub, id.root, id.serial)) }
        for number in Set((oldEntity.attributes + newEntity.attributes).map(\.number)) {
            let (oldAttribute, newAttribute) = (oldEntity.attribute(number), newEntity.attribute(number))
            let was = oldAttribute.map { old.value(of: old.field($0), at: before) } ?? .null
            let now = newAttribute.map { new.value(of: new.field($0), at: after) } ?? .null
            if Self.isSame(was, oldAttribute?.type, now, newAttribute?.type) { continue }
            events.append(.init(.attribute, id.root, id.serial, number))
        }
        for number in Set((oldEntity.relationships + newEntity.relationships).map(\.number)) {
            let was = oldEntity.relationship(number).map { old.memberIDs(old.end($0), of: before) } ?? []
            let now = newEntity.relationship(number).map { new.memberIDs(new.end($0), of: after) } ?? []
            compare(id, number, was, now)
        }
    }

    /// Returns whether two values are equal after one of them is converted to the type of the other without loss.
    private static func isSame(_ before: Value, _ oldType: AttributeType?, _ after: Value, _ newType: AttributeType?) -> Bool {
        guard let oldType, let newType, oldType != newType else { return before == after }
        return oldType.equivalent(of: before, to: newType) == after || newType.equivalent(of: after, to: oldType) == before
    }

    private mutating func compare(_ id: ObjectID, _ property: PropertyNumber, _ before: [ObjectID], _ after: [ObjectID]) {
        if before == after { return }
        let (was, now) = (Set(before), Set(after))
        for member in was.subtracting(now) { events.append(.init(.removed, id.root, id.serial, property, target: member.serial)) }
        for member in now.subtracting(was) { events.append(.init(.added, id.root, id.serial, property, target: member.serial)) }
        // The members of an unordered relationship are read in ascending order. So only an ordered relationship can have the same members
        // in two different orders.
        if was == now { events.append(.init(.moved, id.root, id.serial, property)) }
    }
}
