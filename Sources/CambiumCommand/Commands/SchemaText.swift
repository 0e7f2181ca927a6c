import Cambium
import CambiumJSON

/// A schema in a form for human readers. This form contains everything that the JSON form contains.
struct SchemaText {
    private let schema: Schema
    /// The expressions of derived attributes, by the name of the entity that declares the attribute, and by the name of the attribute.
    private let derivations: [String: [String: Derivation]]

    init(_ schema: Schema) {
        self.schema = schema
        var derivations: [String: [String: Derivation]] = [:]
        for entity in schema.definition.entities {
            for attribute in entity.attributes where attribute.derivation != nil {
                derivations[entity.name, default: [:]][attribute.name] = attribute.derivation
            }
        }
        self.derivations = derivations
    }

    var lines: [String] { schema.entities.flatMap { lines(of: $0) } }

    /// Returns the lines of an entity: its name, its unique sets and indexes, and its own and inherited properties.
    func lines(of entity: Entity) -> [String] {
        var title = [entity.name + (entity.parent.flatMap { schema.entity($0) }.map { ": \($0.name)" } ?? "")]
        if entity.isAbstract { title[0] += " (abstract)" }
        if !entity.identity.isEmpty { title.append("identity \(entity.identity.map(\.name).joined(separator: ", "))") }
        let rest = sets(entity) + userInfo(entity.userInfo) + formerName(entity.formerName)
        let properties =
            entity.attributes.map { ($0.name, text($0)) } + entity.relationships.map { ($0.name, text($0)) }
            + entity.queries.map { ($0.name, text($0.definition)) }
        let width = properties.map(\.0.columnCount).max() ?? 0
        return [title.joined(separator: "  ")] + rest.map { "  (\($0))" }
            + properties.map { name, text in "  \(name.padded(to: width))  \(text)" }
    }

    private func sets(_ entity: Entity) -> [String] {
        let names = { (number: PropertyNumber) in entity.attribute(number)?.name ?? "\(number)" }
        let unique = entity.uniqueSets.filter { !$0.isIdentity }.map { set in
            "unique \(entity.names(of: set).joined(separator: ", "))"
        }
        let indexes = entity.indexes.map { index in
            let components = index.components.map { component in
                (component.direction == .descending ? "-" : "") + names(component.attribute)
                    + (component.comparison == .folded ? "[c]" : "")
            }
            return "index \(components.joined(separator: ", "))"
        }
        return unique + indexes
    }

    // MARK: Properties

    private func text(_ attribute: Attribute) -> String {
        var parts = [attribute.type.rawValue, attribute.isOptional ? "optional" : "mandatory"]
        if !attribute.defaultValue.isNull { parts.append("default \(text(attribute.defaultValue))") }
        let rules = attribute.constraints
        parts += bounds(rules.min.map(text), rules.max.map(text), "value")
        parts += bounds(rules.minLength.map(String.init), rules.maxLength.map(String.init), "length")
        if let regex = rules.regex { parts.append("regex \(regex.pattern)") }
        if let allowed = rules.allowed { parts.append("one of \(allowed.map(text).joined(separator: " "))") }
        if attribute.isTransient { parts.append("transient") }
        let holder = schema.entity(attribute.entity)?.name
        if let derivation = holder.flatMap({ derivations[$0]?[attribute.name] }) {
            parts.append("derived \(derivation.key) \(derivation.path)")
        }
        return (parts + userInfo(attribute.userInfo) + formerName(attribute.formerName)).joined(separator: ", ")
    }

    private func text(_ relationship: Relationship) -> String {
        var parts = ["-> \(schema.entity(relationship.destination)?.name ?? "")"]
        if relationship.isToMany { parts.append(relationship.isOrdered ? "many, ordered" : "many") }
        parts.append(relationship.minCount > 0 ? "mandatory" : "optional")
        if relationship.isToMany {
            let minimum = relationship.minCount > 0 ? String(relationship.minCount) : nil
            parts += bounds(minimum, relationship.maxCount.map(String.init), "count")
        }
        if let inverse = relationship.inverse, let name = schema.relationship(inverse, ofRoot: relationship.destinationRoot)?.name {
            parts.append("inverse \(name)")
        }
        if relationship.deleteRule != .nullify { parts.append("on delete \(relationship.deleteRule.rawValue)") }
        if relationship.orphanRule != .keep { parts.append("orphans \(relationship.orphanRule.rawValue)") }
        return (parts + userInfo(relationship.userInfo) + formerName(relationship.formerName)).joined(separator: ", ")
    }

    private func text(_ query: QueryDefinition) -> String {
        var parts = [query.target.map { "query of \($0)" } ?? "query"]
        if let condition = query.condition { parts.append("where \(condition)") }
        if let sort = query.sort { parts.append("sort \(sort)") }
        if let limit = query.limit { parts.append("limit \(limit)") }
        return parts.joined(separator: ", ")
    }

    // MARK: Parts

    /// Returns the description of a minimum and a maximum. It is empty if there is neither a minimum nor a maximum.
    private func bounds(_ minimum: String?, _ maximum: String?, _ noun: String) -> [String] {
        switch (minimum, maximum) {
        case (nil, nil): []
        case (let minimum?, nil): ["\(noun) at least \(minimum)"]
        case (nil, let maximum?): ["\(noun) at most \(maximum)"]
        case (let minimum?, let maximum?): [minimum == maximum ? "\(noun) \(minimum)" : "\(noun) \(minimum) to \(maximum)"]
        }
    }

    private func userInfo(_ map: [String: String]) -> [String] {
        map.sorted { $0.key < $1.key }.map { "userInfo \($0.key)=\(text(.string($0.value)))" }
    }

    private func formerName(_ name: String?) -> [String] { name.map { ["renamed from \($0)"] } ?? [] }

    /// Returns a value as text. Quotation marks enclose a text that is hard to distinguish from the text around it.
    private func text(_ value: Value) -> String {
        guard case .string(let text) = value else { return value.text }
        let isPlain = !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || "_-./:".contains($0) }
        return isPlain ? text : JSONValue.string(text).text
    }
}
