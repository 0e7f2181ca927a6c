/// The entities that a new schema moves to another hierarchy, and the properties that their objects keep. The id of an object contains the
/// number of its root entity, so these objects need new ids. A migration whose caller allows new ids inserts them again.
package struct SchemaMoves: Sendable {
    /// An entity of the old schema whose objects are inserted again, or whose objects have links to such objects.
    package struct Holder: Sendable {
        package let before: Entity
        package let after: Entity
        /// Whether the objects get new ids.
        package let isMoved: Bool
        /// The attributes that a moved object keeps. Empty for an object that does not move.
        package fileprivate(set) var attributes: [(before: Attribute, after: Attribute)] = []
        /// The relationships whose members are linked again.
        package fileprivate(set) var relationships: [Relinked] = []
    }

    /// A relationship whose members are linked again.
    package struct Relinked: Sendable {
        package let before: Relationship
        package let after: Relationship
        /// Whether the new schema keeps the links between objects that do not move.
        package let isKept: Bool
    }

    /// The holders by the number of their old entity.
    package private(set) var holders: [EntityNumber: Holder] = [:]
    /// The old relationships whose members are linked again.
    private var relinked: Set<SchemaChange.Subject> = []

    /// - Parameter after: The new schema, with its numbers.
    init(_ matcher: SchemaMatcher, _ after: Schema) {
        for (name, replaced) in matcher.replacedEntities {
            guard let old = matcher.old.entity(replaced.old), let new = after.entity(name) else { continue }
            addMoved(Holder(before: old, after: new, isMoved: true))
        }
        if holders.isEmpty { return }
        let moved = Set(holders.keys)
        for (name, oldName) in matcher.entities {
            guard let old = matcher.old.entity(oldName), let new = after.entity(name) else { continue }
            var holder = Holder(before: old, after: new, isMoved: false)
            holder.relationships = new.relationships.compactMap { relationship in
                guard let declaring = after.entity(relationship.entity)?.name else { return nil }
                let key = SchemaMatcher.Key(entity: declaring, property: relationship.name)
                let kept = matcher.properties[key]
                guard let before = (kept ?? matcher.replaced[key]?.old).flatMap({ old.relationship($0.property) }),
                    matcher.old.entity(before.destination).map({ !$0.family.isDisjoint(with: moved) }) == true
                else { return nil }
                return Relinked(before: before, after: relationship, isKept: kept != nil)
            }
            if !holder.relationships.isEmpty { add(holder) }
        }
    }

    private mutating func addMoved(_ holder: Holder) {
        var holder = holder
        let names = NameMatch(old: Self.names(holder.before), new: Self.names(holder.after)).oldNames
        for attribute in holder.after.attributes where !attribute.isDerived {
            if let before = names[attribute.name].flatMap({ holder.before.attribute($0) }) { holder.attributes.append((before, attribute)) }
        }
        for relationship in holder.after.relationships {
            guard let before = names[relationship.name].flatMap({ holder.before.relationship($0) }) else { continue }
            holder.relationships.append(Relinked(before: before, after: relationship, isKept: false))
        }
        add(holder)
    }

    private mutating func add(_ holder: Holder) {
        holders[holder.before.number] = holder
        for link in holder.relationships { relinked.insert(.init(link.before.entity.rawValue, link.before.number.rawValue)) }
    }

    private static func names(_ entity: Entity) -> [NameMatch.Name] {
        entity.attributes.map { NameMatch.Name(name: $0.name, formerName: $0.formerName) }
            + entity.relationships.map { NameMatch.Name(name: $0.name, formerName: $0.formerName, isRelationship: true) }
    }

    package var isEmpty: Bool { holders.isEmpty }

    /// Returns whether new ids make a change possible without a closure: the change moves an entity, or replaces a relationship whose
    /// members are linked again.
    package func carries(_ change: SchemaChange) -> Bool {
        guard change.kind == .replaced, let subject = change.old else { return false }
        return subject.property == nil ? holders[subject.entity]?.isMoved == true : relinked.contains(subject)
    }

    /// Returns whether the members of an old relationship are linked again, by the relationship or by its inverse.
    package func relinks(_ relationship: Relationship, in schema: Schema) -> Bool {
        let inverse = relationship.inverse.flatMap { schema.relationship($0, ofRoot: relationship.destinationRoot) }
        return [relationship, inverse].contains { end in
            end.map { relinked.contains(.init($0.entity.rawValue, $0.number.rawValue)) } == true
        }
    }
}
