/// An index of the old schema's properties by name, which finds the properties that relatives of an entity declared. A relative is an
/// ancestor or a descendant of the entity, in the old schema or in the new schema.
struct OldRelatives {
    private let matcher: SchemaMatcher
    /// For each hierarchy and each name of a property, the old entities that declare such a property, in the order of the old schema.
    private var declaring: [Declaration: [Holder]] = [:]
    /// The properties that the old entities declare, with their former names.
    private var formerNames: [SchemaMatcher.Key: String?] = [:]
    /// For each old entity, its position in the old schema.
    private var positions: [EntityNumber: Int] = [:]
    /// For each old entity that still exists, its new name.
    private let newNames: [String: String]

    private typealias Holder = (place: Int, entity: Entity)

    /// The name of a property, and the root entity of the hierarchy in which entities declare it.
    private struct Declaration: Hashable {
        let root: EntityNumber
        let property: String
    }

    init(_ matcher: SchemaMatcher) {
        self.matcher = matcher
        newNames = Dictionary(matcher.entities.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        for (place, entity) in matcher.old.definition.entities.enumerated() {
            guard let old = matcher.old.entity(entity.name) else { continue }
            positions[old.number] = place
            let names = entity.attributes.map { ($0.name, $0.formerName) } + entity.relationships.map { ($0.name, $0.formerName) }
            for (name, former) in names {
                declaring[Declaration(root: old.root, property: name), default: []].append((place, old))
                formerNames.updateValue(former, forKey: .init(entity: entity.name, property: name))
            }
        }
    }

    /// Returns the old properties that relatives of an entity declare under `name.name` or `name.formerName`.
    ///
    /// Complexity: O(old entities of the hierarchy that declare the name), and at most O(relatives).
    func places(of name: NameMatch.Name, _ entity: Entity) -> [SchemaMatcher.Key] {
        guard let root = matcher.new.entity(entity.root)?.name, let oldRoot = matcher.oldRoot(of: root).flatMap({ matcher.old.entity($0) })
        else { return [] }
        let before = matcher.oldEntity(entity.name)
        var found: [(place: Int, key: SchemaMatcher.Key)] = []
        for wanted in [name.formerName, name.name].compactMap(\.self) {
            for (place, old) in holders(of: wanted, oldRoot.number, before, entity) where isRelative(old, before, entity) {
                if let former = name.formerName, wanted != preferred(name.name, former, old) { continue }
                found.append((place, .init(entity: old.name, property: wanted)))
            }
            if name.formerName == name.name { break }
        }
        return found.sorted { $0.place < $1.place }.map(\.key)
    }

    /// Returns the old entities of a hierarchy that declare a property. If there are many, returns only those that may be relatives of
    /// `entity`. `before` is the old version of `entity`.
    private func holders(of property: String, _ root: EntityNumber, _ before: Entity?, _ entity: Entity) -> [Holder] {
        let all = declaring[Declaration(root: root, property: property)] ?? []
        // Thousands of entities may declare the same name, although each of them has few relatives. Comparing each of these entities with
        // all others would take time that grows with the square of their number.
        if all.count <= entity.family.count + (before?.family.count ?? 0) { return all }
        return relatives(of: before, entity).compactMap { old in
            guard let place = positions[old.number], old.root == root, declares(old, property) else { return nil }
            return (place: place, entity: old)
        }
    }

    private func declares(_ old: Entity, _ property: String) -> Bool {
        formerNames[.init(entity: old.name, property: property)] != nil
    }

    /// Returns the old entities that are ancestors or descendants of an entity in one of the two schemas.
    private func relatives(of before: Entity?, _ entity: Entity) -> [Entity] {
        var found = Self.line(of: entity, matcher.new).compactMap { matcher.new.entity($0).flatMap { matcher.oldEntity($0.name) } }
        if let before { found += Self.line(of: before, matcher.old).compactMap { matcher.old.entity($0) } }
        var seen: Set<EntityNumber> = []
        return found.filter { seen.insert($0.number).inserted }
    }

    /// Returns the numbers of an entity, its descendants and its ancestors.
    private static func line(of entity: Entity, _ schema: Schema) -> Set<EntityNumber> {
        var line = entity.family
        var next = entity.parent
        while let number = next {
            line.insert(number)
            next = schema.entity(number)?.parent
        }
        return line
    }

    /// Returns the name under which an old entity declares a property that has been renamed. If the entity has properties of both names,
    /// the former name takes precedence, unless an earlier migration has already applied the renaming.
    private func preferred(_ name: String, _ former: String, _ old: Entity) -> String {
        if formerNames[.init(entity: old.name, property: name)] == .some(former) { return name }
        return formerNames[.init(entity: old.name, property: former)] == nil ? name : former
    }

    private func isRelative(_ old: Entity, _ before: Entity?, _ entity: Entity) -> Bool {
        if let before, old.number != before.number, old.family.contains(before.number) || before.family.contains(old.number) { return true }
        guard let now = newNames[old.name].flatMap({ matcher.new.entity($0) }), now.number != entity.number else { return false }
        return now.family.contains(entity.number) || entity.family.contains(now.number)
    }
}
