import CambiumGraph
import CambiumModel

/// Counts the objects and values that each change of a migration affects, in the graph before the migration.
struct MigrationCount {
    let migration: SchemaMigration
    let graph: Graph

    private var old: Schema { migration.before }
    private var new: Schema { migration.after }

    func entries(hasProgram: Bool) -> [MigrationReport.Entry] {
        migration.changes.map { change in
            let (objects, lost) = change.property == nil ? entityCounts(change) : propertyCounts(change)
            let handling: MigrationReport.Handling = change.isAutomatic ? .automatic : hasProgram ? .program : .refused
            return MigrationReport.Entry(change: change, handling: handling, objectCount: objects, lostCount: lost)
        }
    }

    private func entityCounts(_ change: SchemaChange) -> (Int, Int) {
        guard let entity = change.old.flatMap({ old.entity($0.entity) }) else { return (0, 0) }
        switch (change.kind, change.aspect) {
        case (.removed, _), (.replaced, _): return (0, graph.exactCount(of: entity))
        case (.changed, "parent"), (.changed, "identity"), (.changed, "unique"): return (graph.count(of: entity), 0)
        default: return (0, 0)
        }
    }

    private func propertyCounts(_ change: SchemaChange) -> (Int, Int) {
        if let subject = change.old, let number = subject.property, let entity = old.entity(subject.entity) {
            if let attribute = entity.attribute(number) { return counts(change, attribute) }
            if let relationship = entity.relationship(number) { return counts(change, relationship) }
        }
        // If an attribute is added to existing entities, the objects of these entities get the attribute's default.
        guard let subject = change.new, let number = subject.property, let entity = new.entity(subject.entity),
            let attribute = entity.attribute(number), !attribute.defaultValue.isNull
        else { return (0, 0) }
        return (graph.fullCount(of: entity.root, in: entity.family), 0)
    }

    private func counts(_ change: SchemaChange, _ attribute: Attribute) -> (Int, Int) {
        let family = Set(
            old.entities.filter { $0.root == attribute.root && $0.attribute(attribute.number) != nil }.map(\.number))
        let staying = family.filter { new.entity($0) != nil }
        let after = new.entities.filter { $0.root == attribute.root && $0.attribute(attribute.number) != nil }
        switch (change.kind, change.aspect) {
        case (.removed, _), (.replaced, _): return (0, graph.valueCount(of: attribute, in: staying).present)
        case (.moved, _):
            let losing = staying.subtracting(after.map(\.number))
            let gaining = Set(after.map(\.number)).subtracting(family)
            let isFilled = after.first?.attribute(attribute.number)?.defaultValue.isNull == false
            let filled = isFilled ? graph.fullCount(of: attribute.root, in: gaining) : 0
            return (filled, graph.valueCount(of: attribute, in: losing).present)
        case (.changed, "type"): return (graph.valueCount(of: attribute, in: staying).present, 0)
        case (.changed, "optional") where attribute.isOptional:
            let isFilled = after.first?.attribute(attribute.number)?.defaultValue.isNull == false
            return (isFilled ? graph.valueCount(of: attribute, in: staying).missing : 0, 0)
        default: return (0, 0)
        }
    }

    private func counts(_ change: SchemaChange, _ relationship: Relationship) -> (Int, Int) {
        let owners = old.entities.filter { $0.root == relationship.root && $0.relationship(relationship.number) != nil }
        let staying = Set(owners.map(\.number)).filter { new.entity($0) != nil }
        let after = Set(
            new.entities.filter { $0.root == relationship.root && $0.relationship(relationship.number) != nil }.map(\.number))
        switch (change.kind, change.aspect) {
        case (.removed, _):
            // If the new schema still has the inverse relationship, it keeps the links, so no link is lost.
            let link = old.links[relationship.link]
            let other = relationship.end == 0 ? link.second : link.first
            let isKept = new.entities.contains { entity in
                entity.root == other.root && other.property.flatMap { entity.relationship($0) } != nil
            }
            return (0, isKept ? 0 : graph.memberCount(of: relationship, in: staying))
        case (.replaced, _): return (0, graph.memberCount(of: relationship, in: staying))
        case (.moved, _): return (0, graph.memberCount(of: relationship, in: staying.subtracting(after)))
        case (.changed, "many"), (.changed, "ordered"): return (graph.memberCount(of: relationship, in: staying), 0)
        default: return (0, 0)
        }
    }
}
