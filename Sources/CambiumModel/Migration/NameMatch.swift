/// A match of the names in a new schema with those in the old schema. The names are either those of all entities, or those of one entity's
/// properties.
struct NameMatch {
    struct Name {
        let name: String
        let formerName: String?
        var isRelationship = false
    }

    /// Maps each new name to its old name. A new name without an old name has no entry.
    private(set) var oldNames: [String: String] = [:]
    /// The new names that cannot be renamed from their former names, each with the reason and the remedy.
    private(set) var mistakes: [(name: String, text: String)] = []
    /// Maps each old name that matches a new name to that new name.
    private var newNames: [String: String] = [:]

    /// - Parameter isMoved: Returns whether a property may have moved from another entity. The match never assumes that such a property
    ///   undoes a renaming.
    init(old: [Name], new: [Name], isMoved: (Name) -> Bool = { _ in false }) {
        let formerNames = Dictionary(old.map { ($0.name, $0.formerName) }, uniquingKeysWith: { first, _ in first })
        let wanted = Dictionary(new.map { ($0.name, $0.formerName) }, uniquingKeysWith: { first, _ in first })
        // If a name has the same former name in the old schema, an earlier migration has already applied the renaming.
        for name in new where name.formerName != nil && formerNames[name.name] == .some(name.formerName) { take(name.name, name.name) }
        for name in new where oldNames[name.name] == nil {
            guard let former = name.formerName, former != name.name, formerNames[former] != nil, newNames[former] == nil else { continue }
            let keeper = wanted[former]
            // If the new schema still contains the name `former`, that name normally matches the old `former`, so `name` was not renamed
            // from it. There is one exception: the new `former` was itself renamed from another old name, as when two names are exchanged.
            if let keeper, !(keeper.map { formerNames[$0] != nil && $0 != former } ?? false) { continue }
            take(name.name, former)
        }
        for name in new where oldNames[name.name] == nil && formerNames[name.name] != nil && newNames[name.name] == nil {
            take(name.name, name.name)
        }
        // A Core Data model keeps one identifier through several renamings. So an old name matches a new name that has the same former
        // name, unless the former name is itself an old name with a match.
        let byFormerName = Dictionary(
            old.compactMap { name in name.formerName.map { ($0, name) } }, uniquingKeysWith: { first, _ in first })
        // A name without a former name is its own identifier, so setting an earlier version of a schema undoes a renaming. Names that state
        // a former name take precedence. A name without a former name matches only a property of the same kind: an attribute or a
        // relationship.
        let unmatched = new.filter { oldNames[$0.name] == nil }
        for name in unmatched.filter({ $0.formerName != nil }) + unmatched.filter({ $0.formerName == nil }) {
            let identifier = name.formerName ?? name.name
            guard newNames[identifier] == nil, let found = byFormerName[identifier], newNames[found.name] == nil else { continue }
            if name.formerName == nil, name.isRelationship != found.isRelationship || isMoved(name) { continue }
            take(name.name, found.name)
        }
        for name in new where oldNames[name.name] == nil {
            guard let former = name.formerName, former != name.name else { continue }
            // The holder is the new name that matches the former name. If there is no such name, it is the new name that an earlier
            // migration renamed from the former name.
            let renamed = byFormerName[former].flatMap { newNames[$0.name] }
            let holder = newNames[former] ?? renamed.flatMap { wanted[$0] == .some(former) ? $0 : nil }
            if let holder { addAmbiguous(name.name, former, holder) }
        }
        // An exchange consists of two new renamings. If the old schema already states one of them, this renaming was applied earlier and
        // has no effect now. So the names cannot be exchanged.
        for name in new where oldNames[name.name] == name.name {
            guard let former = name.formerName, former != name.name, formerNames[name.name] != .some(former), oldNames[former] == former,
                wanted[former] == .some(name.name), formerNames[former] == .some(name.name)
            else { continue }
            let reason = "the store has already renamed '\(former)' from '\(name.name)'"
            let remedy = "remove this 'renamedFrom', or first set the schema without both"
            mistakes.append((name.name, "'\(name.name)' cannot be exchanged with '\(former)', because \(reason); \(remedy)"))
        }
    }

    /// Adds the mistake that a name cannot be renamed from its former name, because another new name, `holder`, matches the former name.
    /// The schema does not show which of the two new names was renamed.
    private mutating func addAmbiguous(_ name: String, _ former: String, _ holder: String) {
        let (reason, remedy) =
            holder == former
            ? ("the new schema still has '\(former)'", "remove '\(former)' from the schema, or remove 'renamedFrom'")
            : ("'\(holder)' was renamed from it", "remove one of the two 'renamedFrom'")
        mistakes.append((name, "'\(name)' cannot be renamed from '\(former)', because \(reason); \(remedy)"))
    }

    private mutating func take(_ new: String, _ old: String) {
        oldNames[new] = old
        newNames[old] = new
    }
}
