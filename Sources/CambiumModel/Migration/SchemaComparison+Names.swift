internal import CambiumJSON

/// The entities and properties of the old schema, with the names that they have in the new schema.
extension SchemaComparison {
    /// Returns whether the new schema uses the name of an old entity for another entity, because the old entity was removed or replaced.
    func isReused(_ entity: String?) -> Bool { entity.map { newNames[$0] == nil && matcher.new.entity($0) != nil } ?? false }

    /// Returns the JSON of a property of the old schema, with the new names of renamed entities and properties.
    func property(_ key: SchemaMatcher.Key) -> (json: JSONValue, number: UInt16?)? {
        if var attribute = oldAttributes[key] {
            attribute.derivation = attribute.derivation.map { named($0, key.entity) }
            return (attribute.json(withNumbers: false), attribute.number)
        }
        guard var relationship = oldRelationships[key] else { return nil }
        relationship.inverse = relationship.inverse.map { name in
            newKeys[.init(entity: relationship.destination, property: name)]?.property ?? name
        }
        relationship.destination = newNames[relationship.destination] ?? relationship.destination
        return (relationship.json(withNumbers: false), relationship.number)
    }

    /// Returns the expression of a derived attribute of the old schema, with the new names of renamed properties.
    private func named(_ derivation: Derivation, _ name: String) -> Derivation {
        guard let entity = oldByName[name] else { return derivation }
        let destination = derivation.names.relationship.flatMap { relationship in
            matcher.old.entity(name)?.relationship(relationship).flatMap { matcher.old.entity($0.destination)?.name }
        }
        let reader = derivation.names.relationship == nil ? entity : destination.flatMap { oldByName[$0] }
        return derivation.renamed(
            relationship: { newName(of: $0, entity) },
            attribute: { attribute in reader.map { newName(of: attribute, $0) } ?? attribute })
    }

    /// Returns an entity of the old schema, with the new names of its renamed properties and of its parent.
    func named(_ entity: EntityDefinition) -> EntityDefinition {
        var named = entity
        if !renamed.isEmpty {
            named.identity = entity.identity.map { newName(of: $0, entity) }
            named.unique = entity.unique.map { $0.map { newName(of: $0, entity) } }
            named.indexes = entity.indexes { newName(of: $0, entity) }
        }
        named.parent = entity.parent.map { newNames[$0] ?? $0 }
        return named
    }

    /// Returns the new name of a property that an old entity declares or inherits.
    private func newName(of property: String, _ entity: EntityDefinition) -> String {
        var next: EntityDefinition? = entity
        while let holder = next {
            if let name = renamed[holder.name]?[property] { return name }
            next = holder.parent.flatMap { oldByName[$0] }
        }
        return property
    }
}
