import CambiumGraph
import CambiumModel

/// Whether a migration may give new ids to the objects of an entity that moves to another hierarchy. An id contains the number of its root
/// entity, so such an object cannot keep its id.
///
/// ```swift
/// try store.migrate(to: definition, movedIDs: .renewed)
/// ```
public enum MovedObjectIDs: Sendable {
    /// Refuses the migration without a closure if an entity with objects moves to another hierarchy.
    case kept
    /// Inserts these objects again, with new ids, the same values and the same links. The objects get the next serials of the new
    /// hierarchy, in the order of their old ids.
    case renewed
}

/// The objects that a migration inserts again with new ids, and the links from and to these objects.
struct MovedObjects {
    private let migration: SchemaMigration
    private let succession: SchemaSuccession
    private let conversion: ValueConversion
    private let before: Graph
    /// The objects in the order of their ids, each with its old entity and its properties.
    private let holders: [(id: ObjectID, holder: SchemaMoves.Holder)]
    private let newIDs: [ObjectID: ObjectID]

    /// Complexity: O(objects of the hierarchies that have moved entities, or relationships to them).
    ///
    /// - Parameter nextSerial: Returns the next free serial of a hierarchy of the new schema.
    init(
        _ migration: SchemaMigration, _ before: Graph, _ conversion: ValueConversion, nextSerial: (EntityNumber) -> UInt64
    ) throws(CambiumError) {
        (self.migration, self.before, self.conversion) = (migration, before, conversion)
        succession = SchemaSuccession(migration.before, migration.after)
        let known = migration.moves.holders
        let roots = Set(known.values.map(\.before.root))
        var holders: [(ObjectID, SchemaMoves.Holder)] = []
        var newIDs: [ObjectID: ObjectID] = [:]
        var serials: [EntityNumber: UInt64] = [:]
        for root in before.schema.roots where roots.contains(root.number) {
            for id in before.objects(of: root) {
                guard let holder = before.entity(of: id).flatMap({ known[$0.number] }) else { continue }
                holders.append((id, holder))
                guard holder.isMoved else { continue }
                if holder.after.isAbstract { throw Self.refusal("'\(holder.after.name)' is abstract, but has objects") }
                let serial = serials[holder.after.root] ?? nextSerial(holder.after.root)
                guard serial <= ObjectID.serialMax else {
                    throw CambiumError(
                        .limitExceeded, "The hierarchy of '\(holder.after.name)' has too few serials left for the objects that move to it.")
                }
                serials[holder.after.root] = serial + 1
                newIDs[id] = ObjectID(root: holder.after.root, serial: serial)
            }
        }
        (self.holders, self.newIDs) = (holders, newIDs)
    }

    /// Passes the ops that insert and link the objects to `body`, after the op that changes the schema. Throws `.ruleViolated` for a value
    /// or a member that the new schema cannot hold, and the errors of `body`.
    func forEachOp(_ body: (Op) throws -> Void) throws {
        for (id, holder) in holders where holder.isMoved {
            guard let newID = newIDs[id], let place = before.place(of: id) else { continue }
            try body(.insert(newID, entity: holder.after.number, try values(of: id, holder)))
            let source = before.source(of: place).flatMap { newIDs[$0]?.serial } ?? 0
            if source > 0 || before.isStub(place) { try body(.mark(newID, source: source, isStub: before.isStub(place))) }
        }
        for (id, holder) in holders {
            for link in holder.relationships {
                for (index, member) in (try members(of: id, link) ?? []).enumerated() {
                    let index = link.after.isOrdered ? index : nil
                    try body(.link(newIDs[id] ?? id, link.after.number, target: member, index: index))
                }
            }
        }
    }

    private func values(of id: ObjectID, _ holder: SchemaMoves.Holder) throws -> [Assignment] {
        try holder.attributes.map { attribute, after in
            let value = before[id, attribute] ?? .null
            let exact = attribute.type.equivalent(of: value, to: after.type)
            guard let converted = conversion == .nearest ? exact ?? attribute.type.converted(value, to: after.type) : exact else {
                throw Self.refusal(
                    "\(name(id)): the value of '\(attribute.name)' has no exact equivalent of the type \(after.type.rawValue)")
            }
            if !converted.isNull, let violation = after.violation(by: converted) {
                throw Self.refusal("\(name(id)): '\(after.name)' \(violation)")
            }
            return Assignment(after.number, converted)
        }
    }

    /// Returns the members that remain, with their new ids, or `nil` if the links to them do not change. Throws `.ruleViolated` for a
    /// member that the new relationship cannot hold.
    private func members(of id: ObjectID, _ link: SchemaMoves.Relinked) throws -> [ObjectID]? {
        guard let members = before.members(link.before, of: id), !members.isEmpty else { return nil }
        if link.isKept, !members.contains(where: { newIDs[$0] != nil }) { return nil }
        let family = migration.after.entity(link.after.destination)?.family ?? []
        return try members.compactMap { member in
            guard let entity = before.entity(of: member),
                let after = migration.moves.holders[entity.number]?.after ?? succession.entity(after: entity.number)
            else { return nil }
            guard family.contains(after.number) else {
                throw Self.refusal("\(name(id)): '\(link.after.name)' cannot hold \(name(member))")
            }
            return newIDs[member] ?? member
        }
    }

    /// Throws `.ruleViolated` if an object does not have the members that it had before.
    func check(_ draft: borrowing Draft) throws {
        for (id, holder) in holders {
            for link in holder.relationships {
                guard let wanted = try members(of: id, link) else { continue }
                let found = draft.members(link.after, of: newIDs[id] ?? id) ?? []
                let isSame = link.before.isOrdered && link.after.isOrdered ? wanted == found : Set(wanted) == Set(found)
                if isSame { continue }
                let counts = "\(found.count) members, and not the \(wanted.count) that it had"
                throw Self.refusal("\(name(id)): '\(link.after.name)' would have \(counts)")
            }
        }
    }

    private func name(_ id: ObjectID) -> String { before.name(of: id) ?? id.description }

    private static func refusal(_ reason: String) -> CambiumError {
        CambiumError(
            .ruleViolated,
            "An object cannot move to another hierarchy as it is. \(reason). First move the entities without other changes to them, and "
                + "make the other changes in a later migration.")
    }
}
