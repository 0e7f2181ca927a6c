internal import CambiumJSON

/// A comparison of an old schema with a new schema, which lists the differences.
struct SchemaComparison {
    let matcher: SchemaMatcher
    private let old: SchemaDefinition
    private let new: SchemaDefinition
    private(set) var changes: [SchemaChange] = []
    /// For each old entity that still exists, its new name.
    let newNames: [String: String]
    /// For each old property that still exists, its key in the new schema.
    let newKeys: [SchemaMatcher.Key: SchemaMatcher.Key]
    let oldByName: [String: EntityDefinition]
    private(set) var oldAttributes: [SchemaMatcher.Key: AttributeDefinition] = [:]
    private(set) var oldRelationships: [SchemaMatcher.Key: RelationshipDefinition] = [:]
    /// The old properties that a new property replaces.
    private let replaced: Set<SchemaMatcher.Key>
    /// For each old entity with renamed properties, the new names of these properties by their old names.
    private(set) var renamed: [String: [String: String]] = [:]
    /// The names that mean another property in the rule `followParent`. It is empty if no old attribute has this rule.
    private(set) var followedNames = FollowedNames()

    init(_ matcher: SchemaMatcher, _ new: SchemaDefinition) {
        self.matcher = matcher
        old = matcher.old.definition
        self.new = new
        newNames = Dictionary(matcher.entities.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        let sharedKeys = matcher.shared.flatMap { key, found in found.map { ($0, key) } }.sorted { $0.1.entity < $1.1.entity }
        newKeys = Dictionary(matcher.properties.map { ($0.value, $0.key) } + sharedKeys, uniquingKeysWith: { first, _ in first })
        oldByName = Dictionary(uniqueKeysWithValues: old.entities.map { ($0.name, $0) })
        replaced = Set(matcher.replaced.values.map(\.old))
        for entity in old.entities {
            for attribute in entity.attributes { oldAttributes[.init(entity: entity.name, property: attribute.name)] = attribute }
            for relationship in entity.relationships {
                oldRelationships[.init(entity: entity.name, property: relationship.name)] = relationship
            }
        }
        for (key, newKey) in newKeys where key.property != newKey.property {
            renamed[key.entity, default: [:]][key.property] = newKey.property
        }
        if oldAttributes.values.contains(where: { $0.userInfo[CloneKeys.standard.followParent] != nil }) {
            followedNames = FollowedNames(matcher.old) { [self] in meansOther($0, of: $1) }
        }
        for entity in new.entities { compare(entity) }
        compareOrder()
        let replacedEntities = Set(matcher.replacedEntities.values.map(\.old))
        for entity in old.entities where newNames[entity.name] == nil && !replacedEntities.contains(entity.name) {
            changes.append(SchemaChange(.removed, entity.name, old: .init(entity.number), new: nil))
        }
        for entity in old.entities where newNames[entity.name] != nil { reportRemoved(entity) }
    }

    // MARK: Entities

    private mutating func compare(_ entity: EntityDefinition) {
        let subject = SchemaChange.Subject(entity.number)
        guard let before = matcher.entities[entity.name].flatMap({ oldByName[$0] }) else {
            if let (name, reason) = matcher.replacedEntities[entity.name] {
                let number = oldByName[name]?.number
                changes.append(SchemaChange(.replaced, entity.name, before: name, reason: reason, old: .init(number), new: subject))
            } else {
                changes.append(SchemaChange(.added, entity.name, old: nil, new: subject))
            }
            // The change that adds the entity also covers its new properties. Only a property that moved here, or that replaces a property
            // of a relative, is a separate change.
            compareProperties(entity) { [matcher] in !matcher.oldKeys(of: $0).isEmpty || matcher.replaced[$0] != nil }
            return
        }
        let oldSubject = SchemaChange.Subject(before.number)
        if before.name != entity.name {
            changes.append(SchemaChange(.renamed, entity.name, before: before.name, after: entity.name, old: oldSubject, new: subject))
        }
        compare(
            named(before).json(withNumbers: false), entity.json(withNumbers: false), entity.name, nil,
            isRenamed: before.name != entity.name, changing: reusedKeys(of: before), oldSubject, subject)
        compareQueries(before, entity, oldSubject, subject)
        compareProperties(entity) { _ in true }
    }

    /// Records a change for each key whose value differs between two JSON objects.
    ///
    /// - Parameter reusedKeys: The keys whose old values contain a name that means another entity or property in the new schema. A change
    ///   is recorded for these keys even if both values are equal.
    private mutating func compare(
        _ before: JSONValue, _ after: JSONValue, _ entity: String, _ property: String?, isRenamed: Bool, changing reusedKeys: Set<String>,
        _ old: SchemaChange.Subject, _ new: SchemaChange.Subject
    ) {
        guard case .object(let members) = before, case .object(let others) = after else { return }
        var keys = others.map(\.key)
        keys += members.map(\.key).filter { !keys.contains($0) }
        let parts = ["attributes", "relationships", "queries"]
        for key in keys where !parts.contains(key) && !(isRenamed && key == "renamedFrom") {
            // A null is equivalent to an absent key.
            let (was, becomes) = (before[key].flatMap { $0 == .null ? nil : $0.text }, after[key].flatMap { $0 == .null ? nil : $0.text })
            if !reusedKeys.contains(key), Self.valueKeys.contains(key) ? Self.isSame(was, becomes) : was == becomes { continue }
            changes.append(SchemaChange(.changed, entity, property, aspect: key, before: was, after: becomes, old: old, new: new))
        }
    }

    /// The keys whose texts are values or patterns. The texts of all other keys are names.
    private static let valueKeys: Set = ["default", "enum", "regex", "userInfo"]

    /// Compares texts by their bytes, as the store compares values. Swift's `==` would ignore how characters with accents are encoded.
    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.elementsEqual(other.utf8)
    }

    /// Records a change for each stored query that differs. The order of the queries has no meaning.
    private mutating func compareQueries(
        _ before: EntityDefinition, _ after: EntityDefinition, _ old: SchemaChange.Subject, _ new: SchemaChange.Subject
    ) {
        func json(_ queries: [QueryDefinition], _ name: (String) -> String) -> [String: String] {
            let texts = queries.map { query in
                var named = query
                named.target = query.target.map(name)
                return (query.name, named.json.text)
            }
            return Dictionary(texts, uniquingKeysWith: { first, _ in first })
        }
        let (was, becomes) = (json(before.queries) { newNames[$0] ?? $0 }, json(after.queries) { $0 })
        let redirected = Set(before.queries.filter { isReused($0.target) || hasReusedNames($0, before) }.map(\.name))
        for name in after.queries.map(\.name) + before.queries.map(\.name).filter({ becomes[$0] == nil }) {
            if !redirected.contains(name), Self.isSame(was[name], becomes[name]) { continue }
            changes.append(
                SchemaChange(
                    .changed, after.name, aspect: "queries/\(name)", before: was[name], after: becomes[name], old: old, new: new))
        }
    }

    // MARK: Properties

    /// Compares the properties of an entity. Skips a property if `isIncluded` returns `false` for its key.
    private mutating func compareProperties(_ entity: EntityDefinition, where isIncluded: (SchemaMatcher.Key) -> Bool) {
        for attribute in entity.attributes where isIncluded(.init(entity: entity.name, property: attribute.name)) {
            compareProperty(entity, attribute.name, attribute.number, attribute.json(withNumbers: false))
        }
        for relationship in entity.relationships where isIncluded(.init(entity: entity.name, property: relationship.name)) {
            compareProperty(entity, relationship.name, relationship.number, relationship.json(withNumbers: false))
        }
    }

    private mutating func compareProperty(_ entity: EntityDefinition, _ name: String, _ number: UInt16?, _ json: JSONValue) {
        let key = SchemaMatcher.Key(entity: entity.name, property: name)
        let subject = SchemaChange.Subject(entity.number, number)
        let oldKeys = matcher.oldKeys(of: key)
        for oldKey in oldKeys { compareProperty(entity, name, json, with: oldKey, subject) }
        if !oldKeys.isEmpty { return }
        if let (oldKey, reason) = matcher.replaced[key] {
            changes.append(
                SchemaChange(
                    .replaced, entity.name, name, before: Self.summary(property(oldKey)?.json), after: Self.summary(json), reason: reason,
                    old: .init(oldByName[oldKey.entity]?.number, property(oldKey)?.number), new: subject))
        } else {
            changes.append(SchemaChange(.added, entity.name, name, after: Self.summary(json), old: nil, new: subject))
        }
    }

    private mutating func compareProperty(
        _ entity: EntityDefinition, _ name: String, _ json: JSONValue, with oldKey: SchemaMatcher.Key, _ subject: SchemaChange.Subject
    ) {
        guard let holder = oldByName[oldKey.entity], let before = property(oldKey) else { return }
        let oldSubject = SchemaChange.Subject(holder.number, before.number)
        if oldKey.entity != matcher.entities[entity.name] {
            let from = newNames[oldKey.entity] ?? oldKey.entity
            changes.append(SchemaChange(.moved, entity.name, name, before: from, after: entity.name, old: oldSubject, new: subject))
        }
        if oldKey.property != name {
            changes.append(SchemaChange(.renamed, entity.name, name, before: oldKey.property, after: name, old: oldSubject, new: subject))
        }
        compare(
            before.json, json, entity.name, name, isRenamed: oldKey.property != name,
            changing: reusedKeys(of: oldKey, in: holder), oldSubject, subject)
    }

    /// Returns the type of an attribute, or the destination of a relationship.
    private static func summary(_ json: JSONValue?) -> String? {
        if case .string(let type)? = json?["type"] { return type }
        guard case .string(let destination)? = json?["to"] else { return nil }
        return json?["ordered"] != nil ? "ordered \(destination)" : json?["many"] != nil ? "many \(destination)" : destination
    }

    private mutating func reportRemoved(_ entity: EntityDefinition) {
        let entityName = newNames[entity.name] ?? entity.name
        for (name, number) in entity.attributes.map({ ($0.name, $0.number) }) + entity.relationships.map({ ($0.name, $0.number) }) {
            let key = SchemaMatcher.Key(entity: entity.name, property: name)
            if newKeys[key] != nil || replaced.contains(key) { continue }
            let before = Self.summary(property(key)?.json)
            changes.append(SchemaChange(.removed, entityName, name, before: before, old: .init(entity.number, number), new: nil))
        }
    }

    // MARK: Order

    /// Records changes to the order in which entities and properties are declared. The order matters because commands and exports use it.
    private mutating func compareOrder() {
        // A new parent above an old root changes its number, but not its place.
        let numbers = new.entities.compactMap { matcher.entities[$0.name].flatMap { oldByName[$0]?.number } }
        let moved = Self.firstReordered(old.entities.compactMap(\.number), numbers)
        for entity in new.entities {
            guard let before = matcher.entities[entity.name].flatMap({ oldByName[$0] }) else { continue }
            // One change reports both a new position of the entity and a new order of its properties.
            let attributes = Self.firstReordered(before.attributes.compactMap(\.number), entity.attributes.compactMap(\.number))
            let relationships = Self.firstReordered(before.relationships.compactMap(\.number), entity.relationships.compactMap(\.number))
            var reordered: [SchemaChange.Declarations] = []
            if let moved, before.number == moved { reordered.append(.entities) }
            if attributes != nil { reordered.append(.attributes) }
            if relationships != nil { reordered.append(.relationships) }
            if reordered.isEmpty { continue }
            let numbers = (old: SchemaChange.Subject(before.number), new: SchemaChange.Subject(entity.number))
            changes.append(
                SchemaChange(.changed, entity.name, aspect: "order", reordered: reordered, old: numbers.old, new: numbers.new))
        }
    }

    /// Compares the order of the numbers that both arrays contain. Returns the first number in `after` that is out of order, or `nil` if
    /// both orders are the same.
    private static func firstReordered(_ before: [UInt16], _ after: [UInt16]) -> UInt16? {
        zip(before.filter(Set(after).contains), after.filter(Set(before).contains)).first { $0 != $1 }?.1
    }
}
