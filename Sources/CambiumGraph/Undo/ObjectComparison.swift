import CambiumModel

/// Compares single objects in two graphs, without values of derived attributes. Compares stored bytes, and reads only what belongs to the
/// objects, however many pages the graphs share.
struct ObjectComparison {
    private let left: Graph
    private let now: Graph
    private var properties: [EntityNumber: Properties] = [:]

    private struct Properties {
        var attributes: [(attribute: Attribute, left: Field, now: Field)] = []
        var relationships: [(relationship: Relationship, left: EndHandle, now: EndHandle)] = []
        /// The relationships without an inverse that lead to the entity, with the ends at its objects.
        var incoming: [(relationship: Relationship, left: EndLayout, now: EndLayout)] = []
    }

    init(_ left: Graph, _ now: Graph) { (self.left, self.now) = (left, now) }

    /// Returns the properties that differ. A relationship without an inverse that leads to the object is a property of another object.
    /// Complexity: O(properties of the object + its members in the left graph + members that differ).
    mutating func differences(_ place: ObjectPlace, _ present: ObjectPlace) -> [UndoConflict.Subject] {
        let known = properties(left.entity(of: place))
        var found: [UndoConflict.Subject] = []
        let id = left.id(of: place)
        for (attribute, field, other) in known.attributes where !isEqual(field, place, other, present) {
            found.append(.attribute(id, attribute))
        }
        for (relationship, end, other) in known.relationships where !hasSameMembers(relationship, end, place, other, present) {
            found.append(.relationship(id, relationship))
        }
        for (relationship, end, other) in known.incoming {
            let (was, isNow) = (owners(relationship, end, place, left), owners(relationship, other, present, now))
            for owner in Set(was).symmetricDifference(isNow).sorted() { found.append(.relationship(owner, relationship)) }
        }
        return found
    }

    private mutating func properties(_ entity: Entity) -> Properties {
        if let known = properties[entity.number] { return known }
        var made = Properties()
        let present = now.schema.entity(entity.number)
        for attribute in entity.attributes where !attribute.isDerived {
            guard let own = present?.attribute(attribute.number), !own.isDerived else { continue }
            made.attributes.append((attribute, left.field(attribute), now.field(own)))
        }
        for relationship in entity.relationships {
            guard let own = present?.relationship(relationship.number) else { continue }
            made.relationships.append((relationship, left.end(relationship), now.end(own)))
        }
        for relationship in left.schema.entities.flatMap(\.relationships) where relationship.inverse == nil {
            guard relationship.destinationRoot == entity.root, made.incoming.allSatisfy({ $0.relationship !== relationship }),
                let own = now.schema.relationship(relationship.number, ofRoot: relationship.root), own.inverse == nil
            else { continue }
            let ends = (left.layout.end(relationship.link, 1 - relationship.end), now.layout.end(own.link, 1 - own.end))
            made.incoming.append((relationship, ends.0, ends.1))
        }
        properties[entity.number] = made
        return made
    }

    private func isEqual(_ field: Field, _ place: ObjectPlace, _ other: Field, _ present: ObjectPlace) -> Bool {
        if field.type == other.type {
            return left.withCell(field, place) { cell in now.withCell(other, present) { cell.equals($0) } }
        }
        let value = left.value(of: field, at: place)
        return (field.type.converted(value, to: other.type) ?? value) == now.value(of: other, at: present)
    }

    private func hasSameMembers(
        _ relationship: Relationship, _ end: EndHandle, _ place: ObjectPlace, _ other: EndHandle, _ present: ObjectPlace
    ) -> Bool {
        let count = left.memberCount(end, of: place)
        if count != now.memberCount(other, of: present) { return false }
        if count == 0 { return true }
        if relationship.isOrdered { return left.memberIDs(end, of: place) == now.memberIDs(other, of: present) }
        return left.members(end, of: place).allSatisfy { member in
            guard let row = now.place(of: left.id(of: member)) else { return false }
            return now.reader.isLinked(other.end, owner: present.row, target: row.row)
        }
    }

    /// Returns the objects whose relationship leads to an object.
    private func owners(_ relationship: Relationship, _ end: EndLayout, _ place: ObjectPlace, _ graph: Graph) -> [ObjectID] {
        if graph.reader.memberCount(end, owner: place.row) == 0 { return [] }
        let rows = graph.reader.rows(graph.layout.tableIndex(ofKnown: relationship.root))
        var found: [ObjectID] = []
        graph.reader.forEachMember(end, owner: place.row) { row in
            found.append(ObjectID(root: relationship.root, serial: rows.serial(row)))
        }
        return found
    }
}
