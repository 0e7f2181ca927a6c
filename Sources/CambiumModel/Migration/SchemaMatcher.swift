/// A match of the entities and properties of a new schema with those of the old schema, by name. If an old entity or property cannot be
/// converted, the matching new entity or property counts as a replacement, and the matcher records the reason.
struct SchemaMatcher {
    struct Key: Hashable {
        let entity: String
        let property: String
    }

    let old: Schema
    /// The new schema. The numbers in this schema have a meaning only if the schema comes from a log.
    let new: Schema
    /// For each new entity with a match, the name of the old entity.
    private(set) var entities: [String: String] = [:]
    private(set) var properties: [Key: Key] = [:]
    /// The new attributes that take values of several old attributes, or that share the values of one old attribute. The value of an
    /// element has the keys of all these old attributes, one of which may be in `properties`, too.
    private(set) var shared: [Key: [Key]] = [:]
    /// For each new entity that is the parent of an old root, the name of this root. The objects of the hierarchy keep their ids.
    private(set) var adopted: [String: String] = [:]
    /// For each new entity that replaces an old entity, the name of the old entity and the reason.
    private(set) var replacedEntities: [String: (old: String, reason: String)] = [:]
    /// For each new property that replaces an old property, the key of the old property and the reason.
    private(set) var replaced: [Key: (old: Key, reason: String)] = [:]
    var mistakes = SchemaMistakes()
    private let oldNames: [String: [NameMatch.Name]]
    private let newNames: [String: [NameMatch.Name]]

    init(old: Schema, new: Schema) throws(CambiumError) {
        self.old = old
        self.new = new
        (oldNames, newNames) = (Self.propertyNames(old), Self.propertyNames(new))
        matchEntities()
        matchRoots()
        let relatives = OldRelatives(self)
        for entity in new.entities { matchProperties(entity, relatives) }
        matchMoved(relatives)
        checkAttributes()
        checkRelationships()
        try mistakes.throwIfAny()
    }

    /// Matches entities and properties by their numbers. In a log, a number identifies an entity or a property, even if its name changes.
    init(numbersOf old: Schema, _ new: Schema) {
        self.old = old
        self.new = new
        (oldNames, newNames) = ([:], [:])
        let succession = SchemaSuccession(old, new)
        for entity in new.entities {
            guard let before = succession.entity(before: entity.number) else { continue }
            entities[entity.name] = before.name
        }
        let oldKeys = Self.keysByNumber(old)
        for (place, key) in Self.keysByNumber(new) { properties[key] = oldKeys[place] }
        matchShared(succession)
    }

    /// Finds the attributes that take the values of old attributes with other numbers.
    private mutating func matchShared(_ succession: SchemaSuccession) {
        let known = Set(properties.values)
        for entity in new.entities {
            for attribute in entity.attributes {
                guard let source = succession.source(of: attribute, in: entity), source.number != attribute.number,
                    let holder = new.entity(attribute.entity), let before = old.entity(source.entity)
                else { continue }
                let key = Key(entity: holder.name, property: attribute.name)
                let oldKey = Key(entity: before.name, property: source.name)
                if properties[key] != nil, known.contains(oldKey) { continue }
                if shared[key, default: properties[key].map { [$0] } ?? []].contains(oldKey) { continue }
                shared[key, default: properties[key].map { [$0] } ?? []].append(oldKey)
            }
        }
    }

    private struct Place: Hashable {
        let root: EntityNumber
        let property: PropertyNumber
        let isAttribute: Bool
    }

    private static func keysByNumber(_ schema: Schema) -> [Place: Key] {
        var keys: [Place: Key] = [:]
        for entity in schema.entities {
            for attribute in entity.attributes where attribute.entity == entity.number {
                keys[Place(root: entity.root, property: attribute.number, isAttribute: true)] = Key(
                    entity: entity.name, property: attribute.name)
            }
            for relationship in entity.relationships where relationship.entity == entity.number {
                let place = Place(root: entity.root, property: relationship.number, isAttribute: false)
                keys[place] = Key(entity: entity.name, property: relationship.name)
            }
        }
        return keys
    }

    // MARK: Entities

    private mutating func matchEntities() {
        let names = { (schema: Schema) in schema.definition.entities.map { NameMatch.Name(name: $0.name, formerName: $0.formerName) } }
        let match = NameMatch(old: names(old), new: names(new))
        entities = match.oldNames
        for (name, text) in match.mistakes { mistakes.add(SchemaPlace.entity(name)["renamedFrom"].pointer, text) }
    }

    /// Returns the old root whose hierarchy a new root continues, or `nil` if it continues no hierarchy.
    func oldRoot(of root: String) -> String? { adopted[root] ?? entities[root] }

    /// If an entity would leave its hierarchy, records that a new entity replaces it. The id of an object contains the number of its root
    /// entity, so the ids of the entity's objects would change.
    private mutating func matchRoots() {
        for entity in new.entities where entity.parent != nil {
            guard let name = entities[entity.name], let before = old.entity(name), before.parent == nil,
                let root = new.entity(entity.root)?.name, entities[root] == nil, adopted[root] == nil
            else { continue }
            adopted[root] = name
        }
        var isSettled = false
        while !isSettled {
            isSettled = true
            for entity in new.entities {
                guard let name = entities[entity.name], let oldRoot = old.entity(name).flatMap({ old.entity($0.root) }) else { continue }
                let root = new.entity(entity.root)?.name ?? ""
                if self.oldRoot(of: root) == oldRoot.name { continue }
                entities[entity.name] = nil
                replacedEntities[entity.name] = (
                    name,
                    "it would move from the hierarchy of '\(oldRoot.name)' to that of '\(root)', and the ids of its objects would change. "
                        + "Allow new ids (--renew-ids)"
                )
                isSettled = false
            }
        }
    }

    /// Returns the old properties whose values or members a new property takes.
    func oldKeys(of key: Key) -> [Key] { shared[key] ?? properties[key].map { [$0] } ?? [] }

    func oldEntity(_ name: String) -> Entity? { entities[name].flatMap { old.entity($0) } }

    // MARK: Properties

    private mutating func matchProperties(_ entity: Entity, _ relatives: OldRelatives) {
        guard let oldEntity = oldEntity(entity.name) else { return }
        let match = NameMatch(old: oldNames[oldEntity.name] ?? [], new: newNames[entity.name] ?? []) { name in
            !relatives.places(of: name, entity).isEmpty
        }
        for (name, text) in match.mistakes {
            mistakes.add(SchemaPlace.entity(entity.name)[Self.kind(name, entity)][name]["renamedFrom"].pointer, text)
        }
        for (name, oldName) in match.oldNames {
            let keys = (Key(entity: entity.name, property: name), Key(entity: oldEntity.name, property: oldName))
            if (entity.attribute(name) == nil) == (oldEntity.attribute(oldName) == nil) {
                properties[keys.0] = keys.1
            } else {
                replaced[keys.0] = (keys.1, "an attribute and a relationship cannot be converted into each other")
            }
        }
    }

    private static func kind(_ name: String, _ entity: Entity) -> String { entity.attribute(name) == nil ? "relationships" : "attributes" }

    /// Returns the properties that each entity declares, by the entity's name.
    private static func propertyNames(_ schema: Schema) -> [String: [NameMatch.Name]] {
        let names = schema.definition.entities.map { entity in
            let attributes = entity.attributes.map { NameMatch.Name(name: $0.name, formerName: $0.formerName) }
            let relationships = entity.relationships.map {
                NameMatch.Name(name: $0.name, formerName: $0.formerName, isRelationship: true)
            }
            return (entity.name, attributes + relationships)
        }
        return Dictionary(names, uniquingKeysWith: { first, _ in first })
    }

    /// Finds properties that moved to another entity of the hierarchy. If an entity newly declares a property, the old property of a
    /// relative (an ancestor or a descendant) matches the new property. Several old attributes may match one new attribute, or several new
    /// attributes one old attribute, if each object has only one of them. Otherwise, no value is kept, and the new property counts as the
    /// replacement of the first old property that matches.
    private mutating func matchMoved(_ relatives: OldRelatives) {
        let known = Set(properties.values).union(replaced.values.map(\.old))
        var candidates: [(key: Key, old: [Key])] = []
        var takers: [Key: [Key]] = [:]
        for entity in new.entities {
            for name in newNames[entity.name] ?? [] {
                let key = Key(entity: entity.name, property: name.name)
                if properties[key] != nil || replaced[key] != nil { continue }
                let found = relatives.places(of: name, entity).filter {
                    !known.contains($0) && isAttribute($0, old) == isAttribute(key, new)
                }
                if found.isEmpty { continue }
                candidates.append((key, found))
                for place in found { takers[place, default: []].append(key) }
            }
        }
        let isShareable = takers.mapValues { $0.count == 1 || areDisjoint($0, new) }
        var taken: Set<Key> = []
        for (key, found) in candidates {
            if found.count == 1, takers[found[0]]?.count == 1 {
                properties[key] = found[0]
            } else if areDisjoint(found, old), found.allSatisfy({ isShareable[$0] == true && converts($0, to: key) }) {
                shared[key] = found
                guard let first = found.first(where: { !taken.contains($0) }) else { continue }
                taken.insert(first)
                properties[key] = first
            } else if found.count == 1 {
                replaced[key] = (found[0], "several new properties match '\(found[0].entity).\(found[0].property)'")
            } else {
                let shown = found.prefix(20).map { "'\($0.entity).\($0.property)'" } + (found.count > 20 ? ["others"] : [])
                replaced[key] = (found[0], "several old properties match it: " + shown.joined(separator: ", "))
            }
        }
    }

    /// Returns whether each object has at most one of some properties.
    private func areDisjoint(_ keys: [Key], _ schema: Schema) -> Bool {
        var seen: Set<EntityNumber> = []
        return keys.allSatisfy { key in (schema.entity(key.entity)?.family ?? []).allSatisfy { seen.insert($0).inserted } }
    }

    /// Returns whether a new property can take values of an old property. Links and derived values are not copied.
    private func converts(_ oldKey: Key, to key: Key) -> Bool {
        guard let before = old.entity(oldKey.entity)?.attribute(oldKey.property),
            let attribute = new.entity(key.entity)?.attribute(key.property)
        else { return false }
        return !before.isDerived && !attribute.isDerived && before.type.converts(to: attribute.type)
    }

    private func isAttribute(_ key: Key, _ schema: Schema) -> Bool { schema.entity(key.entity)?.attribute(key.property) != nil }

    // MARK: Possible conversions

    private mutating func checkAttributes() {
        for (key, oldKey) in properties {
            guard let attribute = new.entity(key.entity)?.attribute(key.property),
                let before = old.entity(oldKey.entity)?.attribute(oldKey.property)
            else { continue }
            if attribute.isDerived, !before.isDerived {
                replace(key, "its values would be lost, because the store would compute them")
                continue
            }
            if before.type.converts(to: attribute.type) { continue }
            if attribute.isDerived {
                // The attribute counts as new. The store computes its values again, so no value is lost.
                properties[key] = nil
                continue
            }
            replace(key, "\(before.type.rawValue) is not converted to \(attribute.type.rawValue) automatically")
        }
    }

    private mutating func replace(_ key: Key, _ reason: String) {
        guard let oldKey = properties.removeValue(forKey: key) else { return }
        replaced[key] = (oldKey, reason)
    }

    /// Replaces relationships that cannot keep their links. If one end of a link is replaced, the other end is replaced, too.
    private mutating func checkRelationships() {
        let keys = new.entities.flatMap { entity in
            entity.relationships.filter { $0.entity == entity.number }.map { Key(entity: entity.name, property: $0.name) }
        }
        var isSettled = false
        while !isSettled {
            isSettled = true
            for key in keys {
                guard let oldKey = properties[key], let relationship = new.entity(key.entity)?.relationship(key.property),
                    let before = old.entity(oldKey.entity)?.relationship(oldKey.property), let reason = objection(relationship, before)
                else { continue }
                replace(key, reason)
                isSettled = false
            }
        }
    }

    private func objection(_ relationship: Relationship, _ before: Relationship) -> String? {
        let root = new.entity(relationship.destinationRoot)?.name ?? ""
        let oldRoot = old.entity(before.destinationRoot)?.name ?? ""
        if self.oldRoot(of: root) != oldRoot { return "its destination would move from the hierarchy of '\(oldRoot)' to that of '\(root)'" }
        if new.links[relationship.link].isSymmetric != old.links[before.link].isSymmetric {
            return "a relationship cannot become its own inverse, or stop being its own inverse"
        }
        guard let inverse = inverse(relationship, new) else { return nil }
        let oldInverse = self.inverse(before, old)
        if replaced[inverse] != nil { return "a new relationship replaces its inverse" }
        if let match = properties[inverse] {
            return match == oldInverse ? nil : "it was not the inverse of '\(inverse.entity).\(inverse.property)'"
        }
        return nil
    }

    /// Returns the inverse of a relationship, or `nil` if the schema names no inverse.
    func inverse(_ relationship: Relationship, _ schema: Schema) -> Key? {
        guard let number = relationship.inverse, let found = schema.relationship(number, ofRoot: relationship.destinationRoot),
            let entity = schema.entity(found.entity)
        else { return nil }
        return Key(entity: entity.name, property: found.name)
    }
}
