import Cambium

/// A random choice of different items that benchmarks change. A change finds its item by uid and sets two attributes.
struct Items: Sendable {
    private let item: Entity
    private let position: Attribute
    private let done: Attribute
    private let uids: [String]
    private static let countMax = 20_000
    /// The smallest value that a change gives to `position`. No import uses values of this size.
    private static let positionMin = 1_000_000

    init(_ store: Store) throws {
        let graph = store.graph
        item = try store.schema.required("item")
        position = try item.requiredAttribute("position")
        done = try item.requiredAttribute("done")
        let uid = graph.column(try item.requiredAttribute("uid"))
        var random = SplitMix(seed: 9)
        uids = try random.draw(Self.countMax, from: Array(graph.objects(of: item))).map { id in
            try graph.place(of: id).flatMap { uid.string(at: $0) }.required("the uid of an item")
        }
    }

    /// The number of different items. An item is changed again only after this number of changes.
    var count: Int { uids.count }

    private func uid(_ index: Int) -> String { uids[index % uids.count] }

    /// Makes one change in a separate transaction.
    @discardableResult
    func update(_ store: Store, _ index: Int) throws -> Receipt {
        try store.write { transaction in try update(&transaction, index) }.receipt
    }

    /// Makes one change without waiting for the disk.
    func enqueue(_ store: Store, _ index: Int) throws -> Ticket {
        try store.enqueue { transaction in try update(&transaction, index) }.ticket
    }

    func update(_ transaction: inout WriteTransaction, _ index: Int) throws {
        let id = try transaction.find(item, identity: uid(index)).required("item \(uid(index))")
        try transaction.set(id, [(position, .int(Int64(Self.positionMin + index))), (done, .bool(index & 1 != 0))])
    }

    /// Throws if the change with this index, the last one of its item, cannot be read.
    func checkLast(_ graph: Graph, _ index: Int) throws {
        let place = try graph.place(item, identity: uid(index)).required("item \(uid(index))")
        try check(graph.column(position).int(at: place), is: Int64(Self.positionMin + index), "the position set last")
        try check(graph.value(of: graph.field(done), at: place), is: .bool(index & 1 != 0), "the flag set last")
    }
}
