/// The entities and attributes of a new schema, each with the old entity or attribute whose objects or values it takes. The succession
/// follows only from the two schemas, so a replay of a log finds the same one.
///
/// An entity or attribute takes those of the same number, with two exceptions:
/// - If the new schema has a parent above an old root, the parent has the number of the old root, because the ids of the objects contain
///   it. The old root has a new number. Its objects become objects of this number.
/// - If an object gets an attribute and loses another attribute of the same name, the new attribute takes the value of the old one. This
///   happens when siblings give an attribute to their parent.
package struct SchemaSuccession: Sendable {
    package let old: Schema
    package let new: Schema
    /// For each old root above which the new schema has a parent, the number that this entity has in the new schema.
    private var promoted: [EntityNumber: EntityNumber] = [:]
    private var demoted: [EntityNumber: EntityNumber] = [:]

    package init(_ old: Schema, _ new: Schema) {
        self.old = old
        self.new = new
        for root in old.roots {
            guard let found = new.successor(of: root), found.number != root.number, old.entity(found.number) == nil else { continue }
            promoted[root.number] = found.number
            demoted[found.number] = root.number
        }
    }

    /// The old entities whose objects get an entity of another number, with this number.
    package var renumbered: [EntityNumber: EntityNumber] { promoted }

    /// Returns the entity that the objects of an old entity get, or `nil` if the new schema lacks it.
    package func entity(after number: EntityNumber) -> Entity? {
        guard let before = old.entity(number), let found = new.entity(promoted[number] ?? number) else { return nil }
        return found.root == before.root ? found : nil
    }

    /// Returns the old entity whose objects get an entity of the new schema, or `nil` if no objects get it.
    package func entity(before number: EntityNumber) -> Entity? {
        if promoted[number] != nil { return nil }
        guard let after = new.entity(number), let found = old.entity(demoted[number] ?? number) else { return nil }
        return found.root == after.root ? found : nil
    }

    /// Returns the attribute from which objects of an entity take the values of a new attribute, or `nil` if they get the default.
    ///
    /// - Parameter entity: An entity of the new schema that has the attribute.
    package func source(of attribute: Attribute, in entity: Entity) -> Attribute? {
        guard let before = self.entity(before: entity.number) else { return nil }
        if let same = before.attribute(attribute.number) { return same }
        if attribute.isDerived { return nil }
        for name in [attribute.formerName, attribute.name] {
            guard let found = name.flatMap({ before.attribute($0) }), !found.isDerived, entity.attribute(found.number) == nil,
                found.type.converts(to: attribute.type)
            else { continue }
            return found
        }
        return nil
    }

    /// Returns whether objects of an old entity keep the values of an attribute.
    package func keeps(_ attribute: Attribute, of entity: EntityNumber) -> Bool {
        guard let after = self.entity(after: entity) else { return false }
        return after.attribute(attribute.number) != nil || after.attributes.contains { source(of: $0, in: after) === attribute }
    }
}

extension Schema {
    /// Returns the entity that corresponds to an entity of an earlier schema of the same store, or `nil` if a migration removed it. If this
    /// schema has a parent above an earlier root, the parent has the number of the root. In this case, the entity with the name of the
    /// root is returned.
    package func successor(of entity: Entity) -> Entity? {
        guard let found = self.entity(entity.number), found.root == entity.root else { return nil }
        if found === entity || entity.number != entity.root || found.name == entity.name { return found }
        let isRenamed = found.formerName.map { $0 == entity.name || $0 == entity.formerName } ?? false
        if isRenamed { return found }
        let below = entities.filter { $0.root == found.number && $0.number != found.number }
        return below.first { $0.name == entity.name } ?? below.first { $0.formerName == entity.name } ?? found
    }
}
