import CambiumGraph
import CambiumModel

/// Counts the objects and values that each change of a migration affects, in the graph before the migration.
struct MigrationCount {
    private let migration: SchemaMigration
    private let graph: Graph
    /// Whether the objects of entities that move to another hierarchy get new ids.
    private let renewsIDs: Bool
    /// The attributes whose definition changes from optional to mandatory, or from mandatory to optional.
    private let changedPresence: Set<SchemaChange.Subject>
    /// The old numbers of the entities that get another parent.
    private let reparented: Set<EntityNumber>
    /// The properties that new properties replace, by the old entity that declares them.
    private var replaced: [EntityNumber: Set<PropertyNumber>] = [:]
    private let succession: SchemaSuccession
    /// The moves that count the losses of an old property. Several new attributes may take its values, but its losses count once.
    private var losing: [SchemaChange.Subject: SchemaChange.Subject] = [:]
    /// The moves that count the defaults of a new attribute. It may take values of several old attributes, but its defaults count once.
    private var filling: [SchemaChange.Subject: SchemaChange.Subject] = [:]

    /// A number of objects, values or members: a known number, plus counts that are determined later, together with those of all other
    /// changes.
    private struct Number {
        static let zero = Number(known: 0)

        var known = 0
        var uncounted: [AffectedCount] = []

        static func counting(_ subject: AffectedCount.Subject, in entities: Set<EntityNumber>) -> Number {
            Number(uncounted: [AffectedCount(subject, in: entities)])
        }

        /// Returns the sum of the known number and of the counts for `uncounted`. These counts are the first elements of `counts`, and are
        /// removed from it.
        func sum(_ counts: inout ArraySlice<Int>) -> Int {
            defer { counts.removeFirst(uncounted.count) }
            return counts.prefix(uncounted.count).reduce(known, +)
        }
    }

    init(_ migration: SchemaMigration, _ graph: Graph, _ movedIDs: MovedObjectIDs) {
        self.migration = migration
        self.graph = graph
        renewsIDs = movedIDs == .renewed
        changedPresence = Set(migration.changes.filter { $0.aspect == "optional" }.compactMap(\.new))
        reparented = Set(migration.changes.filter { $0.aspect == "parent" }.compactMap { $0.old?.entity })
        for change in migration.changes where change.kind == .replaced {
            if let subject = change.old, let number = subject.property { replaced[subject.entity, default: []].insert(number) }
        }
        succession = SchemaSuccession(migration.before, migration.after)
        for change in migration.changes where change.kind == .moved {
            guard let before = change.old, let after = change.new else { continue }
            let isSame = before.property == after.property
            if isSame || losing[before] == nil { losing[before] = after }
            if isSame || filling[after] == nil { filling[after] = before }
        }
    }

    private var old: Schema { migration.before }
    private var new: Schema { migration.after }

    func entries(hasProgram: Bool) -> [MigrationReport.Entry] {
        let numbers = migration.changes.map { $0.property == nil ? entityCounts($0) : propertyCounts($0) }
        // All changes are counted together, so each hierarchy is read only once.
        let held = migration.changes.map { $0.isAutomatic || isCarried($0) ? .zero : heldCount($0) }
        var counts = graph.counts(of: numbers.flatMap { $0.objects.uncounted + $0.lost.uncounted } + held.flatMap(\.uncounted))[...]
        let sums = numbers.map { ($0.objects.sum(&counts), $0.lost.sum(&counts)) }
        return zip(migration.changes, zip(sums, held)).map { change, numbers in
            let ((objects, lost), isEmpty) = (numbers.0, numbers.1.sum(&counts) == 0)
            let handling: MigrationReport.Handling =
                change.isAutomatic || isCarried(change) ? .automatic : hasProgram ? .program : isEmpty ? .automatic : .refused
            return MigrationReport.Entry(
                change: change, handling: handling, objectCount: objects, lostCount: lost, lostKind: lostKind(change))
        }
    }

    /// Returns whether the migration inserts or links the objects of a change again.
    private func isCarried(_ change: SchemaChange) -> Bool { renewsIDs && migration.moves.carries(change) }

    /// Returns the values and members that objects lose although the objects get new ids: those of properties that the new schema lacks.
    private func moveLosses(of entity: Entity) -> [AffectedCount] {
        guard let holder = migration.moves.holders[entity.number] else { return [] }
        let kept = Set(holder.attributes.map(\.before.number))
        let attributes = entity.attributes.filter { !$0.isDerived && !kept.contains($0.number) }
        let relationships = entity.relationships.filter { !migration.moves.relinks($0, in: old) }
        return attributes.map { AffectedCount(.present($0), in: [entity.number]) }
            + relationships.map { AffectedCount(.members($0), in: [entity.number]) }
    }

    /// Returns the number of objects, values or members that a new entity or property would have to get from the old one that it replaces.
    /// If there are none, the replacement loses nothing. Several properties of the hierarchy may match the new property, so all properties
    /// with its old or new name count.
    private func heldCount(_ change: SchemaChange) -> Number {
        guard let subject = change.old, let entity = old.entity(subject.entity) else { return .zero }
        guard let name = change.property else { return Number(known: graph.exactCount(of: entity)) }
        let replacedName = subject.property.flatMap { entity.attribute($0)?.name ?? entity.relationship($0)?.name }
        var held: [AffectedCount] = []
        for number in old.entity(entity.root)?.family ?? [] {
            guard let holder = old.entity(number) else { continue }
            for attribute in holder.attributes where attribute.entity == number && [name, replacedName].contains(attribute.name) {
                held.append(AffectedCount(.present(attribute), in: holder.family))
            }
            for relationship in holder.relationships where relationship.entity == number {
                guard [name, replacedName].contains(relationship.name) else { continue }
                held.append(AffectedCount(.members(relationship), in: holder.family))
            }
        }
        return Number(uncounted: held)
    }

    private func lostKind(_ change: SchemaChange) -> MigrationReport.Entry.LostKind {
        guard change.property != nil else { return change.aspect == "parent" || isCarried(change) ? .valuesAndLinks : .objects }
        if let subject = change.old, let number = subject.property {
            return old.entity(subject.entity)?.relationship(number) == nil ? .values : .links
        }
        guard let subject = change.new, let number = subject.property else { return .values }
        return new.entity(subject.entity)?.relationship(number) == nil ? .values : .links
    }

    private func entityCounts(_ change: SchemaChange) -> (objects: Number, lost: Number) {
        guard let entity = change.old.flatMap({ old.entity($0.entity) }) else { return (.zero, .zero) }
        switch (change.kind, change.aspect) {
        case (.replaced, _) where isCarried(change):
            return (Number(known: graph.exactCount(of: entity)), Number(uncounted: moveLosses(of: entity)))
        case (.removed, _), (.replaced, _): return (.zero, Number(known: graph.exactCount(of: entity)))
        case (.changed, "parent"): return (Number(known: graph.count(of: entity)), Number(uncounted: inheritedLosses(of: entity)))
        case (.changed, "identity"), (.changed, "unique"): return (Number(known: graph.count(of: entity)), .zero)
        default: return (.zero, .zero)
        }
    }

    /// Returns the values and members that objects lose because an entity gets another parent.
    ///
    /// Properties that are removed, replaced or moved, and descendants that also get another parent, have separate entries in the report.
    /// Their losses do not count here. A property that is removed together with its entity has no entry, so its loss counts here.
    private func inheritedLosses(of entity: Entity) -> [AffectedCount] {
        var family = staying(entity)
        for number in entity.family where number != entity.number && reparented.contains(number) {
            family.subtract(old.entity(number)?.family ?? [])
        }
        var losses: [AffectedCount] = []
        for attribute in entity.attributes where attribute.entity != entity.number {
            let holder = new.attribute(attribute.number, ofRoot: entity.root)?.entity
            if isCounted(attribute.number, of: attribute.entity, now: holder) { continue }
            let losing = family.filter { !succession.keeps(attribute, of: $0) }
            losses.append(AffectedCount(.present(attribute), in: losing))
        }
        for relationship in entity.relationships where relationship.entity != entity.number {
            let holder = new.relationship(relationship.number, ofRoot: entity.root)?.entity
            if isCounted(relationship.number, of: relationship.entity, now: holder) || holder == nil && isKeptByInverse(relationship) {
                continue
            }
            let losing = family.filter { !keeps(relationship, of: $0) }
            losses.append(AffectedCount(.members(relationship), in: losing))
        }
        return losses
    }

    /// Returns whether the report has another entry, for the property itself, that already counts its lost values or members.
    ///
    /// - Parameters:
    ///   - before: The old entity that declares the property.
    ///   - after: The new entity that declares the property, or `nil` if the new schema does not have the property.
    private func isCounted(_ property: PropertyNumber, of before: EntityNumber, now after: EntityNumber?) -> Bool {
        if let after { return after != before }
        return new.entity(before) != nil || replaced[before]?.contains(property) == true
    }

    /// Returns whether the new schema still has the inverse of a relationship. If it does, the inverse keeps the links.
    private func isKeptByInverse(_ relationship: Relationship) -> Bool {
        let link = old.links[relationship.link]
        let other = relationship.end == 0 ? link.second : link.first
        return other.property.flatMap { new.relationship($0, ofRoot: other.root) } != nil
    }

    private func propertyCounts(_ change: SchemaChange) -> (objects: Number, lost: Number) {
        if isCarried(change) { return (.zero, .zero) }
        if let subject = change.old, let number = subject.property, let entity = old.entity(subject.entity) {
            if let attribute = entity.attribute(number) { return counts(change, attribute) }
            if let relationship = entity.relationship(number) { return counts(change, relationship) }
        }
        guard let subject = change.new, let number = subject.property, let entity = new.entity(subject.entity) else {
            return (.zero, .zero)
        }
        // If an attribute is added to existing entities, the objects of these entities get the attribute's default.
        if let attribute = entity.attribute(number) { return (defaults(attribute), .zero) }
        return (.zero, entity.relationship(number).map(lostInverses) ?? .zero)
    }

    /// Returns the number of objects that get the default of an attribute, because they have no value for it.
    private func defaults(_ attribute: Attribute) -> Number {
        if attribute.defaultValue.isNull { return .zero }
        let entities = (new.entity(attribute.entity)?.family ?? []).compactMap { number -> EntityNumber? in
            guard let entity = new.entity(number), succession.source(of: attribute, in: entity) == nil else { return nil }
            return succession.entity(before: number)?.number
        }
        return .counting(.full(attribute.root), in: Set(entities))
    }

    /// Returns the number of links that are lost because a new to-one relationship is the inverse of a relationship that had no inverse.
    private func lostInverses(_ relationship: Relationship) -> Number {
        guard !relationship.isToMany, let number = relationship.inverse,
            let before = old.relationship(number, ofRoot: relationship.destinationRoot), before.inverse == nil,
            let entity = old.entity(before.destinationRoot)
        else { return .zero }
        return .counting(.inverseSurplus(before), in: staying(entity))
    }

    /// Returns the entities of a family, in the old schema, whose objects remain.
    private func staying(_ entity: Entity?) -> Set<EntityNumber> { entity?.family.filter { succession.entity(after: $0) != nil } ?? [] }

    private func keeps(_ relationship: Relationship, of entity: EntityNumber) -> Bool {
        succession.entity(after: entity)?.relationship(relationship.number) != nil
    }

    private func counts(_ change: SchemaChange, _ attribute: Attribute) -> (objects: Number, lost: Number) {
        // Only the entities that have or had the attribute are examined, because the schema may have many more entities.
        let staying = staying(old.entity(attribute.entity))
        let now = change.new.flatMap { subject in subject.property.flatMap { new.entity(subject.entity)?.attribute($0) } }
        // An attribute that changes may also move to another entity. Objects that lose the attribute by the move count as losses of the
        // move, and not as changed.
        let keeping = staying.filter { entity in
            guard let now, let after = succession.entity(after: entity), after.attribute(now.number) === now else { return false }
            return succession.source(of: now, in: after) === attribute
        }
        switch (change.kind, change.aspect) {
        case (.removed, _), (.replaced, _): return (.zero, .counting(.present(attribute), in: staying))
        case (.moved, _):
            let isFilled = change.new.map { filling[$0] == change.old } ?? false
            let isLost = change.old.map { losing[$0] == change.new } ?? false
            let losers: Set<EntityNumber> = isLost ? staying.filter { !succession.keeps(attribute, of: $0) } : []
            return (isFilled ? now.map(defaults) ?? .zero : .zero, .counting(.present(attribute), in: losers))
        case (.changed, "type"): return (.counting(.present(attribute), in: keeping), .zero)
        case (.changed, "optional") where attribute.isOptional: return (filled(attribute, keeping, now), .zero)
        case (.changed, "derived") where attribute.isOptional:
            // A derived attribute can be optional although its definition is mandatory. In that case, no other entry of the report states
            // that the attribute becomes mandatory, so its nulls are counted here.
            let isCounted = change.new.map(changedPresence.contains) ?? true
            return (isCounted ? .zero : filled(attribute, keeping, now), .zero)
        default: return (.zero, .zero)
        }
    }

    /// Returns the number of nulls that the default replaces because an attribute becomes mandatory.
    private func filled(_ attribute: Attribute, _ keeping: Set<EntityNumber>, _ now: Attribute?) -> Number {
        guard let now, !now.isOptional, !now.defaultValue.isNull else { return .zero }
        return .counting(.missing(attribute), in: keeping)
    }

    private func counts(_ change: SchemaChange, _ relationship: Relationship) -> (objects: Number, lost: Number) {
        let staying = staying(old.entity(relationship.entity))
        let keeping = staying.filter { keeps(relationship, of: $0) }
        switch (change.kind, change.aspect) {
        case (.removed, _), (.replaced, _):
            return (.zero, isKeptByInverse(relationship) ? .zero : .counting(.members(relationship), in: staying))
        case (.moved, _): return (.zero, .counting(.members(relationship), in: staying.subtracting(keeping)))
        case (.changed, "many"):
            let isNarrowed = new.relationship(relationship.number, ofRoot: relationship.root)?.isToMany == false
            if !isNarrowed { return (.counting(.members(relationship), in: keeping), .zero) }
            return (.counting(.owners(relationship), in: keeping), .counting(.surplus(relationship), in: keeping))
        case (.changed, "ordered"): return (.counting(.members(relationship), in: keeping), .zero)
        default: return (.zero, .zero)
        }
    }
}
