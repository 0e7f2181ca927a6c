import CambiumGraph
internal import CambiumJSON
import CambiumModel

/// The rules by which an export writes the objects of one entity in the form of a mapping. An import with the mapping reads the same
/// objects back.
final class MappedKeys {
    enum Content {
        case attribute(Attribute, Field, ReadingPlan.Conversion?)
        case end(Relationship, EndHandle)
    }

    struct Property {
        let rule: MappingTree.Property
        let reversal: FunctionReversal
        let content: Content
        let isIdentity: Bool
    }

    let entity: Entity
    /// The JSON pointer to the rules for the entity in the mapping.
    let pointer: String
    let properties: [Property]
    /// The attributes and to-one relationships that identify objects. `properties` contains them, too.
    let identity: [IdentityComponent]
    /// The key that names the entity of an object, and the path to that key. Both are used only for objects whose declared entity is
    /// `entity`. The declared entity of an object is the exported entity, or the destination of the relationship that contains the object.
    let discriminator: (rule: Discriminator, path: PropertyPath)?
    /// Whether the mapping has a discriminator. If so, the discriminator is written even if only one entity is possible.
    let isDiscriminated: Bool

    init(_ entity: Entity, _ graph: Graph, _ resolver: MappingResolver) throws(CambiumError) {
        let outcome = try resolver.resolve(entity)
        let (rules, conversions) = try resolver.properties(entity)
        let identity = outcome.identity.compactMap { number in
            entity.attribute(number).map { IdentityComponent.attribute($0) } ?? entity.relationship(number).map { .relationship($0) }
        }
        self.entity = entity
        self.identity = identity
        pointer = resolver.rules(entity)?.pointer ?? ""
        isDiscriminated = resolver.rules(entity)?.objects.entityFrom != nil
        if let rule = outcome.discriminator, let path = outcome.discriminatorPath {
            discriminator = (rule, path)
        } else {
            discriminator = nil
        }
        var properties: [Property] = []
        for rule in rules where rule.rule.source != .nothing {
            let reversal = FunctionReversal(rule.rule.functions)
            switch rule.target {
            case .attribute(let index):
                let attribute = entity.attributes[index]
                let content = Content.attribute(attribute, graph.field(attribute), conversions[index])
                let isIdentity = identity.contains { $0.attribute === attribute }
                properties.append(Property(rule: rule, reversal: reversal, content: content, isIdentity: isIdentity))
            case .relationship(let index):
                let relationship = entity.relationships[index]
                let content = Content.end(relationship, graph.end(relationship))
                let isIdentity = identity.contains { $0.relationship === relationship }
                properties.append(Property(rule: rule, reversal: reversal, content: content, isIdentity: isIdentity))
            case .mapped: break
            }
        }
        self.properties = properties
    }

    /// The attribute of an identity that consists of exactly one attribute; otherwise `nil`.
    var soleIdentity: Attribute? { identity.count == 1 ? identity[0].attribute : nil }

    /// Returns a text by which the discriminator names an entity; `nil` if there is no such text. If there are several such texts, returns
    /// the first text in byte order.
    func text(for entity: Entity) -> String? {
        guard let map = discriminator?.rule.map else { return nil }
        let texts = map.filter { $0.value == entity.name }.keys
        if let first = texts.min(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) { return first }
        return map[entity.name] == nil ? entity.name : nil
    }
}

/// The properties in the identity of an object, and the object's values of these properties. The value of a relationship is the id of its
/// target.
struct MappedIdentity: Hashable {
    let properties: [PropertyNumber]
    let values: [Value]
}

extension MappedKeys.Property {
    var pointer: String { rule.place }

    /// Returns the value that an import reads from a row for the property, before the conversion to the property's type. Returns `nil` if
    /// the row has no such value.
    func given(_ row: RowTree) throws(ConversionError) -> JSONValue? {
        switch rule.rule.source {
        case .constant(let value): return try rule.rule.functions.apply(value)
        case .join(_, let separator):
            let present = rule.paths.compactMap { row.value(at: $0) }
            if present.isEmpty { return nil }
            let values = present.filter { $0 != .null }
            if values.isEmpty { return .null }
            return try [ValueFunction.join(separator)].apply(.array(values)).applying(rule.rule.functions)
        case .name, .path, .coalesce, .nothing:
            let present = rule.paths.compactMap { row.value(at: $0) }
            guard let first = present.first else { return nil }
            return try rule.rule.functions.apply(present.first { $0 != .null } ?? first)
        }
    }

    /// Returns the JSON to write at each of the property's paths, so that an import reads `value` back.
    func written(_ value: JSONValue) -> [(path: PropertyPath, value: JSONValue)] {
        switch rule.rule.source {
        case .constant(let constant): return rule.paths.map { ($0, constant) }
        case .join(_, let separator): return parts(value, separator)
        case .name, .path, .coalesce, .nothing: return rule.paths.prefix(1).map { ($0, value) }
        }
    }

    /// Cuts a text at the separators, into one part for each path of the property. The last path receives the rest.
    private func parts(_ value: JSONValue, _ separator: String) -> [(path: PropertyPath, value: JSONValue)] {
        guard case .string(let text) = value else { return rule.paths.enumerated().map { ($1, $0 == 0 ? value : .null) } }
        let mark = Array(separator.utf8)
        let cut = ByteText.split(Array(text.utf8), mark)
        let last = min(cut.count, rule.paths.count) - 1
        var parts = cut[..<last].map { Array($0) }
        parts.append(Array(cut[last...].joined(separator: mark)))
        return rule.paths.enumerated().map { index, path in
            (path, index <= last ? .string(String(decoding: parts[index], as: UTF8.self)) : .null)
        }
    }
}

extension JSONValue {
    fileprivate func applying(_ functions: [ValueFunction]) throws(ConversionError) -> JSONValue { try functions.apply(self) }
}
