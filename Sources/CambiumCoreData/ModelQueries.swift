internal import CambiumModel

/// Converts fetched properties and fetch request templates to stored queries, if a schema can express them.
struct ModelQueries {
    private(set) var entities: [EntityDefinition]
    private let fetches: [ModelFetch]

    init(_ entities: [EntityDefinition], _ fetches: [ModelFetch]) {
        self.entities = entities
        self.fetches = fetches
    }

    static func warning(_ reason: String) -> String { "the query is ignored; \(reason)" }

    /// The maximum number of queries in a model. The number is limited, because checking a query may read all names of an entity.
    static let countMax = 1000

    mutating func settle(_ warnings: inout ModelWarnings) {
        if fetches.isEmpty { return }
        // If the definition is not valid, no query is converted. The caller gets the mistakes when it creates the schema.
        guard let schema = try? Schema(SchemaDefinition(entities: entities)) else { return }
        let places = Dictionary(entities.indices.map { (entities[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        var names = Names(schema)
        var check = StoredQueryCheck(schema)
        for fetch in fetches.dropFirst(Self.countMax) {
            warnings.add(fetch.place, Self.warning("a model has at most \(Self.countMax) queries"))
        }
        for fetch in fetches.prefix(Self.countMax) {
            guard let place = places[fetch.owner], let owner = schema.entity(fetch.owner) else {
                warnings.add(fetch.place, Self.warning("the model has no entity '\(fetch.owner)'"))
                continue
            }
            do throws(Refusal) {
                let query = try query(fetch, owner, schema, &check)
                try names.take(fetch.name, owner)
                entities[place].queries.append(query)
                warnLosses(fetch, &warnings)
            } catch {
                warnings.add(fetch.place, Self.warning(error.reason))
            }
        }
    }

    /// Warns about parts of a fetch request that its query does not keep. These parts are user info to which the predicate does not refer,
    /// and expressions that RE2 reads with another meaning.
    private func warnLosses(_ fetch: ModelFetch, _ warnings: inout ModelWarnings) {
        // The predicate was parsed before, so an error is impossible here.
        let condition = fetch.predicate.flatMap { try? Condition(parsing: $0) }
        let names = condition?.parameterNames ?? []
        for key in fetch.userInfo.keys.sorted() where !names.contains("FETCHED_PROPERTY.userInfo.\(key)") {
            warnings.add(fetch.place, "the user info '\(key)' is ignored; a query of a schema has no user info")
        }
        for difference in condition?.patterns.flatMap(ModelPattern.differences(in:)) ?? [] {
            warnings.add(fetch.place, "its predicate is kept, but \(difference)")
        }
    }

    /// The reason why a query is ignored.
    struct Refusal: Error { let reason: String }

    /// The names that are in use in each hierarchy. The name of a query must differ from the names of all properties and of all other
    /// queries in the hierarchy.
    private struct Names {
        private var taken: [EntityNumber: Set<String>] = [:]

        init(_ schema: Schema) {
            for entity in schema.entities {
                taken[entity.root, default: []].formUnion(entity.attributes.map(\.name) + entity.relationships.map(\.name))
            }
        }

        mutating func take(_ name: String, _ entity: Entity) throws(Refusal) {
            if let mistake = QueryDefinition.mistake(inName: name) { throw Refusal(reason: mistake) }
            if !taken[entity.root, default: []].insert(name).inserted {
                throw Refusal(reason: "'\(entity.name)', or another entity of its hierarchy, has a property or a query with this name")
            }
        }
    }

    private func query(
        _ fetch: ModelFetch, _ owner: Entity, _ schema: Schema, _ check: inout StoredQueryCheck
    ) throws(Refusal) -> QueryDefinition {
        guard let target = schema.entity(fetch.target) else { throw Refusal(reason: "the model has no entity '\(fetch.target)'") }
        var condition: Condition?
        if let predicate = fetch.predicate {
            let parsed: Condition
            do {
                parsed = try Condition(parsing: predicate)
            } catch {
                let column = error.place?.column.map { " at column \($0)" } ?? ""
                throw Refusal(reason: "its predicate has no equivalent\(column): \(error.message.withoutPeriod)")
            }
            condition = try ModelPredicate(fetch, schema, target).translated(parsed)
        }
        if !fetch.includesSubentities, target.isParent {
            let isExact = Condition.comparison(
                Comparison(Operand(.path(QueryPath(["_entity"]))), .equal, Operand(.literal(.string(target.name)))))
            condition = condition.map { .and([isExact, $0]) } ?? isExact
        }
        // Without `of`, a query that a sub-entity inherits finds objects of this sub-entity. A fetched property always finds objects of
        // the entity that its request names.
        let isOwn = target.name == owner.name && !(fetch.isProperty && owner.isParent)
        let query = QueryDefinition(fetch.name, of: isOwn ? nil : target.name, where: condition?.description, limit: fetch.limit)
        if let mistake = check.mistakes(query, in: owner).first {
            throw Refusal(reason: "its predicate does not fit the model: \(mistake.message.withoutPeriod)")
        }
        return query
    }
}

/// Replaces the parts of a Core Data predicate that have another spelling in a condition.
struct ModelPredicate {
    private let fetch: ModelFetch
    private let schema: Schema
    private let target: Entity

    init(_ fetch: ModelFetch, _ schema: Schema, _ target: Entity) { (self.fetch, self.schema, self.target) = (fetch, schema, target) }

    /// Returns a condition in which the spellings of Core Data are replaced. The recursion is bounded, because the depth of a parsed
    /// condition is limited.
    func translated(_ condition: Condition) throws(ModelQueries.Refusal) -> Condition {
        switch condition.form {
        case .constant: return condition
        case .and(let parts): return .and(try translated(parts))
        case .or(let parts): return .or(try translated(parts))
        case .not(let part): return .not(try translated(part))
        case .related(let quantifier, let path, let part): return .related(quantifier, path, try translated(part))
        case .comparison(var comparison):
            comparison.left = try translated(comparison.left)
            comparison.right = try translated(comparison.right)
            if isTruthValue(comparison.left) { comparison.right = Self.truthValue(comparison.right) }
            if isTruthValue(comparison.right) { comparison.left = Self.truthValue(comparison.left) }
            return .comparison(comparison)
        }
    }

    private func translated(_ parts: [Condition]) throws(ModelQueries.Refusal) -> [Condition] {
        var all: [Condition] = []
        for part in parts { all.append(try translated(part)) }
        return all
    }

    private func translated(_ operand: Operand) throws(ModelQueries.Refusal) -> Operand {
        switch operand.form {
        case .parameter(let name): return Operand(try form(ofParameter: name))
        case .list(let elements):
            var all: [Operand] = []
            for element in elements { all.append(try translated(element)) }
            return Operand(.list(all))
        case .path, .aggregate, .literal: return operand
        }
    }

    private func form(ofParameter name: String) throws(ModelQueries.Refusal) -> Operand.Form {
        let names = name.split(separator: ".").map(String.init)
        switch names.first {
        case "FETCH_SOURCE": return .parameter(([QueryDefinition.sourceName] + names.dropFirst()).joined(separator: "."))
        case "FETCHED_PROPERTY":
            if names.dropFirst() == ["name"] { return .literal(.string(fetch.name)) }
            if names.count == 3, names[1] == "userInfo", let text = fetch.userInfo[names[2]] { return .literal(.string(text)) }
            throw ModelQueries.Refusal(reason: "a schema has no equivalent of '$\(name)'")
        case QueryDefinition.sourceName:
            throw ModelQueries.Refusal(
                reason: "its predicate has a variable '$source', which in a schema means the object that has the query; "
                    + "rename the variable")
        default: return .parameter(name)
        }
    }

    /// Converts 1 and 0 to truth values, because Core Data may write truth values as these numbers.
    private static func truthValue(_ operand: Operand) -> Operand {
        switch operand.form {
        case .literal(.number("1")): Operand(.literal(.bool(true)))
        case .literal(.number("0")): Operand(.literal(.bool(false)))
        case .list(let elements): Operand(.list(elements.map(truthValue)))
        default: operand
        }
    }

    private func isTruthValue(_ operand: Operand) -> Bool {
        guard case .path(let path) = operand.form else { return false }
        // If the schema lacks one of the names in the path, the mistake is reported later, when the whole query is checked.
        return (try? SchemaPath(path, from: target, schema, at: TextOffset(nil)))?.kind == .bool
    }
}

extension Entity {
    fileprivate var isParent: Bool { family.count > 1 }
}

extension String {
    /// The text without a period at its end, because the warning that contains the text ends with a period.
    fileprivate var withoutPeriod: String { hasSuffix(".") ? String(dropLast()) : self }
}
