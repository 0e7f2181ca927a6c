package import CambiumModel

/// Creates random conditions and sort keys for a schema. Their constants are mostly values that occur in a graph.
package struct RandomCondition: Sendable {
    private let graph: ReferenceGraph
    private let ids: [EntityNumber: [ObjectID]]
    package var random: SplitMix64

    package init(_ graph: ReferenceGraph, seed: UInt64) {
        self.graph = graph
        random = SplitMix64(seed: seed)
        ids = Dictionary(uniqueKeysWithValues: graph.schema.entities.map { ($0.number, graph.ids(of: $0)) })
    }

    private var schema: Schema { graph.schema }

    package mutating func condition(_ entity: Entity, depth: Int = 3) -> Condition {
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where depth > 0: return .and(parts(entity, depth))
        case 1 where depth > 0: return .or(parts(entity, depth))
        case 2 where depth > 0: return .not(condition(entity, depth: depth - 1))
        case 3 where depth > 0:
            guard let (path, end) = toManyPath(entity) else { return comparison(entity) }
            return .related(random.pick(Quantifier.allCases) ?? .any, QueryPath(path), condition(end, depth: depth - 1))
        default: return comparison(entity)
        }
    }

    private mutating func parts(_ entity: Entity, _ depth: Int) -> [Condition] {
        (0..<Int.random(in: 2...3, using: &random)).map { _ in condition(entity, depth: depth - 1) }
    }

    /// Returns a path that begins with a to-many relationship, and the entity at its end.
    private mutating func toManyPath(_ entity: Entity) -> ([String], Entity)? {
        guard let relationship = random.pick(entity.relationships.filter(\.isToMany)), let end = schema.entity(relationship.destination)
        else { return nil }
        return ([relationship.name], end)
    }

    private mutating func comparison(_ entity: Entity) -> Condition {
        if random.isTrue(1, outOf: 8), let aggregated = aggregated(entity) { return aggregated }
        if random.isTrue(1, outOf: 10), let two = twoPaths(entity) { return two }
        var (names, end, isToMany) = ([String](), entity, false)
        for _ in 0..<2 where random.isTrue(1, outOf: 3) {
            guard let relationship = random.pick(end.relationships), let next = schema.entity(relationship.destination) else { break }
            names.append(relationship.name)
            isToMany = isToMany || relationship.isToMany
            end = next
        }
        let quantifier = isToMany ? random.pick(Quantifier.allCases) : nil
        if !names.isEmpty, random.isTrue(1, outOf: 4) { return compareObject(names, end, quantifier) }
        if random.isTrue(1, outOf: 10) { return compareEntity(names, end, quantifier) }
        guard let attribute = random.pick(end.attributes) else { return compareObject(names, end, quantifier) }
        return compare(names, attribute, end, quantifier)
    }

    private mutating func compareObject(_ names: [String], _ end: Entity, _ quantifier: Quantifier?) -> Condition {
        let path = Operand(.path(QueryPath(names.isEmpty ? ["_id"] : names)))
        let target = random.isTrue(1, outOf: 5) ? nil : random.pick(ids[end.number] ?? [])
        let right = Operand(.literal(target.map { .id($0) } ?? .null))
        if random.isTrue(1, outOf: 3) {
            let list = (0..<3).compactMap { _ in random.pick(ids[end.number] ?? []) }.map { Operand(.literal(.id($0))) }
            return .comparison(Comparison(path, .isIn, Operand(.list(list)), quantifier: quantifier))
        }
        return .comparison(Comparison(path, random.isTrue(1, outOf: 2) ? .equal : .notEqual, right, quantifier: quantifier))
    }

    private mutating func compareEntity(_ names: [String], _ end: Entity, _ quantifier: Quantifier?) -> Condition {
        let family = schema.entities.filter { $0.root == end.root }
        let name = random.pick(family)?.name ?? end.name
        let path = Operand(.path(QueryPath(names + ["_entity"])))
        return .comparison(Comparison(path, .equal, Operand(.literal(.string(name))), quantifier: quantifier))
    }

    private mutating func compare(_ names: [String], _ attribute: Attribute, _ end: Entity, _ quantifier: Quantifier?) -> Condition {
        let path = Operand(.path(QueryPath(names + [attribute.name])))
        var relations: [Comparison.Relation] = [.equal, .notEqual, .isIn]
        var folding: Folding = []
        switch attribute.type {
        case .bool, .uuid, .data: break
        case .string, .uri, .json:
            relations += [.less, .lessOrEqual, .greater, .greaterOrEqual, .isBetween, .contains, .beginsWith, .endsWith, .like]
            if random.isTrue(1, outOf: 3) { folding = Folding(rawValue: UInt8.random(in: 0...3, using: &random)) }
        default: relations += [.less, .lessOrEqual, .greater, .greaterOrEqual, .isBetween]
        }
        let relation = random.pick(relations) ?? .equal
        let count = relation == .isBetween ? 2 : relation == .isIn ? Int.random(in: 0...6, using: &random) : 1
        let operands = (0..<count).map { _ in Operand(.literal(literal(attribute, end, relation))) }
        let right = relation == .isBetween || relation == .isIn ? Operand(.list(operands)) : operands[0]
        return .comparison(Comparison(path, relation, right, quantifier: quantifier, folding: folding))
    }

    /// Returns a constant for a comparison with an attribute: usually the value of a random object, or a value close to it.
    private mutating func literal(_ attribute: Attribute, _ entity: Entity, _ relation: Comparison.Relation) -> QueryLiteral {
        if random.isTrue(1, outOf: 10) { return .null }
        let value = random.pick(ids[entity.number] ?? []).flatMap { graph.value(of: attribute, of: $0) } ?? .null
        switch value {
        case .null: return .null
        case .int(let number):
            let near = Int128(number) + Int128(Int.random(in: -1...1, using: &random))
            return .number(random.isTrue(1, outOf: 4) ? "\(near).5" : "\(near)")
        case .float(let number): return .number(number.description)
        case .double(let number): return .number(number.description)
        case .decimal(let number): return .number(number.description)
        case .string(let text), .uri(let text), .json(let text): return .string(part(of: text, relation))
        default: return random.isTrue(1, outOf: 2) ? .value(value) : value.isText ? .string(value.text) : .value(value)
        }
    }

    private mutating func part(of text: String, _ relation: Comparison.Relation) -> String {
        let changed = random.isTrue(1, outOf: 4) ? text.uppercased() : text
        switch relation {
        case .contains: return String(changed.dropFirst(1).prefix(3))
        case .beginsWith: return String(changed.prefix(3))
        case .endsWith: return String(changed.suffix(2))
        case .like:
            return random.pick(["\(changed.prefix(2))*", "*\(changed.suffix(2))", "*\(changed.dropFirst(2).prefix(2))*", "t??t*1", "?*"])
                ?? "*"
        default: return changed
        }
    }

    private mutating func aggregated(_ entity: Entity) -> Condition? {
        guard let operand = aggregate(entity) else { return nil }
        let relations: [Comparison.Relation] = [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual]
        let number = Operand(.literal(.number(String(Int.random(in: -3...4, using: &random)))))
        return .comparison(Comparison(operand, random.pick(relations) ?? .equal, number))
    }

    private mutating func aggregate(_ entity: Entity) -> Operand? {
        guard let (path, end) = toManyPath(entity) else { return nil }
        let whole = end.attributes.filter { [.int16, .int32].contains($0.type) }
        guard random.isTrue(1, outOf: 2), let attribute = random.pick(whole) else {
            return Operand(.aggregate(RelatedAggregate(.count, QueryPath(path))))
        }
        let function = random.pick([AggregateFunction.sum, .min, .max, .avg, .countDistinct]) ?? .sum
        return Operand(.aggregate(RelatedAggregate(function, QueryPath(path), of: QueryPath([attribute.name]))))
    }

    /// Returns a comparison of two attributes of the same type.
    private mutating func twoPaths(_ entity: Entity) -> Condition? {
        guard let first = random.pick(entity.attributes), let second = random.pick(entity.attributes.filter { $0.type == first.type })
        else {
            return nil
        }
        let isOrdered = ![.bool, .uuid, .data].contains(first.type)
        let relations: [Comparison.Relation] = isOrdered ? [.equal, .notEqual, .less, .greaterOrEqual] : [.equal, .notEqual]
        let paths = [first, second].map { Operand(.path(QueryPath([$0.name]))) }
        return .comparison(Comparison(paths[0], random.pick(relations) ?? .equal, paths[1]))
    }

    /// Returns the names of one to three relationships that follow each other, and the entity at their end. Returns `nil` if the entity has
    /// no relationship.
    package mutating func path(_ entity: Entity) -> (names: [String], end: Entity)? {
        var (names, end) = ([String](), entity)
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let relationship = random.pick(end.relationships), let next = schema.entity(relationship.destination) else { break }
            names.append(relationship.name)
            end = next
        }
        return names.isEmpty ? nil : (names, end)
    }

    /// Returns sort keys: attributes of the object, attributes of a related object, and aggregates.
    package mutating func sort(_ entity: Entity) -> [SortKey] {
        (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in sortKey(entity) }
    }

    private mutating func sortKey(_ entity: Entity) -> SortKey? {
        let operand: Operand
        var isText = false
        if random.isTrue(1, outOf: 5), let aggregate = aggregate(entity) {
            operand = aggregate
        } else {
            var (names, end) = ([String](), entity)
            if random.isTrue(1, outOf: 3), let relationship = random.pick(entity.relationships.filter { !$0.isToMany }) {
                names = [relationship.name]
                end = schema.entity(relationship.destination) ?? entity
            }
            guard let attribute = random.pick(end.attributes) else { return nil }
            isText = [.string, .uri, .json].contains(attribute.type)
            operand = Operand(.path(QueryPath(names + [attribute.name])))
        }
        return SortKey(
            operand, random.isTrue(1, outOf: 2) ? .ascending : .descending, nulls: random.pick([nil, .first, .last]) ?? nil,
            folding: isText && random.isTrue(1, outOf: 4) ? .caseInsensitive : [])
    }
}

extension Value {
    /// Whether a condition in the query language writes the value as a string.
    fileprivate var isText: Bool {
        switch self {
        case .date, .uuid, .data, .string, .uri: true
        default: false
        }
    }
}
