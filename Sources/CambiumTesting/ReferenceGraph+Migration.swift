internal import CambiumGraph
internal import CambiumModel

extension ReferenceGraph {
    /// Migrates the graph to another schema, one object at a time.
    mutating func migrate(to new: Schema) throws(CambiumError) {
        let old = schema
        for object in objects.values where new.entity(object.entity.number)?.isAbstract == true {
            throw CambiumError(.ruleViolated, "'\(object.entity.name)' cannot become abstract, because it has objects.")
        }
        if !old.entities.isEmpty { schemaBefore = old }
        storeDerived()
        leave(new)
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
        }
        for (id, object) in objects {
            guard let entity = new.entity(object.entity.number) else { continue }
            var migrated = Object(entity: entity, attributes: [:], isStub: object.isStub)
            for attribute in entity.attributes {
                let value = Self.value(of: attribute, in: object)
                migrated.attributes[attribute.number] = value
                noteInexact(id, attribute, object, value)
            }
            objects[id] = migrated
        }
        members = moved
        nextSerials = nextSerials.filter { new.entity($0.key) != nil }
        schema = new
    }

    private static func value(of attribute: Attribute, in object: Object) -> Value {
        let before = object.entity.attribute(attribute.number)
        var value = Value.null
        if let before { value = converted(object.attributes[before.number] ?? .null, to: attribute.type) }
        let getsDefault = before.map { $0.isOptional && !attribute.isOptional } ?? true
        return value.isNull && getsDefault && !object.isStub ? attribute.defaultValue : value
    }

    /// Notes a value that another value replaces because its attribute has another type now.
    private mutating func noteInexact(_ id: ObjectID, _ attribute: Attribute, _ object: Object, _ result: Value) {
        guard let before = object.entity.attribute(attribute.number), !attribute.isDerived, before.type != attribute.type,
            let value = object.attributes[attribute.number], !value.isNull
        else { return }
        let nearest = Self.converted(value, to: attribute.type)
        // Only these conversions can lose something.
        let isExact: Bool
        switch (value, nearest) {
        case (.int(let number), .bool(let flag)): isExact = number == (flag ? 1 : 0)
        case (.int(let number), .double(let other)): isExact = DecimalNumber(number) == DecimalNumber("\(Int128(other))")
        case (.int(let number), .float(let other)): isExact = DecimalNumber(number) == DecimalNumber("\(Int128(other))")
        case (.decimal(let number), .double(let other)): isExact = DecimalNumber("\(other)") == number
        case (.float, .null), (.double, .null): isExact = false
        default: isExact = true
        }
        if isExact { return }
        let rule = Violation.Rule.inexactValue(
            attribute.name, value.text, type: attribute.type.rawValue, nearest: nearest.isNull ? nil : nearest.text)
        inexact.append((id, attribute.number, rule, result))
    }

    static func converted(_ value: Value, to type: AttributeType) -> Value {
        switch (value, type) {
        case (.bool(let flag), .int16), (.bool(let flag), .int32), (.bool(let flag), .int64): .int(flag ? 1 : 0)
        case (.int(let number), .bool): .bool(number != 0)
        case (.float(let number), .decimal): DecimalNumber("\(number)").map { .decimal($0) } ?? .null
        case (.decimal(let number), .double): Double("\(number)").map { .double($0) } ?? .null
        case (.double(let number), .decimal): DecimalNumber("\(number)").map { .decimal($0) } ?? .null
        case (.int(let number), .float): .float(Float(number))
        case (.int(let number), .double): .double(Double(number))
        case (.int(let number), .decimal): DecimalNumber("\(number)").map { .decimal($0) } ?? .null
        case (.float(let number), .double): .double(Double(number))
        case (.uri(let text), .string): .string(text)
        default: value
        }
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
    private mutating func leave(_ new: Schema) {
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
                let entity = objects[id].flatMap { new.entity($0.entity.number) }
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
            broken.violations.insert(Violation(object: text(id), rule: rule))
        }
        for (id, object) in objects {
            guard let before = old.entity(object.entity.number) else { continue }
            func add(_ rule: Violation.Rule) { broken.violations.insert(Violation(object: text(id), rule: rule)) }
            for attribute in object.entity.attributes where !attribute.isDerived {
                let value = object.attributes[attribute.number] ?? .null
                let was = before.attribute(attribute.number)
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
        let hasMore = relationship.minCount > (before?.minCount ?? 0)
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
