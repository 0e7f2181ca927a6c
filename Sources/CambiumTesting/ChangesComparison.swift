package import CambiumGraph
internal import CambiumModel

/// Compares changes with the difference between two reference graphs (the simple model with which tests compare the engine). Returns a
/// sentence about the first object whose change is wrong, or `nil` if all changes are right.
///
/// Complexity: O(objects x properties).
package func difference(_ changes: Changes, from old: ReferenceGraph, to new: ReferenceGraph) -> String? {
    var expected: [ObjectID: String] = [:]
    let sides = Set(old.members.keys).union(new.members.keys)
    for id in Set(old.objects.keys).union(new.objects.keys) where !isSurelySame(id, sides, old, new) {
        let line = ReferenceChange(id, old, new).line
        if !line.isEmpty { expected[id] = line }
    }
    let ids = changes.map(\.id)
    if ids != ids.sorted() || Set(ids).count != ids.count { return "the changes are not in order: \(ids)" }
    for change in changes {
        let (found, wanted) = (change.line, expected.removeValue(forKey: change.id))
        if found != wanted { return "\(change.id): '\(found)' instead of '\(wanted ?? "")'" }
        if changes.object(change.id)?.kind != change.kind { return "\(change.id) is not found by its id" }
    }
    let changesSchema = old.schema !== new.schema && old.schema.catalog != new.schema.catalog
    if changes.changesSchema != changesSchema { return "changesSchema is \(changes.changesSchema)" }
    return expected.min { $0.key < $1.key }.map { "\($0.key): nothing instead of '\($0.value)'" }
}

/// Whether an object is certainly equal in two reference graphs with the same schema. The check is quick, and may return `false` for an
/// equal object.
private func isSurelySame(_ id: ObjectID, _ sides: Set<ReferenceGraph.Side>, _ old: ReferenceGraph, _ new: ReferenceGraph) -> Bool {
    guard old.schema === new.schema, let was = old.objects[id], let now = new.objects[id] else { return false }
    if now.entity.attributes.contains(where: \.isDerived) { return false }
    return was.entity === now.entity && was.isStub == now.isStub && was.attributes == now.attributes
        && sides.allSatisfy { old.members[$0]?[id] == new.members[$0]?[id] }
}

extension Changes {
    /// All differences, one line for each object.
    package var lines: [String] { map { "\($0.id): \($0.line)" } }
}

extension ObjectChange {
    fileprivate var line: String {
        var parts = [kind.rawValue + (changesStub ? " stub" : "")]
        parts += attributes.sorted { $0.attribute.number < $1.attribute.number }.map {
            "\($0.attribute.number) \(ValueKey($0.before)) \(ValueKey($0.after))"
        }
        parts += relationships.sorted { $0.relationship.number < $1.relationship.number }.map {
            "\($0.relationship.number) -\($0.removed.map(\.serial)) +\($0.added.map(\.serial))"
                + ($0.isMoved ? " moved \($0.before.map(\.serial)) \($0.after.map(\.serial))" : "")
        }
        return parts.joined(separator: "; ")
    }
}

/// The expected changes to one object: the differences between its states in two reference graphs.
private struct ReferenceChange {
    let id: ObjectID
    let old: ReferenceGraph
    let new: ReferenceGraph

    init(_ id: ObjectID, _ old: ReferenceGraph, _ new: ReferenceGraph) {
        (self.id, self.old, self.new) = (id, old, new)
    }

    /// The difference in one line, empty if the object is equal in both reference graphs.
    var line: String {
        let isCommon = old.contains(id) && new.contains(id)
        let changesStub = isCommon && old.isStub(id) != new.isStub(id)
        let properties = attributes + relationships
        if isCommon, properties.isEmpty, !changesStub { return "" }
        let kind = isCommon ? "changed" : new.contains(id) ? "inserted" : "deleted"
        return ([kind + (changesStub ? " stub" : "")] + properties).joined(separator: "; ")
    }

    private var attributes: [String] {
        let all = (old.entity(of: id)?.attributes ?? []) + (new.entity(of: id)?.attributes ?? [])
        return Set(all.map(\.number)).sorted().compactMap { number in
            let (oldAttribute, newAttribute) = (old.entity(of: id)?.attribute(number), new.entity(of: id)?.attribute(number))
            let was = oldAttribute.flatMap { old.value(of: $0, of: id) } ?? .null
            let now = newAttribute.flatMap { new.value(of: $0, of: id) } ?? .null
            let isSame =
                ValueKey(was) == ValueKey(now) || newAttribute.map { isEquivalent(was, now, $0.type) } ?? false
                || oldAttribute.map { isEquivalent(now, was, $0.type) } ?? false
            return isSame ? nil : "\(number) \(ValueKey(was)) \(ValueKey(now))"
        }
    }

    /// Returns whether a value converts to another one of a type, and nothing is lost.
    private func isEquivalent(_ value: Value, _ other: Value, _ type: AttributeType) -> Bool {
        ValueKey(ReferenceGraph.converted(value, to: type)) == ValueKey(other) && ReferenceGraph.isExact(value, other)
    }

    private var relationships: [String] {
        let all = (old.entity(of: id)?.relationships ?? []) + (new.entity(of: id)?.relationships ?? [])
        return Set(all.map(\.number)).sorted().compactMap { number in
            let was = old.entity(of: id)?.relationship(number).map { old.members($0, of: id) } ?? []
            let now = new.entity(of: id)?.relationship(number).map { new.members($0, of: id) } ?? []
            if was == now { return nil }
            let removed = Set(was).subtracting(now).sorted().map(\.serial)
            let added = Set(now).subtracting(was).sorted().map(\.serial)
            let isMoved = removed.isEmpty && added.isEmpty
            return "\(number) -\(removed) +\(added)" + (isMoved ? " moved \(was.map(\.serial)) \(now.map(\.serial))" : "")
        }
    }
}
