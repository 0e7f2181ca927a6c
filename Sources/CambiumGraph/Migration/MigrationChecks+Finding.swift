import CambiumModel

extension MigrationChecks {
    /// Finds the new rules that existing objects may break. Complexity: O(properties that the entities of both schemas have).
    convenience init(_ succession: SchemaSuccession, _ links: [LinkSource]) {
        let new = succession.new
        var (mandatory, values, conversions) = (PropertySets<Attribute>(), PropertySets<Attribute>(), PropertySets<Attribute>())
        var counts = PropertySets<Relationship>()
        var targets: [Members] = []
        for entity in new.entities {
            guard let before = succession.entity(before: entity.number) else { continue }
            for attribute in entity.attributes {
                let before = succession.source(of: attribute, in: entity)
                Self.report(attribute, before, entity, &mandatory, &values)
                if let before, !attribute.isDerived, !before.type.widens(to: attribute.type) { conversions.add(attribute, entity) }
            }
            for relationship in entity.relationships {
                let before = before.relationship(relationship.number)
                if Self.mayBreakCount(relationship, before, links[relationship.link]) { counts.add(relationship, entity) }
            }
        }
        var members = MemberFamilies(succession)
        let relationships = new.entities.flatMap { entity in entity.relationships.filter { $0.entity == entity.number } }
        for relationship in relationships where links[relationship.link].old != nil {
            if members.mayHoldOthers(relationship) {
                let family = new.entity(relationship.entity)?.family ?? []
                targets.append(Members(relationship: relationship, entities: family))
            }
        }
        self.init(
            mandatory: mandatory.all.map { Mandatory(attribute: $0.property, entities: $0.entities) },
            values: values.all.map { Mandatory(attribute: $0.property, entities: $0.entities) },
            conversions: conversions.all.map { Mandatory(attribute: $0.property, entities: $0.entities) },
            counts: counts.all.map { Members(relationship: $0.property, entities: $0.entities) }, targets: targets)
    }

    private static func report(
        _ attribute: Attribute, _ before: Attribute?, _ entity: Entity, _ mandatory: inout PropertySets<Attribute>,
        _ values: inout PropertySets<Attribute>
    ) {
        if !attribute.isOptional, !attribute.isDerived, attribute.defaultValue.isNull, before?.isOptional ?? true {
            mandatory.add(attribute, entity)
        }
        if let before, !attribute.constraints.isEmpty, !attribute.constraints.hasSameRules(as: before.constraints) {
            values.add(attribute, entity)
        }
    }

    /// Attributes or relationships in the order in which they were added, each with the entities for which it was added. So one pass
    /// through the objects of a hierarchy checks a property for all of these entities.
    private struct PropertySets<Property: AnyObject> {
        private(set) var all: [(property: Property, entities: Set<EntityNumber>)] = []
        private var places: [ObjectIdentifier: Int] = [:]

        mutating func add(_ property: Property, _ entity: Entity) {
            if let place = places[ObjectIdentifier(property)] {
                all[place].entities.insert(entity.number)
            } else {
                places[ObjectIdentifier(property)] = all.count
                all.append((property: property, entities: [entity.number]))
            }
        }
    }

    /// Returns whether existing objects may have too few or too many members under the new limits.
    private static func mayBreakCount(_ relationship: Relationship, _ before: Relationship?, _ source: LinkSource) -> Bool {
        // `before` is `nil` if the old schema had no relationship at this end of the link. Without a relationship, the number of members
        // had no limits.
        if relationship.minCount > (before?.minCount ?? 0) { return true }
        // An object that is no longer a member loses the owner, too.
        if relationship.minCount > 0, !source.narrowedEnds.isEmpty { return true }
        guard relationship.isToMany, let max = relationship.maxCount else { return false }
        return before.map { $0.isToMany && $0.maxCount.map { $0 > max } ?? true } ?? (source.old != nil)
    }
}

/// Finds the relationships that may have members whose entity the relationship no longer accepts after a migration.
private struct MemberFamilies {
    private let succession: SchemaSuccession
    /// For each root entity of the new schema, the number of entities in its hierarchy that the old schema also had.
    private var stayingCounts: [EntityNumber: Int] = [:]
    private var known: [Key: Bool] = [:]

    private struct Key: Hashable {
        let destination: EntityNumber
        let before: EntityNumber?
    }

    init(_ succession: SchemaSuccession) {
        self.succession = succession
        for entity in succession.old.entities {
            if let root = succession.entity(after: entity.number)?.root { stayingCounts[root, default: 0] += 1 }
        }
    }

    /// Returns whether a relationship may have members whose entity the relationship no longer accepts.
    mutating func mayHoldOthers(_ relationship: Relationship) -> Bool {
        let before = succession.old.relationship(relationship.number, ofRoot: relationship.root)?.destination
        let key = Key(destination: relationship.destination, before: before)
        if let answer = known[key] { return answer }
        let answer = mayHoldOthers(relationship, before)
        known[key] = answer
        return answer
    }

    private func mayHoldOthers(_ relationship: Relationship, _ before: EntityNumber?) -> Bool {
        guard let family = succession.new.entity(relationship.destination)?.family else { return false }
        guard let oldFamily = before.flatMap({ succession.old.entity($0)?.family }) else {
            let count = family.count { succession.entity(before: $0) != nil }
            return count < stayingCounts[relationship.destinationRoot] ?? 0
        }
        return oldFamily.contains { entity in
            succession.entity(after: entity).map { $0.root == relationship.destinationRoot && !family.contains($0.number) } ?? false
        }
    }
}

extension AttributeConstraints {
    /// The bytes of the regular expression. Bytes are compared, because Swift's `==` for texts ignores how characters with accents are
    /// encoded.
    private var pattern: [UInt8]? { regex.map { Array($0.pattern.utf8) } }

    /// Returns whether two attributes have the same rules for their values.
    fileprivate func hasSameRules(as other: AttributeConstraints) -> Bool {
        min == other.min && max == other.max && minLength == other.minLength && maxLength == other.maxLength
            && pattern == other.pattern && allowed == other.allowed
    }
}

extension MigrationChecks {
    /// The maximum number of violations of one rule that are reported after a migration.
    static let migrationViolationCountMax = 10_000

    /// Returns the violations of the new schema's rules by existing objects. Complexity: O(objects that a rule concerns).
    static func violations(_ draft: borrowing Draft, of checks: MigrationChecks) -> [Violation] {
        var found: [Violation] = []
        for check in checks.mandatory { addMissing(draft, check, to: &found) }
        for check in checks.values { addRefused(draft, check, to: &found) }
        for check in checks.conversions { addInexact(draft, check, isNearestAccepted: checks.acceptsNearest, to: &found) }
        if !checks.acceptsNearest { for narrowed in checks.narrowed { addNarrowed(draft, narrowed, to: &found) } }
        for check in checks.counts { addMiscounted(draft, check, to: &found) }
        for check in checks.targets { addMisplaced(draft, check, to: &found) }
        return found
    }

    /// Calls `rule` for each object of some entities, and adds each violation that `rule` returns.
    private static func addViolations(
        _ draft: borrowing Draft, _ root: EntityNumber, _ entities: Set<EntityNumber>, to found: inout [Violation],
        _ rule: (_ table: TableLayout, _ rows: Rows, _ row: UInt32, _ isStub: Bool) -> Violation.Rule?
    ) {
        guard let table = draft.layout.table(of: root) else { return }
        let reader = draft.reader
        let rows = reader.rows(table.index)
        let isWhole = table.entities.allSatisfy(entities.contains)
        var count = 0
        reader.forEachRow(of: table) { row in
            guard count < Self.migrationViolationCountMax, isWhole || entities.contains(rows.entity(row, table)) else { return }
            guard let rule = rule(table, rows, row, rows.isStub(row)) else { return }
            count += 1
            found.append(Violation(object: draft.text(ObjectPlace(table: table.index, row: row)), rule: rule))
        }
    }

    private static func addMissing(_ draft: borrowing Draft, _ check: MigrationChecks.Mandatory, to found: inout [Violation]) {
        let attribute = check.attribute
        addViolations(draft, attribute.root, check.entities, to: &found) { table, rows, row, isStub in
            let slot = table.slot(of: attribute.number)
            return !isStub && rows.isNull(row, slot, table.columns[slot]) ? .mandatoryAttribute(attribute.name) : nil
        }
    }

    private static func addRefused(_ draft: borrowing Draft, _ check: MigrationChecks.Mandatory, to found: inout [Violation]) {
        let attribute = check.attribute
        let field = draft.layout.field(attribute)
        addViolations(draft, attribute.root, check.entities, to: &found) { table, _, row, _ in
            let value = draft.reader.value(of: field, at: ObjectPlace(table: table.index, row: row))
            return attribute.constraints.check(value).map { .valueRefused(attribute.name, $0) }
        }
    }

    /// Adds a violation for each value that has no exact equivalent in the new type of its attribute, unless the transaction gave the
    /// object another value later. If the caller accepts the nearest value, adds a violation only for values beyond the range of the new
    /// type.
    private static func addInexact(
        _ draft: borrowing Draft, _ check: MigrationChecks.Mandatory, isNearestAccepted: Bool, to found: inout [Violation]
    ) {
        let (attribute, original) = (check.attribute, draft.original)
        guard let oldTable = original.layout.table(of: attribute.root) else { return }
        let (schema, reader) = (draft.schema, draft.reader)
        let succession = SchemaSuccession(original.schema, schema)
        var sources: [EntityNumber: (attribute: Attribute, field: Field)] = [:]
        for entity in check.entities {
            guard let source = schema.entity(entity).flatMap({ succession.source(of: attribute, in: $0) }) else { continue }
            sources[entity] = (source, original.layout.field(source))
        }
        let field = draft.layout.field(attribute)
        let oldRows = original.reader.rows(oldTable.index)
        addViolations(draft, attribute.root, check.entities, to: &found) { table, rows, row, _ in
            guard oldRows.isLive(row), oldRows.serial(row) == rows.serial(row), let source = sources[rows.entity(row, table)] else {
                return nil
            }
            let before = source.attribute
            let value = original.reader.value(of: source.field, at: ObjectPlace(table: oldTable.index, row: row))
            if value.isNull || before.type.equivalent(of: value, to: attribute.type) != nil { return nil }
            let nearest = before.type.converted(value, to: attribute.type)
            if nearest != nil, isNearestAccepted { return nil }
            let current = reader.value(of: field, at: ObjectPlace(table: table.index, row: row))
            // The migration has replaced a value beyond the range by null, and the null of a mandatory attribute by its default.
            guard current == nearest ?? .null || (nearest == nil && current == attribute.defaultValue) else { return nil }
            return .inexactValue(attribute.name, value.text, type: attribute.type.rawValue, nearest: nearest?.text)
        }
    }

    /// Adds a violation for an object that had several members in a relationship that became to-one, unless the transaction linked another
    /// object later.
    private static func addNarrowed(_ draft: borrowing Draft, _ narrowed: MigrationChecks.Narrowed, to found: inout [Violation]) {
        let relationship = narrowed.relationship
        guard let table = draft.layout.table(of: relationship.root), let targets = draft.layout.table(of: relationship.destinationRoot)
        else { return }
        let rows = draft.reader.rows(table.index)
        guard rows.isLive(narrowed.row), rows.serial(narrowed.row) == narrowed.serial else { return }
        var current: UInt32?
        draft.reader.forEachMember(draft.layout.end(relationship), owner: narrowed.row) { current = $0 }
        guard current == narrowed.kept else { return }
        let member = narrowed.kept.map { draft.text(ObjectPlace(table: targets.index, row: $0)) }
        let object = draft.text(ObjectPlace(table: table.index, row: narrowed.row))
        found.append(Violation(object: object, rule: .severalMembers(relationship.name, count: narrowed.count, kept: member)))
    }

    private static func addMiscounted(_ draft: borrowing Draft, _ check: MigrationChecks.Members, to found: inout [Violation]) {
        let relationship = check.relationship
        let end = draft.layout.end(relationship)
        addViolations(draft, relationship.root, check.entities, to: &found) { _, _, row, isStub in
            let count = draft.reader.memberCount(end, owner: row)
            if count < relationship.minCount, !isStub {
                return .tooFewMembers(relationship.name, count: count, min: relationship.minCount)
            }
            guard let max = relationship.maxCount, count > max else { return nil }
            return .tooManyMembers(relationship.name, count: count, max: max)
        }
    }

    private static func addMisplaced(_ draft: borrowing Draft, _ check: MigrationChecks.Members, to found: inout [Violation]) {
        let relationship = check.relationship
        guard let destination = draft.schema.entity(relationship.destination), let targets = draft.layout.table(of: destination.root) else {
            return
        }
        let end = draft.layout.end(relationship)
        let rows = draft.reader.rows(targets.index)
        addViolations(draft, relationship.root, check.entities, to: &found) { _, _, row, _ in
            var other: UInt32?
            draft.reader.forEachMember(end, owner: row) { member in
                if destination.family.contains(rows.entity(member, targets)) { return }
                if other.map({ rows.serial(member) < rows.serial($0) }) ?? true { other = member }
            }
            return other.map {
                .wrongMember(relationship.name, draft.text(ObjectPlace(table: targets.index, row: $0)), wanted: destination.name)
            }
        }
    }
}
