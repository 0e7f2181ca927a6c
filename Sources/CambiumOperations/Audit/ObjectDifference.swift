package import CambiumGraph
package import CambiumModel

/// One object that differs between two graphs, property by property. `diff`, `changes` and `history` show this form.
package struct ObjectDifference: Sendable {
    /// The values of an attribute at both moments.
    package struct AttributeDifference: Sendable, Equatable {
        package let number: PropertyNumber
        package let name: String
        package var before: Value
        package var after: Value
    }

    package let id: ObjectID
    package let kind: ObjectChange.Kind
    /// Whether the object is a stub at only one of the moments.
    package let changesStub: Bool
    /// The values of each attribute at both moments. A migration may have replaced an attribute with another attribute of the same name. If
    /// both have the same value, the attribute is omitted.
    package let attributes: [AttributeDifference]
    /// The changes to each relationship. A migration may have replaced a relationship with another relationship of the same name. If both
    /// have the same members, the relationship is omitted. A relationship that has only lost its order is omitted, too.
    package let relationships: [MemberDifference]

    /// - Parameter after: The graph of the later moment.
    package init(_ change: ObjectChange, after: Graph) {
        (id, kind, changesStub) = (change.id, change.kind, change.changesStub)
        attributes = Self.attributes(change, after)
        relationships = Self.relationships(change, after)
    }

    /// Whether the object has no difference to show. Such an object is listed because a migration has replaced some of its properties with
    /// other properties that have the same names, values and members.
    package var isUnchanged: Bool { kind == .changed && !changesStub && attributes.isEmpty && relationships.isEmpty }

    private static func attributes(_ change: ObjectChange, _ after: Graph) -> [AttributeDifference] {
        let entity = change.entity
        var values: [AttributeDifference] = []
        var places: [String: Int] = [:]
        var replaced: Set<String> = []
        for attribute in change.attributes {
            let name = attribute.attribute.name
            if let place = places[name] {
                // If a migration replaced an attribute, the changes list the new attribute first. The old attribute of the same name
                // follows, with the earlier value.
                values[place].before = attribute.before
                replaced.insert(name)
                continue
            }
            var later = attribute.after
            if entity.attribute(attribute.attribute.number) == nil, let other = entity.attribute(name) {
                // The changes omit the new attribute if a migration gave it this name and its value is unchanged.
                later = after.value(of: other, of: change.id) ?? .null
                replaced.insert(name)
            }
            places[name] = values.count
            values.append(
                AttributeDifference(number: attribute.attribute.number, name: name, before: attribute.before, after: later))
        }
        return values.filter { !replaced.contains($0.name) || $0.before != $0.after }
    }

    private static func relationships(_ change: ObjectChange, _ after: Graph) -> [MemberDifference] {
        let entity = change.entity
        var members: [MemberDifference] = []
        for links in change.relationships {
            let name = links.relationship.name
            if entity.relationship(links.relationship.number) == nil, let other = entity.relationship(name) {
                // The changes list the new relationship first. They omit the new relationship if a migration gave it this name and its
                // members are unchanged.
                let later = after.members(other, of: change.id) ?? []
                let all = MemberDifference(other, from: links.before, to: later)
                if let place = members.firstIndex(where: { $0.name == name }) { members[place] = all } else { members.append(all) }
            } else {
                members.append(MemberDifference(links, change.kind))
            }
        }
        return members.filter { !$0.isUnchanged }
    }
}

/// The members that a relationship of an object has at only one of two moments, or the order of its members at both moments.
package struct MemberDifference: Sendable, Equatable {
    /// The order of the same members at both moments.
    package struct Order: Sendable, Equatable {
        package let before: [ObjectID]
        package let after: [ObjectID]
    }

    package let number: PropertyNumber
    package let name: String
    package let removed: [ObjectID]
    package let added: [ObjectID]
    /// The members at both moments, if only their order differs.
    package let moved: Order?

    /// Creates the change to a relationship that no other relationship has replaced. If only one of the moments has the object, all members
    /// are listed: in stored order if the relationship is ordered, otherwise in ascending order.
    init(_ change: RelationshipChange, _ kind: ObjectChange.Kind) {
        (number, name) = (change.relationship.number, change.relationship.name)
        switch kind {
        case .inserted: (removed, added) = ([], change.after)
        case .deleted: (removed, added) = (change.before, [])
        case .changed: (removed, added) = (change.removed, change.added)
        }
        // If a migration has made a relationship unordered, its members have lost their order.
        moved = change.isMoved && change.relationship.isOrdered ? Order(before: change.before, after: change.after) : nil
    }

    /// Creates the change from the members of a relationship to the members of its replacement, which has the same name.
    init(_ relationship: Relationship, from before: [ObjectID], to after: [ObjectID]) {
        (number, name) = (relationship.number, relationship.name)
        let (old, new) = (Set(before), Set(after))
        removed = before.filter { !new.contains($0) }.sorted()
        added = after.filter { !old.contains($0) }.sorted()
        moved = relationship.isOrdered && old == new && before != after ? Order(before: before, after: after) : nil
    }

    var isUnchanged: Bool { removed.isEmpty && added.isEmpty && moved == nil }
}
