import CambiumModel

/// The values of hubs that many objects share in one run of a query, as in `any owner.items.price > price`. Without this cache, each object
/// would read all values of its hub.
final class HubCache {
    private let path: PathReader
    private let relation: Comparison.Relation
    private let folding: Folding
    private let finder: HubFinder
    /// Whether the path leads over several to-many relationships. If so, even the comparison of one object reads all values of its hub.
    private let collectsAll: Bool
    private var readCounts: [UInt32: Int] = [:]
    private var values: [UInt32: HubValues] = [:]

    /// Returns `nil` if objects do not share hubs on the path, or if the values of the hubs could take too much memory. Also returns `nil`
    /// if the two sides have different kinds of values.
    init?(_ left: ValueReader, _ relation: Comparison.Relation, _ right: ValueReader, _ folding: Folding, _ context: QueryContext) {
        let relations: [Comparison.Relation] = [.equal, .notEqual, .isIn, .less, .lessOrEqual, .greater, .greaterOrEqual]
        guard let path = left as? PathReader, path.type != nil, relations.contains(relation), left.kind == right.kind,
            let finder = HubFinder(path.links, context)
        else { return nil }
        collectsAll = path.links.count(where: \.isToMany) > 1
        // Many hubs may lead to the same objects over several to-many relationships. All of their values would take too much memory.
        if collectsAll, HubValues.comparesEquality(relation) { return nil }
        self.path = path
        self.relation = relation
        self.folding = folding
        self.finder = finder
    }

    /// Returns the hub of an object. Returns `nil` if there is no hub, or if the hub has few members.
    func hub(of row: UInt32) -> UInt32? { finder.hub(of: row) }

    /// Returns the values of a hub. Returns `nil` until as many values have been read one by one as the hub has members, because a
    /// comparison often needs only the first value. If `collectsAll` is set, returns the values at once.
    ///
    /// - Parameter row: An object from which the path leads through the hub.
    func values(of hub: UInt32, from row: UInt32) -> HubValues? {
        if let values = values[hub] { return values }
        guard collectsAll || readCounts[hub, default: 0] >= finder.memberCount(of: hub) else { return nil }
        let found = HubValues(path, row, relation, folding)
        values[hub] = found
        return found
    }

    /// Records that `count` further values of a hub were read one by one.
    func addReads(_ count: Int, of hub: UInt32) { readCounts[hub, default: 0] += count }
}
