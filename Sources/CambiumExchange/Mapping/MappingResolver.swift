internal import CambiumJSON
import CambiumModel

/// Checks a mapping against a schema, once for each import. `resolve` returns the rules for each entity.
struct MappingResolver {
    /// The rules for the objects of one entity.
    struct Outcome {
        /// The plan of the mapping; `nil` if each property is read from the key with its name.
        var plan: ReadingPlan?
        /// The key that names the entity of an object; `nil` if no key names it.
        var discriminator: Discriminator?
        /// The path to the key of `discriminator`.
        var discriminatorPath: PropertyPath?
        /// The attributes and to-one relationships by which the import finds existing objects; empty if the import always inserts objects.
        var identity: [PropertyNumber] = []
        /// The index over the properties in `identity`; `nil` if the schema has no such index.
        var index: UniqueSet?
        /// The entity to which the rules belong. Without an index, the import finds only objects of this entity and of its sub-entities.
        var scope: Entity?
        /// The properties that the mapping does not read.
        var unread: Set<KeyTable.Target> = []

        /// - Parameter discriminator: the key that names the entity of an object, unless the mapping states another key.
        init(_ set: UniqueSet?, _ discriminator: Discriminator?) {
            identity = set?.properties ?? []
            index = set
            self.discriminator = discriminator
            discriminatorPath = discriminator.map { PropertyPath(key: $0.key) }
        }
    }

    private let mapping: ImportMapping?
    private let schema: Schema
    /// The entity to which `mapping.objects` applies.
    private let entityName: String

    /// Checks the names of a mapping. Throws `.invalidInput` with the JSON pointer to a name that is not in the schema.
    init(_ mapping: ImportMapping?, importing entity: Entity, _ schema: Schema) throws(CambiumError) {
        self.mapping = mapping
        self.schema = schema
        entityName = mapping?.entity ?? entity.name
        guard let mapping else { return }
        guard let top = schema.entity(entityName) else {
            throw mapping.mistake("/entity", Self.unknownEntity(entityName, schema))
        }
        guard top.family.contains(entity.number) else {
            throw mapping.mistake("/entity", "the mapping is for '\(top.name)', and '\(entity.name)' is not a sub-entity of '\(top.name)'")
        }
        try check(mapping.objects, "", top, mapping)
        for (name, objects) in mapping.nested.sorted(by: { $0.key < $1.key }) {
            let pointer = Self.nested(name)
            guard let entity = schema.entity(name) else { throw mapping.mistake(pointer, Self.unknownEntity(name, schema)) }
            if name == entityName {
                throw mapping.mistake(pointer, "the rules for '\(name)' belong to the top level of the mapping; move them there")
            }
            try check(objects, pointer, entity, mapping)
        }
    }

    private static func nested(_ name: String) -> String { "/nested/" + JSONPointer.escaped(name) }

    private static func unknownEntity(_ name: String, _ schema: Schema) -> String {
        "the schema has no entity '\(name)'" + remedy(schema.newName(ofEntity: name))
    }

    /// Returns the end of a message, without a final period. `newName` is the sentence that states the new name of a renamed element.
    private static func remedy(_ newName: String?) -> String { newName.map { ". \($0.dropLast())" } ?? "" }

    /// Checks that each name in the rules belongs to the entity or to one of its sub-entities.
    private func check(
        _ objects: ObjectMapping, _ pointer: String, _ entity: Entity, _ mapping: ImportMapping
    ) throws(CambiumError) {
        let family = entity.family.compactMap { schema.entity($0) }
        for name in objects.attributes.keys.sorted() where !family.contains(where: { $0.attribute(name) != nil }) {
            let remedy = Self.remedy(family.lazy.compactMap { $0.newName(ofAttribute: name) }.first)
            throw mapping.mistake(
                pointer + "/attributes/" + JSONPointer.escaped(name), "'\(entity.name)' has no attribute '\(name)'\(remedy)")
        }
        for name in objects.relationships.keys.sorted() where !family.contains(where: { $0.relationship(name) != nil }) {
            let remedy = Self.remedy(family.lazy.compactMap { $0.newName(ofRelationship: name) }.first)
            throw mapping.mistake(
                pointer + "/relationships/" + JSONPointer.escaped(name), "'\(entity.name)' has no relationship '\(name)'\(remedy)")
        }
        for (text, name) in (objects.entityFrom?.map ?? [:]).sorted(by: { $0.key < $1.key }) where schema.entity(name) == nil {
            throw mapping.mistake(pointer + "/entityFrom/map/" + JSONPointer.escaped(text), Self.unknownEntity(name, schema))
        }
    }

    /// Returns the rules for an entity: its own rules, or the rules of its nearest ancestor that has rules.
    func resolve(_ entity: Entity) throws(CambiumError) -> Outcome {
        guard let mapping, let (objects, pointer) = rules(entity) else { return outcome(entity) }
        return try resolve(entity, mapping, objects, pointer)
    }

    /// Returns the mapping's rules for an entity, and the JSON pointer to these rules. The rules of the nearest ancestor apply if the
    /// entity has none. Returns `nil` if neither the entity nor an ancestor has rules.
    func rules(_ entity: Entity) -> (objects: ObjectMapping, pointer: String)? {
        guard let mapping, let owner = owner(ofRulesFor: entity) else { return nil }
        if owner.name == entityName { return (mapping.objects, "") }
        return mapping.nested[owner.name].map { ($0, Self.nested(owner.name)) }
    }

    /// Returns the entity to which the rules for `entity` belong: `entity` itself, or its nearest ancestor that has rules.
    private func owner(ofRulesFor entity: Entity) -> Entity? {
        var next: Entity? = entity
        while let candidate = next {
            if candidate.name == entityName || mapping?.nested[candidate.name] != nil { return candidate }
            next = candidate.parent.flatMap { schema.entity($0) }
        }
        return nil
    }

    /// Returns the rules by which an import reads objects of an entity if the mapping has no rules for the entity.
    private func outcome(_ entity: Entity) -> Outcome {
        Outcome(entity.uniqueSets.first { $0.isIdentity }, discriminator(entity))
    }

    /// Returns the discriminator: the key that names the entity of an object. `entity` is the declared entity of the object: the imported
    /// entity, or the destination of the relationship that contains the object.
    ///
    /// If the mapping states no discriminator, returns the key that exports write. Returns `nil` if a property of the entity or of a
    /// sub-entity has the name of that key, or is read from that key.
    func discriminator(_ entity: Entity) -> Discriminator? {
        let key = Discriminator.exportedKey
        let objects = rules(entity)?.objects
        if let own = objects?.entityFrom { return own }
        let family = entity.family.lazy.compactMap { schema.entity($0) }
        let isTaken = family.contains { $0.attribute(key) != nil || $0.relationship(key) != nil } || objects?.reads(key) == true
        return isTaken ? nil : Discriminator(key: key)
    }

    /// Returns the discriminator of an entity for CSV. Its key is the name of its column: the whole path, without escapes.
    func discriminatorColumn(_ entity: Entity) -> Discriminator? {
        guard var column = discriminator(entity) else { return nil }
        if let objects = rules(entity)?.objects, objects.entityFrom != nil,
            let path = PropertyPath(column.key, delimiter: objects.delimiter, escape: objects.escape)
        {
            column.key = path.literal
        }
        return column
    }

    /// Returns the keys with which the paths of the mapping begin, for an entity and its sub-entities; `nil` if there is no mapping.
    func firstKeys(_ entity: Entity) -> Set<String>? {
        guard let mapping else { return nil }
        let owners = Set(entity.family.compactMap { schema.entity($0).flatMap(owner(ofRulesFor:))?.name })
        return Set(owners.flatMap { ($0 == entityName ? mapping.objects : mapping.nested[$0])?.firstKeys ?? [] })
    }

    /// Returns the attribute by which an import finds the objects of an entity. Returns `nil` if it finds them by several properties, by a
    /// relationship, or not at all.
    func soleIdentityAttribute(of entity: Entity) -> Attribute? {
        guard let names = rules(entity)?.objects.identity else { return entity.soleIdentityAttribute }
        return Set(names).count == 1 ? entity.attribute(names[0]) : nil
    }

    /// Returns the rule for each property of an entity, and the way in which each attribute's values are converted.
    func properties(_ entity: Entity) throws(CambiumError) -> (
        properties: [MappingTree.Property], conversions: [ReadingPlan.Conversion?]
    ) {
        let (objects, pointer) = rules(entity) ?? (ObjectMapping(), "")
        var tree = MappingTree(entity, objects)
        try tree.read { (place: String, message: String) in mistake(pointer + place, message) }
        return (tree.properties, tree.conversions)
    }

    func mistake(_ pointer: String, _ message: String) -> CambiumError { (mapping ?? ImportMapping()).mistake(pointer, message) }

    private func resolve(
        _ entity: Entity, _ mapping: ImportMapping, _ objects: ObjectMapping, _ pointer: String
    ) throws(CambiumError) -> Outcome {
        var outcome = outcome(entity)
        if let names = objects.identity {
            let wanted = try identity(names, entity) { mapping.mistake(pointer + "/identity", $0) }
            let isOwn = Set(wanted) == Set(entity.identity.map(\.number))
            if !isOwn, let link = wanted.lazy.compactMap(entity.relationship).first {
                throw mapping.mistake(
                    pointer + "/identity",
                    "'\(link.name)' is a relationship, so a mapping cannot choose it; name the whole identity of '\(entity.name)' in the "
                        + "schema, or attributes only")
            }
            outcome.index = wanted.isEmpty ? nil : entity.uniqueSets.last { Set($0.properties) == Set(wanted) }
            outcome.identity = outcome.index?.properties ?? wanted
            outcome.scope = owner(ofRulesFor: entity)
        }
        if let discriminator = objects.entityFrom {
            guard let path = PropertyPath(discriminator.key, delimiter: objects.delimiter, escape: objects.escape) else {
                let flaw = "the path '\(discriminator.key)' has an empty key; write a key before and after each '\(objects.delimiter)'"
                throw mapping.mistake(pointer + "/entityFrom/key", flaw)
            }
            if let flaw = path.flaw { throw mapping.mistake(pointer + "/entityFrom/key", flaw) }
            outcome.discriminator = discriminator
            outcome.discriminatorPath = path
        }
        var tree = MappingTree(entity, objects)
        try tree.read { (place: String, message: String) in mapping.mistake(pointer + place, message) }
        if let path = outcome.discriminatorPath, path.keys.count > 1 { tree.pass(path) }
        outcome.plan = tree.plan
        outcome.unread = tree.unread
        return outcome
    }

    private func identity(
        _ names: [String], _ entity: Entity, _ mistake: (String) -> CambiumError
    ) throws(CambiumError) -> [PropertyNumber] {
        var wanted: [PropertyNumber] = []
        for name in names {
            guard let attribute = entity.attribute(name) else {
                if let relationship = entity.relationship(name) {
                    if !wanted.contains(relationship.number) { wanted.append(relationship.number) }
                    continue
                }
                throw mistake("'\(entity.name)' has no attribute '\(name)'" + Self.remedy(entity.newName(ofAttribute: name)))
            }
            if attribute.isDerived { throw mistake("'\(name)' is derived, so an import cannot find objects by it") }
            if !wanted.contains(attribute.number) { wanted.append(attribute.number) }
        }
        return wanted
    }
}

/// The properties that a mapping reads from each key of a row. The table of an entity is built when its first key is looked up.
final class KeyReaders {
    private let resolver: MappingResolver
    private var known: [EntityNumber: [String: [String]]] = [:]

    init(_ resolver: MappingResolver) { self.resolver = resolver }

    /// Returns the names of an entity's properties that are read from a key, or from a path that begins with the key.
    func names(_ key: String, _ entity: Entity) -> [String] {
        if let readers = known[entity.number] { return readers[key] ?? [] }
        let readers = (resolver.rules(entity)?.objects ?? ObjectMapping()).readers(in: entity)
        known[entity.number] = readers
        return readers[key] ?? []
    }
}
