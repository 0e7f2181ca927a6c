import Cambium
import CambiumGraph
import CambiumModel
import CambiumTesting
import TestFixtures

/// The undo of a transaction, by a comparison of whole states: before the transaction, after it, and now.
struct ReferenceUndo {
    private let before: ReferenceGraph
    private let after: ReferenceGraph
    private let now: ReferenceGraph
    /// The subjects of the conflicts, as `text` writes them.
    private(set) var conflicts: Set<String> = []

    init(before: ReferenceGraph, after: ReferenceGraph, now: ReferenceGraph) {
        (self.before, self.after, self.now) = (before, after, now)
        for id in Set(before.ids).union(after.ids) {
            switch (before.contains(id), after.contains(id)) {
            case (false, _): trackInserted(id)
            case (true, false): if now.contains(id) { conflicts.insert("\(id)") }
            case (true, true): noteChanged(id)
            }
        }
        for relationship in relationships { trackLinks(relationship) }
    }

    static func text(_ subject: UndoConflict.Subject) -> String {
        switch subject {
        case .attribute(let id, let attribute): "\(id).\(attribute.name)"
        case .relationship(let id, let relationship): "\(id).\(relationship.name)"
        case .object(let id): "\(id)"
        case .label(let name): "label \(name)"
        }
    }

    private var relationships: [Relationship] {
        now.schema.entities.flatMap { entity in entity.relationships.filter { $0.entity == entity.number } }
    }

    private func values(_ id: ObjectID, _ graph: ReferenceGraph) -> [String: ValueKey] {
        let attributes = graph.entity(of: id)?.attributes.filter { !$0.isDerived } ?? []
        let values = attributes.map { ($0.name, ValueKey(graph.value(of: $0, of: id) ?? .null)) }
        return Dictionary(values, uniquingKeysWith: { first, _ in first })
    }

    private func members(_ id: ObjectID, _ relationship: Relationship, _ graph: ReferenceGraph) -> [ObjectID] {
        graph.entity(of: id)?.relationship(relationship.number) == nil ? [] : graph.members(relationship, of: id)
    }

    private mutating func trackInserted(_ id: ObjectID) {
        guard now.contains(id), let entity = after.entity(of: id) else {
            conflicts.insert("\(id)")
            return
        }
        let (left, present) = (values(id, after), values(id, now))
        for (name, value) in left where present[name] != value { conflicts.insert("\(id).\(name)") }
        for relationship in entity.relationships where members(id, relationship, after) != members(id, relationship, now) {
            conflicts.insert("\(id).\(relationship.name)")
        }
        for relationship in relationships where relationship.inverse == nil {
            for owner in Set(after.ids).union(now.ids) {
                let (was, isNow) = (members(owner, relationship, after).contains(id), members(owner, relationship, now).contains(id))
                if was != isNow { conflicts.insert("\(owner).\(relationship.name)") }
            }
        }
    }

    private mutating func noteChanged(_ id: ObjectID) {
        let (former, left) = (values(id, before), values(id, after))
        let changed = left.filter { former[$0.key] != $0.value }
        let relations = after.entity(of: id)?.relationships.filter { members(id, $0, before) != members(id, $0, after) } ?? []
        if changed.isEmpty, relations.isEmpty, before.isStub(id) == after.isStub(id) { return }
        guard now.contains(id) else {
            conflicts.insert("\(id)")
            return
        }
        let present = values(id, now)
        for (name, value) in changed where present[name] != value { conflicts.insert("\(id).\(name)") }
        for relationship in relations {
            let (was, isNow) = (members(id, relationship, after), members(id, relationship, now))
            if !relationship.isToMany, was != isNow { conflicts.insert("\(id).\(relationship.name)") }
            if relationship.isOrdered, isMoved(members(id, relationship, before), was), isMoved(was, isNow) {
                conflicts.insert("\(id).\(relationship.name)")
            }
        }
    }

    private func isMoved(_ former: [ObjectID], _ later: [ObjectID]) -> Bool {
        former.filter(later.contains) != later.filter(former.contains)
    }

    private mutating func trackLinks(_ relationship: Relationship) {
        for id in before.ids where after.contains(id) || !now.contains(id) {
            let (former, left) = (members(id, relationship, before), members(id, relationship, after))
            // Both sides of a link report a missing object.
            let isRestorable = now.contains(id) || !after.contains(id)
            for target in former where !left.contains(target) && isRestorable && !now.contains(target) && after.contains(target) {
                conflicts.insert("\(target)")
            }
            guard now.contains(id), after.contains(id) else { continue }
            let present = members(id, relationship, now)
            for target in left where !former.contains(target) && before.contains(target) && !now.contains(target) {
                conflicts.insert("\(id).\(relationship.name)")
            }
            let inverse = relationship.inverse.flatMap { now.schema.relationship($0, ofRoot: relationship.destinationRoot) }
            guard relationship.isToMany, inverse?.isToMany ?? true else { continue }
            for target in Set(former).symmetricDifference(left) where before.contains(target) && after.contains(target) {
                guard now.contains(target), present.contains(target) != left.contains(target) else { continue }
                let isFirst = inverse.map { $0 === relationship ? id <= target : relationship.end == 0 } ?? true
                if isFirst { conflicts.insert("\(id).\(relationship.name)") }
            }
        }
    }

    // MARK: Result

    /// Compares the state after an undo without conflicts with the expected one: what the transaction changed is as before it, and all the
    /// rest is as it was.
    func difference(from undone: ReferenceGraph) -> String? {
        let expected = Set(now.ids).subtracting(after.ids.filter { !before.contains($0) }).union(before.ids.filter { !after.contains($0) })
        if Set(undone.ids) != expected { return "the objects \(undone.ids) instead of \(expected.sorted())" }
        for id in expected {
            let isBack = !after.contains(id) && before.contains(id)
            let wanted = isBack ? values(id, before) : restored(values(id, before), values(id, after), values(id, now))
            let found = values(id, undone)
            if found != wanted { return "\(id) has \(found) instead of \(wanted)" }
            for relationship in undone.entity(of: id)?.relationships ?? [] {
                let text = difference(id, relationship, undone, expected, isBack: isBack)
                if let text { return text }
            }
        }
        return nil
    }

    private func restored(_ former: [String: ValueKey], _ left: [String: ValueKey], _ present: [String: ValueKey]) -> [String: ValueKey] {
        present.merging(left.filter { former[$0.key] != nil && former[$0.key] != $0.value }) { _, _ in .null }
            .merging(former.filter { left[$0.key] != nil && left[$0.key] != $0.value }) { _, new in new }
    }

    private func difference(
        _ id: ObjectID, _ relationship: Relationship, _ undone: ReferenceGraph, _ expected: Set<ObjectID>, isBack: Bool
    ) -> String? {
        let (former, left) = (members(id, relationship, before), members(id, relationship, after))
        let (present, found) = (members(id, relationship, now), members(id, relationship, undone))
        let wanted = Set(present).subtracting(left.filter { !former.contains($0) }).union(former.filter { !left.contains($0) })
        if Set(found) != wanted { return "\(id).\(relationship.name) is \(found) instead of \(wanted.sorted())" }
        let isExact = relationship.isOrdered && (isBack || present == left)
        if isExact, found != former { return "\(id).\(relationship.name) has the order \(found) instead of \(former)" }
        return nil
    }
}
