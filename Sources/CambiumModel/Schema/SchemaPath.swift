/// A path of a query with its names resolved in a schema.
package struct SchemaPath {
    /// The end of a path: the value of an attribute, an object, or the name of an entity.
    package enum End {
        case attribute(Attribute)
        /// An object of the entity, or of one of its sub-entities.
        case object(Entity)
        /// The name of the entity of an object.
        case entityName(Entity)
    }

    /// The relationships that the path follows, in order.
    package private(set) var relationships: [Relationship] = []
    package private(set) var end: End
    private let path: QueryPath

    /// Resolves the names of a path. Throws a `QueryMistake` for the first name that the schema does not have at its position.
    package init(_ path: QueryPath, from entity: Entity, _ schema: Schema, at offset: TextOffset) throws(QueryMistake) {
        self.path = path
        end = .object(entity)
        for (index, name) in path.names.enumerated() {
            guard case .object(let entity) = end else {
                throw QueryMistake("'\(path.description.excerpt)' continues after a value. \(remedy(forPathTo: name))", at: offset)
            }
            switch name {
            case "_id": end = .object(entity)
            case "_entity": end = .entityName(entity)
            default:
                if let attribute = entity.attribute(name) {
                    end = .attribute(attribute)
                } else if let relationship = entity.relationship(name), let target = schema.entity(relationship.destination) {
                    relationships.append(relationship)
                    end = .object(target)
                } else {
                    let message = schema.unknown(name, in: entity, isAfterMembers: relationships.last?.isToMany ?? false)
                    throw QueryMistake(unknownName: message, at: offset, after: index)
                }
            }
        }
    }

    /// Returns the remedy for a path that continues with `name` after the value at `end`.
    private func remedy(forPathTo name: String) -> String {
        guard case .attribute(let attribute) = end, attribute.type == .json else { return "End the path before '\(name.excerpt)'." }
        return "A path does not lead into JSON. Compare '\(attribute.name)' as a whole, or store '\(name.excerpt)' in an attribute."
    }

    package var isToMany: Bool { relationships.contains(where: \.isToMany) }

    package var kind: ValueKind {
        switch end {
        case .attribute(let attribute): ValueKind(attribute.type)
        case .object(let entity): .object(entity.root)
        case .entityName: .text
        }
    }

    /// Checks that a path to several values has a quantifier, and that a path to one value has no quantifier.
    package func check(_ quantifier: Quantifier?, at offset: TextOffset) throws(QueryMistake) {
        if isToMany, quantifier == nil {
            throw QueryMistake(
                "'\(path)' leads to several values. Write any, all or none before the path, or count with @count.", at: offset)
        }
        if !isToMany, let quantifier {
            throw QueryMistake("'\(path)' leads to one value only. Remove '\(quantifier.rawValue)' before the path.", at: offset)
        }
    }
}

extension Schema {
    /// Returns a kind in words, for messages about two kinds. Objects of two hierarchies are of different kinds, so the text names the
    /// hierarchy.
    package func text(of kind: ValueKind) -> String {
        if case .object(let root) = kind, let entity = entity(root) { "\(kind.text) of '\(entity.name)'" } else { kind.text }
    }

    /// The maximum number of names that an error lists.
    private static let listedCountMax = 12

    /// Returns the message stating that an entity has no property with the given name.
    ///
    /// - Parameter isAfterMembers: Whether the name follows a to-many relationship, so that it may mean a function.
    fileprivate func unknown(_ name: String, in entity: Entity, isAfterMembers: Bool) -> String {
        let problem = "'\(entity.name)' has no attribute or relationship '\(name.excerpt)'."
        if let remedy = entity.newName(ofAttribute: name) ?? entity.newName(ofRelationship: name) { return "\(problem) \(remedy)" }
        if isAfterMembers, AggregateFunction(rawValue: name) != nil { return "\(problem) Write @\(name) for the function." }
        let heirs = subEntities(of: entity, having: name)
        if !heirs.isEmpty { return "\(problem) Only sub-entities have it: \(Self.list(heirs)). Use one of them instead." }
        let names = (entity.attributes.map(\.name) + entity.relationships.map(\.name)).sorted()
        if names.isEmpty { return "\(problem) The entity has only _id and _entity." }
        return "\(problem) Use one of the entity's properties: \(Self.list(names))."
    }

    private static func list(_ names: [String]) -> String {
        let rest = names.count > listedCountMax ? " and \(names.count - listedCountMax) more" : ""
        return names.prefix(listedCountMax).joined(separator: ", ") + rest
    }

    /// Returns the names of the sub-entities of an entity that have a property with the given name.
    private func subEntities(of entity: Entity, having name: String) -> [String] {
        let family = definition.entities.compactMap { self.entity($0.name) }.filter { entity.family.contains($0.number) }
        return family.filter { $0.attribute(name) != nil || $0.relationship(name) != nil }.map(\.name)
    }
}
