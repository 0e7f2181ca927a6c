/// Which of the old names each new one stands for.
struct NameMatch {
    struct Name {
        let name: String
        let formerName: String?
    }

    /// The old name of each new one that has one.
    private(set) var oldNames: [String: String] = [:]
    /// New ones that are said to be renamed from what is still there.
    private(set) var ambiguous: [Name] = []
    private var taken: Set<String> = []

    init(old: [Name], new: [Name]) {
        let formerNames = Dictionary(old.map { ($0.name, $0.formerName) }, uniquingKeysWith: { first, _ in first })
        let wanted = Dictionary(new.map { ($0.name, $0.formerName) }, uniquingKeysWith: { first, _ in first })
        // What was renamed before.
        for name in new where name.formerName != nil && formerNames[name.name] == .some(name.formerName) { take(name.name, name.name) }
        for name in new where oldNames[name.name] == nil {
            guard let former = name.formerName, former != name.name, formerNames[former] != nil, !taken.contains(former) else { continue }
            let keeper = wanted[former]
            if let keeper, !(keeper.map { formerNames[$0] != nil && $0 != former } ?? false) {
                // Where both were there before, each stays what it is.
                if formerNames[name.name] == nil { ambiguous.append(name) }
                continue
            }
            take(name.name, former)
        }
        for name in new where oldNames[name.name] == nil && formerNames[name.name] != nil && !taken.contains(name.name) {
            take(name.name, name.name)
        }
        // Core Data keeps one identifier through several renamings.
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
