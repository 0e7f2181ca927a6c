/// A match of the names in a new schema with the names in the old schema: the names of all entities, or of the properties of one entity.
struct NameMatch {
    struct Name {
        let name: String
        let formerName: String?
    }

    /// Maps each new name to its old name. A new name without an old name has no entry.
    private(set) var oldNames: [String: String] = [:]
    /// The new names for which it cannot be decided whether they are renames. The old schema does not have such a name, and the new schema
    /// still has its former name.
    private(set) var ambiguous: [Name] = []
    private var taken: Set<String> = []

    init(old: [Name], new: [Name]) {
        let formerNames = Dictionary(old.map { ($0.name, $0.formerName) }, uniquingKeysWith: { first, _ in first })
        let wanted = Dictionary(new.map { ($0.name, $0.formerName) }, uniquingKeysWith: { first, _ in first })
        // If the old schema has the name with the same former name, an earlier migration has already applied the renaming.
        for name in new where name.formerName != nil && formerNames[name.name] == .some(name.formerName) { take(name.name, name.name) }
        for name in new where oldNames[name.name] == nil {
            guard let former = name.formerName, former != name.name, formerNames[former] != nil, !taken.contains(former) else { continue }
            let keeper = wanted[former]
            if let keeper, !(keeper.map { formerNames[$0] != nil && $0 != former } ?? false) {
                // The new schema still has the former name. If the old schema has both names, nothing was renamed. If the old schema has
                // only the former name, this name can match either new name, so the rename cannot be decided.
                if formerNames[name.name] == nil { ambiguous.append(name) }
                continue
            }
            take(name.name, former)
        }
        for name in new where oldNames[name.name] == nil && formerNames[name.name] != nil && !taken.contains(name.name) {
            take(name.name, name.name)
        }
        // A Core Data model keeps one identifier through several renamings. So an old name matches a new name that has the same former
        // name.
        let byFormerName = Dictionary(
            old.compactMap { name in name.formerName.map { ($0, name) } }, uniquingKeysWith: { first, _ in first })
        for name in new where oldNames[name.name] == nil {
            guard let former = name.formerName, let found = byFormerName[former], !taken.contains(found.name)
            else { continue }
            take(name.name, found.name)
        }
    }

    private mutating func take(_ new: String, _ old: String) {
        oldNames[new] = old
        taken.insert(old)
    }
}
