internal import CambiumJSON

/// The entities and properties of the old schema, with the names that they have in the new schema.
extension SchemaComparison {
    /// Returns whether the new schema uses the name of an old entity for another entity, because the old entity was removed or replaced.
    func isReused(_ entity: String?) -> Bool { entity.map { newNames[$0] == nil && matcher.new.entity($0) != nil } ?? false }

    /// Returns the keys in the JSON form of an old entity under which a name means another entity or property in the new schema.
    func reusedKeys(of entity: EntityDefinition) -> Set<String> {
        func hasReused(_ sets: [[String]]) -> Bool { sets.contains { $0.contains { isReused($0, entity) } } }
        var keys: Set<String> = isReused(entity.parent) ? ["parent"] : []
        if hasReused([entity.identity]) { keys.insert("identity") }
        if hasReused(entity.unique) { keys.insert("unique") }
        if hasReused(entity.indexes.map { $0.map { IndexComponentText($0).name } }) { keys.insert("indexes") }
        return keys
    }

    /// Returns the keys in the JSON form of an old property under which a name means another entity or property in the new schema.
    func reusedKeys(of key: SchemaMatcher.Key, in entity: EntityDefinition) -> Set<String> {
        if isReused(oldRelationships[key]?.destination) { return ["to"] }
        guard let attribute = oldAttributes[key] else { return [] }
        guard let derivation = attribute.derivation else {
            let root = matcher.old.entity(entity.name)?.root
            return root.map { followedNames.isOther(in: attribute, ofRoot: $0) } == true ? ["userInfo"] : []
        }
        let isOther =
            derivation.names.relationship.map { isReused($0, entity) } ?? false
            || reader(of: derivation, entity).map { reader in derivation.names.attribute.map { isReused($0, reader) } ?? false } ?? false
        return isOther ? ["derived"] : []
    }

    /// Returns whether the new schema reuses the name of a removed or replaced old property. The name is reused if a different old
    /// property, or the replacement of a different old property, has the name in the new schema. Returns `false` if only the property's own
    /// replacement has the name.
    ///
    /// - Parameter entity: the old entity that declares or inherits the property.
    private func isReused(_ property: String, _ entity: EntityDefinition) -> Bool {
        guard let key = oldKey(of: property, entity), newKeys[key] == nil, let newKey = newKey(of: property, entity) else { return false }
        let found = matcher.oldKeys(of: newKey) + (matcher.replaced[newKey].map { [$0.old] } ?? [])
        return !found.isEmpty && !found.contains(key)
    }

    /// Returns whether a name in an old query of an entity means another property in the new schema. This is also the case if this
    /// migration renames the old property and another property gets its name. A comparison of two queries does not translate the names in
    /// their texts.
    func hasReusedNames(_ query: QueryDefinition, _ entity: EntityDefinition) -> Bool {
        guard let source = matcher.old.entity(entity.name) else { return false }
        return QueryNames(query, of: source, in: matcher.old).all.contains { name, holder in meansOther(name, of: holder) }
    }

    /// Returns whether the name of a property that an old entity declares or inherits means another property in the new schema.
    func meansOther(_ name: String, of holder: Entity) -> Bool {
        guard let holder = oldByName[holder.name], let key = oldKey(of: name, holder), let newKey = newKey(of: name, holder) else {
            return false
        }
        return !matcher.oldKeys(of: newKey).contains(key) && matcher.replaced[newKey]?.old != key
    }

    /// Returns the key of the property that an old entity, in the new schema, declares or inherits under this name.
    private func newKey(of property: String, _ entity: EntityDefinition) -> SchemaMatcher.Key? {
        guard let new = newNames[entity.name].flatMap({ matcher.new.entity($0) }),
            let number = new.attribute(property)?.entity ?? new.relationship(property)?.entity,
            let holder = matcher.new.entity(number)
        else { return nil }
        return SchemaMatcher.Key(entity: holder.name, property: property)
    }

    /// Returns the key of a property that an old entity declares or inherits.
    private func oldKey(of property: String, _ entity: EntityDefinition) -> SchemaMatcher.Key? {
        var next: EntityDefinition? = entity
        while let holder = next {
            let key = SchemaMatcher.Key(entity: holder.name, property: property)
            if oldAttributes[key] != nil || oldRelationships[key] != nil { return key }
            next = holder.parent.flatMap { oldByName[$0] }
        }
        return nil
    }

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
        let reader = reader(of: derivation, entity)
        return derivation.renamed(
            relationship: { newName(of: $0, entity) },
            attribute: { attribute in reader.map { newName(of: attribute, $0) } ?? attribute })
    }

    /// Returns the old entity whose attribute a derived attribute reads. `entity` is the old entity that has the derived attribute.
    private func reader(of derivation: Derivation, _ entity: EntityDefinition) -> EntityDefinition? {
        guard let name = derivation.names.relationship else { return entity }
        let relationship = matcher.old.entity(entity.name)?.relationship(name)
        return relationship.flatMap { matcher.old.entity($0.destination)?.name }.flatMap { oldByName[$0] }
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
        oldKey(of: property, entity).flatMap { renamed[$0.entity]?[property] } ?? property
    }
}
