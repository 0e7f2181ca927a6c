import CambiumGraph

/// Measures the tree of an ordered index with random numbers of 64 bits, without a store, a schema or objects.
///
///     let found = IndexMeasurement(keyCount: 1_000_000, seed: 1) { work in timed(work) }
///     print(found.bytesPerRow)
struct IndexMeasurement {
    /// The seconds to sort and merge all keys into an empty tree.
    let bulkSeconds: Double
    /// The seconds to add `insertCount` more random keys to the tree, one by one.
    let insertSeconds: Double
    /// The number of keys that were added one by one: a twentieth of `keyCount`.
    let insertCount: Int
    /// The seconds to walk through the tree once, row by row.
    let scanSeconds: Double
    /// The sum of all rows. It is a result of the walk, so that the compiler cannot omit the walk.
    let rowSum: UInt64
    /// The bytes of pages for each row, after all keys were merged in bulk.
    let bytesPerRow: Double

    /// - Parameter timed: A closure that runs its argument and returns the seconds that it took.
    init(keyCount: Int, seed: UInt64, timed: (() -> Void) -> Double) {
        var random = SplitMix(seed: seed)
        let keys = (0..<keyCount).map { _ in random.next() }
        let timeline = Timeline(memory: .standard, key: HashKey(secret: Array("bench".utf8)))
        var draft = timeline.draft()
        var tree = OrderedTree()
        var batch = OrderedBatch(byteCapacity: 16 * keyCount + 4096)
        for (row, key) in keys.enumerated() { Self.add(key, row, to: &batch) }
        bulkSeconds = timed { batch.apply(to: &tree, of: &draft) }
        let built = OrderedReader(tree, of: draft)
        bytesPerRow = Double(built.byteCount) / Double(max(1, keyCount))
        var sum: UInt64 = 0
        scanSeconds = timed { built.forEachRow(0..<built.count) { sum &+= UInt64($0) } }
        rowSum = sum
        let more = (0..<keyCount / 20).map { _ in random.next() }
        insertCount = more.count
        insertSeconds = timed {
            for (place, key) in more.enumerated() {
                batch.removeAll()
                Self.add(key, keyCount + place, to: &batch)
                batch.apply(to: &tree, of: &draft)
            }
        }
    }

    /// Adds an entry for a number to the batch, in the form that an index has for a value that is not null.
    private static func add(_ key: UInt64, _ row: Int, to batch: inout OrderedBatch) {
        let memory = batch.reserve(64)
        memory.storeBytes(of: 1, as: UInt8.self)
        memory.storeBytes(of: key.bigEndian, toByteOffset: 1, as: UInt64.self)
        memory.storeBytes(of: UInt32(truncatingIfNeeded: row).bigEndian, toByteOffset: 9, as: UInt32.self)
        batch.append(13, isAdded: true)
    }
}
