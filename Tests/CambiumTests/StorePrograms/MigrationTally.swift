import Cambium
import CambiumModel
import CambiumTesting

/// The losses and the defaults of a migration. A run counts them object by object, and compares them with the report of the migration.
struct MigrationTally: Equatable {
    /// The number of objects of removed entities.
    private(set) var objectCount = 0
    /// The number of values and members that the other objects lose.
    private(set) var lostCount = 0
    /// The number of objects that get the default of an attribute that was added, has moved or has become mandatory.
    private(set) var filledCount = 0

    init(_ report: MigrationReport) {
        for entry in report.entries {
            if entry.lostKind == .objects { objectCount += entry.lostCount } else { lostCount += entry.lostCount }
            guard entry.change.property != nil else { continue }
            let isFilled = [.added, .moved].contains(entry.change.kind) || ["optional", "derived"].contains(entry.change.aspect)
            if isFilled { filledCount += entry.objectCount }
        }
    }

    /// - Parameter graph: The objects before the migration.
    init(_ migration: SchemaMigration, of graph: ReferenceGraph) {
        let replacing = migration.changes.filter { $0.kind == .replaced }.compactMap(\.new)
        let succession = SchemaSuccession(migration.before, migration.after)
        for id in graph.ids {
            guard let before = graph.entity(of: id), let after = succession.entity(after: before.number) else {
                objectCount += 1
                continue
            }
            for attribute in before.attributes where !succession.keeps(attribute, of: before.number) {
                if graph.value(of: attribute, of: id)?.isNull == false { lostCount += 1 }
            }
            for relationship in before.relationships {
                let count = graph.members(relationship, of: id).count
                if let now = after.relationship(relationship.number) {
                    if relationship.isToMany, !now.isToMany { lostCount += max(0, count - 1) }
                } else if !Self.isKept(relationship, migration) {
                    lostCount += count
                }
            }
            lostCount += Self.lostInverseCount(id, after, migration, graph)
            if graph.isStub(id) { continue }
            for attribute in after.attributes where !attribute.defaultValue.isNull {
                if let old = succession.source(of: attribute, in: after) {
                    let isNull = graph.value(of: old, of: id)?.isNull ?? true
                    if old.isOptional, !attribute.isOptional, isNull { filledCount += 1 }
                } else if !replacing.contains(where: { $0.entity == attribute.entity && $0.property == attribute.number }) {
                    if Self.isReported(attribute, migration) { filledCount += 1 }
                }
            }
        }
    }

    /// Returns the number of objects that lead to an object, beyond the first one, in relationships that get a to-one inverse.
    private static func lostInverseCount(
        _ id: ObjectID, _ after: Entity, _ migration: SchemaMigration, _ graph: ReferenceGraph
    ) -> Int {
        let added = after.relationships.filter {
            !$0.isToMany && migration.before.relationship($0.number, ofRoot: $0.root) == nil && migration.before.entity($0.entity) != nil
        }
        return added.reduce(0) { sum, relationship in
            let old = relationship.inverse.flatMap { migration.before.relationship($0, ofRoot: relationship.destinationRoot) }
            guard let old, old.inverse == nil else { return sum }
            let owners = graph.ids.filter { owner in
                graph.entity(of: owner)?.relationship(old.number) === old && graph.members(old, of: owner).contains(id)
            }
            return sum + max(0, owners.count - 1)
        }
    }

    /// Returns whether the inverse of a relationship that the new schema lacks keeps the links.
    private static func isKept(_ relationship: Relationship, _ migration: SchemaMigration) -> Bool {
        if migration.after.relationship(relationship.number, ofRoot: relationship.root) != nil { return false }
        let link = migration.before.links[relationship.link]
        let other = relationship.end == 0 ? link.second : link.first
        return other.property.flatMap { migration.after.relationship($0, ofRoot: other.root) } != nil
    }

    /// Returns whether a change of the attribute counts the objects that get its default. Objects that inherit the attribute from a new
    /// parent are counted with this parent.
    private static func isReported(_ attribute: Attribute, _ migration: SchemaMigration) -> Bool {
        if let old = migration.before.attribute(attribute.number, ofRoot: attribute.root) { return old.entity != attribute.entity }
        return SchemaSuccession(migration.before, migration.after).entity(before: attribute.entity) != nil
    }
}
