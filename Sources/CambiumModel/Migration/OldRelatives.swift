/// An index of the old schema's properties by name, which finds the properties that relatives of an entity declared. A relative is an
/// ancestor or a descendant of the entity, in the old schema or in the new schema.
struct OldRelatives {
    private let matcher: SchemaMatcher
    /// For each name of a property, the old entities that declare such a property, in the order of the old schema.
    private var declaring: [String: [(place: Int, entity: Entity)]] = [:]
    /// The properties that the old entities declare, with their former names.
    private var formerNames: [SchemaMatcher.Key: String?] = [:]
    /// For each old entity that still exists, its new name.
    private let newNames: [String: String]

    init(_ matcher: SchemaMatcher) {
        self.matcher = matcher
        newNames = Dictionary(matcher.entities.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        for (place, entity) in matcher.old.definition.entities.enumerated() {
            guard let old = matcher.old.entity(entity.name) else { continue }
            let names = entity.attributes.map { ($0.name, $0.formerName) } + entity.relationships.map { ($0.name, $0.formerName) }
            for (name, former) in names {
                declaring[name, default: []].append((place, old))
                formerNames.updateValue(former, forKey: .init(entity: entity.name, property: name))
            }
        }
    }

    /// Returns the old properties that relatives of an entity declare under `name.name` or `name.formerName`.
    ///
    /// Complexity: O(old entities that declare the name).
    func places(of name: NameMatch.Name, _ entity: Entity) -> [SchemaMatcher.Key] {
        guard let oldRoot = matcher.new.entity(entity.root).flatMap({ matcher.oldEntity($0.name) }) else { return [] }
        let before = matcher.oldEntity(entity.name)
        var found: [(place: Int, key: SchemaMatcher.Key)] = []
        for wanted in [name.formerName, name.name].compactMap(\.self) {
            for (place, old) in declaring[wanted] ?? [] where old.root == oldRoot.number && isRelative(old, before, entity) {
                if let former = name.formerName, wanted != preferred(name.name, former, old) { continue }
                found.append((place, .init(entity: old.name, property: wanted)))
            }
            if name.formerName == name.name { break }
        }
        return found.sorted { $0.place < $1.place }.map(\.key)
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
