import CambiumModel

/// The rules of a new schema that objects from before may break. They are looked at when the transaction is.
struct MigrationChecks: Sendable {
    /// For entities by number: what of their objects has to be looked at.
    struct Mandatory: Sendable {
        let attribute: Attribute
        let entities: Set<EntityNumber>
    }

    struct Members: Sendable {
        let relationship: Relationship
        let entities: Set<EntityNumber>
    }

    private(set) var mandatory: [Mandatory] = []
    private(set) var values: [Mandatory] = []
    /// Numbers of members.
    private(set) var counts: [Members] = []
    /// Whether members are of the entity that is wanted.
    private(set) var targets: [Members] = []

    init(from old: Schema, to new: Schema, _ links: [LinkSource]) {
        for entity in new.entities {
            guard let before = old.entity(entity.number), before.root == entity.root else { continue }
            for attribute in entity.attributes { note(attribute, before.attribute(attribute.number), entity) }
            for relationship in entity.relationships {
                note(relationship, before.relationship(relationship.number), entity, links[relationship.link])
            }
        }
        let relationships = new.entities.flatMap { entity in entity.relationships.filter { $0.entity == entity.number } }
        for relationship in relationships where links[relationship.link].old != nil {
            if Self.mayHoldOthers(relationship, old, new) {
                let family = new.entity(relationship.entity)?.family ?? []
                targets.append(Members(relationship: relationship, entities: family))
            }
        }
    }

    private mutating func note(_ attribute: Attribute, _ before: Attribute?, _ entity: Entity) {
        if !attribute.isOptional, attribute.defaultValue.isNull, before?.isOptional ?? true {
            Self.add(attribute, entity, to: &mandatory)
        }
        if let before, !attribute.constraints.isEmpty, !attribute.constraints.says(before.constraints) {
            Self.add(attribute, entity, to: &values)
        }
    }

    private static func add(_ attribute: Attribute, _ entity: Entity, to list: inout [Mandatory]) {
        if let place = list.firstIndex(where: { $0.attribute === attribute }) {
            list[place] = Mandatory(attribute: attribute, entities: list[place].entities.union([entity.number]))
        } else {
            list.append(Mandatory(attribute: attribute, entities: [entity.number]))
        }
    }

    private mutating func note(_ relationship: Relationship, _ before: Relationship?, _ entity: Entity, _ source: LinkSource) {
        // What had no name had no limits either.
        let hasMore = relationship.minCount > (before?.minCount ?? 0)
        let hasLess: Bool =
            if relationship.isToMany, let max = relationship.maxCount {
                before.map { $0.isToMany && $0.maxCount.map { $0 > max } ?? true } ?? (source.old != nil)
            } else { false }
        if hasMore || hasLess { counts.append(Members(relationship: relationship, entities: [entity.number])) }
    }

    /// Whether an object that the relationship does not take may be a member from before.
    private static func mayHoldOthers(_ relationship: Relationship, _ old: Schema, _ new: Schema) -> Bool {
        guard let family = new.entity(relationship.destination)?.family else { return false }
        let others = old.entities.filter { entity in
            new.entity(entity.number)?.root == relationship.destinationRoot && !family.contains(entity.number)
        }
        if others.isEmpty { return false }
        guard let before = old.relationship(relationship.number, ofRoot: relationship.root),
            let oldFamily = old.entity(before.destination)?.family
        else { return true }
        return others.contains { oldFamily.contains($0.number) }
    }
}

extension AttributeConstraints {
    /// Whether two attributes have the same rules for their values.
    fileprivate func says(_ other: AttributeConstraints) -> Bool {
        min == other.min && max == other.max && minLength == other.minLength && maxLength == other.maxLength
            && regex?.pattern == other.regex?.pattern && allowed == other.allowed
    }
}

extension Draft {
    /// More of one kind are not told.
    static let migrationViolationCountMax = 10_000

    /// What the objects from before break of the rules that a migration brought. Complexity: O(objects that a rule concerns).
    func violations(of checks: MigrationChecks) -> [Violation] {
        var found: [Violation] = []
        for check in checks.mandatory { addMissing(check, to: &found) }
        for check in checks.values { addRefused(check, to: &found) }
        for check in checks.counts { addMiscounted(check, to: &found) }
        for check in checks.targets { addMisplaced(check, to: &found) }
        return found
    }

    /// Adds what a rule says about each object of some entities.
    private func addViolations(
        _ root: EntityNumber, _ entities: Set<EntityNumber>, to found: inout [Violation],
        _ rule: (_ table: TableLayout, _ rows: Rows, _ row: UInt32, _ isStub: Bool) -> Violation.Rule?
    ) {
        guard let table = layout.table(of: root) else { return }
        let reader = reader
        let rows = reader.rows(table.index)
        let isWhole = table.entities.allSatisfy(entities.contains)
        var count = 0
        reader.forEachRow(of: table) { row in
            guard count < Self.migrationViolationCountMax, isWhole || entities.contains(rows.entity(row, table)) else { return }
            guard let rule = rule(table, rows, row, rows.isStub(row)) else { return }
            count += 1
            found.append(Violation(object: text(ObjectPlace(table: table.index, row: row)), rule: rule))
        }
    }

    private func addMissing(_ check: MigrationChecks.Mandatory, to found: inout [Violation]) {
        let attribute = check.attribute
        addViolations(attribute.root, check.entities, to: &found) { table, rows, row, isStub in
            let slot = table.slot(of: attribute.number)
            return !isStub && rows.isNull(row, slot, table.columns[slot]) ? .mandatoryAttribute(attribute.name) : nil
        }
    }

    private func addRefused(_ check: MigrationChecks.Mandatory, to found: inout [Violation]) {
        let attribute = check.attribute
        let field = layout.field(attribute)
        addViolations(attribute.root, check.entities, to: &found) { table, _, row, _ in
            let value = reader.value(of: field, at: ObjectPlace(table: table.index, row: row))
            return attribute.constraints.check(value).map { .valueRefused(attribute.name, $0) }
        }
    }

    private func addMiscounted(_ check: MigrationChecks.Members, to found: inout [Violation]) {
        let relationship = check.relationship
        let end = layout.end(relationship)
        addViolations(relationship.root, check.entities, to: &found) { _, _, row, isStub in
            let count = reader.memberCount(end, owner: row)
            if count < relationship.minCount, !isStub {
                return .tooFewMembers(relationship.name, count: count, min: relationship.minCount)
            }
            guard let max = relationship.maxCount, count > max else { return nil }
            return .tooManyMembers(relationship.name, count: count, max: max)
        }
    }

    private func addMisplaced(_ check: MigrationChecks.Members, to found: inout [Violation]) {
        let relationship = check.relationship
        guard let destination = schema.entity(relationship.destination), let targets = layout.table(of: destination.root) else { return }
        let end = layout.end(relationship)
        let rows = reader.rows(targets.index)
        addViolations(relationship.root, check.entities, to: &found) { _, _, row, _ in
            var other: UInt32?
            reader.forEachMember(end, owner: row) { member in
                if destination.family.contains(rows.entity(member, targets)) { return }
                if other.map({ rows.serial(member) < rows.serial($0) }) ?? true { other = member }
            }
            return other.map {
                .wrongMember(relationship.name, text(ObjectPlace(table: targets.index, row: $0)), wanted: destination.name)
            }
        }
    }
}
