/// The page that refers to the ordered indexes of a graph. For each index, the page states how the keys are created, where the tree is, and
/// how much of the tree is built.
///
/// SAFETY: the page contains as many records as its count states.
struct IndexDirectory {
    struct Record: Equatable {
        /// A hash of everything that determines the keys of the index (`OrderedIndexLayout.specification`).
        var specification: UInt64
        var tree = OrderedTree()
        /// The number of groups of rows whose objects are in the index, counted from the first group. If the index is complete, the number
        /// is `all`, and the objects of new groups are added, too.
        var groupCount: UInt32 = 0

        static let all = UInt32.max
        var isComplete: Bool { groupCount == Self.all }
    }

    private static let countOffset = 16
    static let recordsOffset = 24
    static let stride = 32

    let page: UnsafeMutableRawPointer

    init(_ page: UnsafeMutableRawPointer) { self.page = page }

    static func byteCount(_ count: Int) -> Int { recordsOffset + stride * count }

    var count: Int {
        get { Int(page.load(fromByteOffset: Self.countOffset, as: UInt32.self)) }
        nonmutating set { page.storeBytes(of: UInt64(newValue), toByteOffset: Self.countOffset, as: UInt64.self) }
    }

    subscript(index: Int) -> Record {
        get {
            let place = page + Self.recordsOffset + Self.stride * index
            let tree = OrderedTree(
                root: place.load(fromByteOffset: 8, as: PageRef.self), height: place.load(fromByteOffset: 12, as: UInt32.self),
                count: place.load(fromByteOffset: 16, as: UInt64.self))
            return Record(
                specification: place.load(as: UInt64.self), tree: tree, groupCount: place.load(fromByteOffset: 24, as: UInt32.self))
        }
        nonmutating set {
            let place = page + Self.recordsOffset + Self.stride * index
            place.storeBytes(of: newValue.specification, as: UInt64.self)
            place.storeBytes(of: newValue.tree.root, toByteOffset: 8, as: PageRef.self)
            place.storeBytes(of: newValue.tree.height, toByteOffset: 12, as: UInt32.self)
            place.storeBytes(of: newValue.tree.count, toByteOffset: 16, as: UInt64.self)
            place.storeBytes(of: UInt64(newValue.groupCount), toByteOffset: 24, as: UInt64.self)
        }
    }

    var records: [Record] { (0..<count).map { self[$0] } }
}
