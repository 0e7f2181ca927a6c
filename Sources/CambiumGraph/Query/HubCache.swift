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
    private(set) var values: [UInt32: HubValues] = [:]
    /// The maximum memory for the values of hubs if the path leads over several to-many relationships. Many hubs may then lead to the same
    /// objects, and each hub may lead to most objects.
    private let byteCountMax: Int
    private var byteCount = 0
    /// The hubs whose values take more memory than `byteCountMax`.
    private var largeHubs: Set<UInt32> = []

    /// Returns `nil` if objects do not share hubs on the path, or if the two sides have different kinds of values.
    init?(
        _ left: ValueReader, _ relation: Comparison.Relation, _ right: ValueReader, _ folding: Folding, _ context: QueryContext,
        byteCountMax: Int = 64 << 20
    ) {
        let relations: [Comparison.Relation] = [.equal, .notEqual, .isIn, .less, .lessOrEqual, .greater, .greaterOrEqual]
        guard let path = left as? PathReader, relations.contains(relation), left.kind == right.kind,
            let finder = HubFinder(path.links, context)
        else { return nil }
        collectsAll = path.links.count(where: \.isToMany) > 1
        self.byteCountMax = collectsAll ? byteCountMax : .max
        self.path = path
        self.relation = relation
        self.folding = folding
        self.finder = finder
    }

    /// Returns the hub of an object. Returns `nil` if there is no hub, or if the hub has few members.
    func hub(of row: UInt32) -> UInt32? { finder.hub(of: row) }

    /// Returns the values of a hub. Returns `nil` until as many values have been read one by one as the hub has members, because a
    /// comparison often needs only the first value. If `collectsAll` is set, returns the values at once, or `nil` if they take too much
    /// memory.
    ///
    /// - Parameter row: An object from which the path leads through the hub.
    func values(of hub: UInt32, from row: UInt32) -> HubValues? {
        if let values = values[hub] { return values }
        guard collectsAll || readCounts[hub, default: 0] >= finder.memberCount(of: hub), !largeHubs.contains(hub) else { return nil }
        guard let found = HubValues(path, row, relation, folding, byteCountMax: byteCountMax) else {
            largeHubs.insert(hub)
            return nil
        }
        if found.byteCount > byteCountMax - byteCount {
            values.removeAll()
            byteCount = 0
        }
        byteCount += found.byteCount
        values[hub] = found
        return found
    }

    /// Records that `count` further values of a hub were read one by one.
    func addReads(_ count: Int, of hub: UInt32) { readCounts[hub, default: 0] += count }
}
