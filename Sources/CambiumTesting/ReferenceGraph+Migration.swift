internal import CambiumGraph
internal import CambiumModel

extension ReferenceGraph {
    /// Migrates the graph to another schema, one object at a time.
    mutating func migrate(to new: Schema) throws(CambiumError) {
        let old = schema
        let succession = SchemaSuccession(old, new)
        for object in objects.values where succession.entity(after: object.entity.number)?.isAbstract == true {
            throw CambiumError(.ruleViolated, "'\(object.entity.name)' cannot become abstract, because it has objects.")
        }
        if !old.entities.isEmpty { schemaBefore = old }
        storeDerived()
        leave(new, succession)
        var moved: [Side: [ObjectID: [ObjectID]]] = [:]
        for (number, link) in new.links.enumerated() {
            for end in 0...1 {
                let side = Side(link: number, end: end)
                guard let from = oldSide(of: side, link) else { continue }
                let isOrdered = end == 0 ? link.first.isOrdered : link.second.isOrdered
                let wasOrdered = self.end(from).isOrdered
                for (owner, list) in members[from] ?? [:] {
                    moved[side, default: [:]][owner] = isOrdered && !wasOrdered ? list.sorted() : list
                }
            }
            narrow(number, link, &moved)
        }
        for (id, object) in objects {
            guard let entity = succession.entity(after: object.entity.number) else { continue }
            var migrated = Object(entity: entity, attributes: [:], isStub: object.isStub)
            for attribute in entity.attributes {
                let source = Self.source(of: attribute, in: object.entity, entity)
                let value = Self.value(of: attribute, from: source, in: object)
                migrated.attributes[attribute.number] = value
                trackInexact(id, attribute, source, object, value)
            }
            objects[id] = migrated
        }
        members = moved
        nextSerials = nextSerials.filter { new.entity($0.key) != nil }
        schema = new
    }

    /// Returns the attribute whose value an object gets in an attribute of its new entity.
    private static func source(of attribute: Attribute, in before: Entity, _ after: Entity) -> Attribute? {
        if let same = before.attributes.first(where: { $0.number == attribute.number }) { return same }
        if attribute.isDerived { return nil }
        let lost = before.attributes.filter { old in !after.attributes.contains { $0.number == old.number } && !old.isDerived }
        let fitting = lost.filter { $0.type == attribute.type || canConvert($0.type, attribute.type) }
        return fitting.first { $0.name == attribute.formerName } ?? fitting.first { $0.name == attribute.name }
    }

    private static func canConvert(_ type: AttributeType, _ other: AttributeType) -> Bool {
        let numbers: Set<AttributeType> = [.bool, .int16, .int32, .int64, .float, .double, .decimal]
        return numbers.contains(type) && numbers.contains(other) || type == .uri && other == .string
    }

    /// Keeps one member of each object at the ends of a link that become to-one.
    private mutating func narrow(_ number: Int, _ link: Link, _ moved: inout [Side: [ObjectID: [ObjectID]]]) {
        let ends = [link.first, link.second]
        let narrow = [0, 1].filter { end in
            let before = oldSide(of: Side(link: number, end: end), link).map { self.end($0) }
            let side = Side(link: number, end: end)
            if before?.isOrdered == false { moved[side] = moved[side]?.mapValues { $0.sorted() } }
            return !ends[end].isToMany && before?.isToMany == true
        }
        guard let first = narrow.first else { return }
        var pairs: [(owner: ObjectID, member: ObjectID)] = []
        for (owner, list) in (moved[Side(link: number, end: first)] ?? [:]).sorted(by: { $0.key < $1.key }) {
            let member = list.first { member in
                pairs.allSatisfy { pair in
                    if link.isSymmetric { return Set([owner, member]).isDisjoint(with: [pair.owner, pair.member]) }
                    return ends[1 - first].isToMany || pair.member != member
                }
            }
            if let member { pairs.append((owner, member)) }
        }
        if link.isSymmetric { pairs += pairs.filter { $0.owner != $0.member }.map { ($0.member, $0.owner) } }
        for end in 0...1 {
            let kept = end == first ? pairs : pairs.map { ($0.member, $0.owner) }
            let side = Side(link: number, end: end)
            if narrow.contains(end), let property = ends[end].property {
                for (owner, list) in moved[side] ?? [:] where list.count > 1 {
                    narrowed.append((owner, property, list.count, kept.first { $0.owner == owner }?.member))
                }
            }
            for (owner, list) in moved[side] ?? [:] {
                let left = list.filter { member in kept.contains { $0.owner == owner && $0.member == member } }
                moved[side]?[owner] = left.isEmpty ? nil : left
            }
        }
    }

    private static func value(of attribute: Attribute, from before: Attribute?, in object: Object) -> Value {
        var value = Value.null
        if let before { value = converted(object.attributes[before.number] ?? .null, to: attribute.type) }
        let getsDefault = before.map { $0.isOptional && !attribute.isOptional } ?? true
        return value.isNull && getsDefault && !object.isStub ? attribute.defaultValue : value
    }

    /// Notes a value that another value replaces because its attribute has another type now.
    private mutating func trackInexact(
        _ id: ObjectID, _ attribute: Attribute, _ before: Attribute?, _ object: Object, _ result: Value
    ) {
        guard let before, !attribute.isDerived, before.type != attribute.type,
            let value = object.attributes[before.number], !value.isNull
        else { return }
        let nearest = Self.converted(value, to: attribute.type)
        if Self.isExact(value, nearest) { return }
        let rule = Violation.Rule.inexactValue(
            attribute.name, value.text, type: attribute.type.rawValue, nearest: nearest.isNull ? nil : nearest.text)
        inexact.append((id, attribute.number, rule, result))
    }

    /// Returns whether a number keeps its value in another type.
    static func isExact(_ value: Value, _ nearest: Value) -> Bool {
        switch (value, nearest) {
        case (_, .null): false
        case (.int(let number), .bool(let flag)): number == (flag ? 1 : 0)
        case (.float(let number), .bool(let flag)): number == (flag ? 1 : 0)
        case (.double(let number), .bool(let flag)): number == (flag ? 1 : 0)
        case (.decimal(let number), .bool(let flag)): number == DecimalNumber(flag ? 1 : 0)
        case (.float(let number), .int(let other)): number == Float(other)
        case (.double(let number), .int(let other)): number == Double(other)
        case (.decimal(let number), .int(let other)): number == DecimalNumber(other)
        case (.int(let number), .double(let other)): DecimalNumber(number) == DecimalNumber("\(Int128(other))")
        case (.int(let number), .float(let other)): DecimalNumber(number) == DecimalNumber("\(Int128(other))")
        case (.double(let number), .float(let other)): number == Double(other)
        case (.decimal(let number), .double(let other)): DecimalNumber("\(other)") == number
        case (.decimal(let number), .float(let other)): DecimalNumber("\(other)") == number
        default: true
        }
    }

    static func converted(_ value: Value, to type: AttributeType) -> Value {
        let number: Value? =
            switch (value, type) {
            case (.bool(let flag), .bool): .bool(flag)
            case (.bool(let flag), _) where canConvert(.bool, type): converted(.int(flag ? 1 : 0), to: type)
            case (.int(let number), .bool): .bool(number != 0)
            case (.float(let number), .bool): .bool(number != 0)
            case (.double(let number), .bool): .bool(number != 0)
            case (.decimal(let number), .bool): .bool(number != .zero)
            case (.int(let number), .int16): Int16(exactly: number).map { _ in value }
            case (.int(let number), .int32): Int32(exactly: number).map { _ in value }
            case (.int(let number), .float): .float(Float(number))
            case (.int(let number), .double): .double(Double(number))
            case (.int(let number), .decimal): DecimalNumber("\(number)").map { .decimal($0) }
            case (.float(let number), .int16), (.float(let number), .int32), (.float(let number), .int64):
                Int64(exactly: number.rounded(.toNearestOrAwayFromZero)).map { converted(.int($0), to: type) }
            case (.double(let number), .int16), (.double(let number), .int32), (.double(let number), .int64):
                Int64(exactly: number.rounded(.toNearestOrAwayFromZero)).map { converted(.int($0), to: type) }
            case (.decimal(let number), .int16), (.decimal(let number), .int32), (.decimal(let number), .int64):
                rounded(number).map { converted(.int($0), to: type) }
            case (.float(let number), .double): .double(Double(number))
            case (.double(let number), .float): Float(number).isFinite ? .float(Float(number)) : nil
            case (.float(let number), .decimal): DecimalNumber("\(number)").map { .decimal($0) }
            case (.double(let number), .decimal): DecimalNumber("\(number)").map { .decimal($0) }
            case (.decimal(let number), .float): Float("\(number)").flatMap { $0.isFinite ? .float($0) : nil }
            case (.decimal(let number), .double): Double("\(number)").map { .double($0) }
            case (.uri(let text), .string): .string(text)
            default: value
            }
        return number ?? .null
    }

    /// Rounds a number by its digits, a half away from zero. Returns `nil` if the result is beyond the range of `Int64`.
    private static func rounded(_ number: DecimalNumber) -> Int64? {
        let text = number.description
        // A power of ten is written only if the digits would take more than 60 characters.
        if text.contains("E-") { return 0 }
        if text.contains("E") { return nil }
        let parts = text.split(separator: ".")
        guard let whole = Int128(parts[0].replacing("-", with: "")) else { return nil }
        let magnitude = whole + (parts.count > 1 && (parts[1].first ?? "0") >= "5" ? 1 : 0)
        return Int64(exactly: number.isNegative ? -magnitude : magnitude)
    }

    /// Returns the relationship that an end of a link describes, or `nil` if the schema does not have it.
    private static func relationship(_ end: Link.End, _ schema: Schema) -> Relationship? {
        guard let property = end.property else { return nil }
        return schema.entities.filter { $0.root == end.root }.compactMap { $0.relationship(property) }.first
    }

    /// Returns the key under which the old schema has a relationship of the new schema, or `nil` if the old schema lacks the relationship.
    /// `new` is the key in the new schema, and `link` is the link in the new schema.
    private func oldSide(of new: Side, _ link: Link) -> Side? {
        let ends = new.end == 0 ? (link.first, link.second) : (link.second, link.first)
        if link.isSymmetric, new.end == 1 { return nil }
        if let own = Self.relationship(ends.0, schema) { return side(own) }
        return Self.relationship(ends.1, schema).map { Side(link: $0.link, end: 1 - $0.end) }
    }

    private func stays(_ link: Link, _ new: Schema) -> Bool {
        [link.first, link.second].contains { Self.relationship($0, new) != nil }
    }

    /// Removes the objects whose entity is not in the new schema, with their links. Also removes the links of a relationship from objects
    /// whose entity no longer has the relationship.
    private mutating func leave(_ new: Schema, _ succession: SchemaSuccession) {
        for id in ids where new.entity(id.root) != nil && objects[id].map({ new.entity($0.entity.number) == nil }) == true {
            for (number, link) in schema.links.enumerated() where stays(link, new) {
                for end in 0...1 where self.end(Side(link: number, end: end)).root == id.root {
                    let side = Side(link: number, end: end)
                    let rule = self.end(side).property.flatMap { objects[id]?.entity.relationship($0) }?.deleteRule
                    for member in list(side, id) { disconnect(side, id, member, isNoted: rule != .noAction) }
                }
            }
        }
        for (id, object) in objects where new.entity(object.entity.number) == nil {
            objects[id] = nil
            sources[id] = nil
        }
        for id in ids {
            for relationship in objects[id]?.entity.relationships ?? [] where stays(schema.links[relationship.link], new) {
                let entity = objects[id].flatMap { succession.entity(after: $0.entity.number) }
                let end = Link.End(root: id.root, property: relationship.number, isToMany: false, isOrdered: false)
                guard entity?.relationship(relationship.number) == nil, Self.relationship(end, new) != nil else { continue }
                for member in list(side(relationship), id) { disconnect(side(relationship), id, member) }
            }
        }
        noted = noted.filter(contains)
    }

    // MARK: Rules

    /// Adds the violations that the migration causes: objects that existed before may violate rules that only the new schema has.
    func addViolations(since old: Schema, to broken: inout BrokenRules) {
        for (id, attribute, rule, result) in inexact where objects[id]?.attributes[attribute] == result {
            if acceptsNearest, case .inexactValue(_, _, _, nearest: .some) = rule { continue }
            broken.violations.insert(Violation(object: text(id), rule: rule))
        }
        for (id, number, count, kept) in narrowed where !acceptsNearest {
            guard let relationship = objects[id]?.entity.relationship(number), list(side(relationship), id).first == kept else { continue }
            let rule = Violation.Rule.severalMembers(relationship.name, count: count, kept: kept.map(text))
            broken.violations.insert(Violation(object: text(id), rule: rule))
        }
        let succession = SchemaSuccession(old, schema)
        for (id, object) in objects {
            guard let before = succession.entity(before: object.entity.number) else { continue }
            func add(_ rule: Violation.Rule) { broken.violations.insert(Violation(object: text(id), rule: rule)) }
            for attribute in object.entity.attributes where !attribute.isDerived {
                let value = object.attributes[attribute.number] ?? .null
                let was = Self.source(of: attribute, in: before, object.entity)
                if value.isNull, !attribute.isOptional, attribute.defaultValue.isNull, !object.isStub, was.map(\.isOptional) ?? true {
                    add(.mandatoryAttribute(attribute.name))
                }
                if let was, rulesDiffer(attribute, was, old), let reason = attribute.constraints.check(value) {
                    add(.valueRefused(attribute.name, reason))
                }
            }
            for relationship in object.entity.relationships {
                addViolations(relationship, before.relationship(relationship.number), id, object.isStub, old, add)
            }
        }
    }

    /// Whether the rules for the values of an attribute differ between two schemas.
    private func rulesDiffer(_ attribute: Attribute, _ was: Attribute, _ old: Schema) -> Bool {
        func rules(_ attribute: Attribute, _ schema: Schema) -> AttributeDefinition? {
            let entity = schema.definition.entities.first { $0.number == attribute.entity.rawValue }
            guard let found = entity?.attributes.first(where: { $0.number == attribute.number.rawValue }) else { return nil }
            let hasValues = found.min != nil || found.max != nil || found.allowed != nil
            var rules = AttributeDefinition("", hasValues ? Self.kind(found.type) : .bool)
            (rules.min, rules.max, rules.allowed, rules.regex) = (found.min, found.max, found.allowed, found.regex)
            (rules.minLength, rules.maxLength) = (found.minLength, found.maxLength)
            return rules
        }
        return rules(attribute, schema) != rules(was, old)
    }

    /// Returns `int64` for every type of whole numbers, and any other type unchanged. So a rule such as a maximum counts as unchanged if a
    /// migration only widens the type of whole numbers.
    private static func kind(_ type: AttributeType) -> AttributeType { [.int16, .int32].contains(type) ? .int64 : type }

    private func addViolations(
        _ relationship: Relationship, _ before: Relationship?, _ id: ObjectID, _ isStub: Bool, _ old: Schema,
        _ add: (Violation.Rule) -> Void
    ) {
        let members = list(side(relationship), id)
        let link = schema.links[relationship.link]
        let isFromBefore = [link.first, link.second].contains { Self.relationship($0, old) != nil }
        let isNarrowed = narrowed.contains { narrowed in
            schema.relationship(narrowed.relationship, ofRoot: narrowed.object.root)?.link == relationship.link
        }
        let hasMore = relationship.minCount > (before?.minCount ?? 0) || isNarrowed && relationship.minCount > 0
        let wasAny = before.map { !$0.isToMany ? false : $0.maxCount == nil } ?? isFromBefore
        let hasLess = relationship.maxCount.map { max in wasAny || (before?.isToMany == true && (before?.maxCount ?? max) > max) } ?? false
        if hasMore || (hasLess && relationship.isToMany) {
            if members.count < relationship.minCount, !isStub {
                add(.tooFewMembers(relationship.name, count: members.count, min: relationship.minCount))
            } else if let max = relationship.maxCount, members.count > max {
                add(.tooManyMembers(relationship.name, count: members.count, max: max))
            }
        }
        guard isFromBefore, let wanted = schema.entity(relationship.destination) else { return }
        let wrong = members.filter { member in objects[member].map { !wanted.family.contains($0.entity.number) } ?? true }
        if let first = wrong.min() { add(.wrongMember(relationship.name, text(first), wanted: wanted.name)) }
    }
}
