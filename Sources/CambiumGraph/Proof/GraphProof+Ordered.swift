/// Proves that each ordered index has exactly one entry for each of its objects, and no other entry. Each entry must have the key of its
/// object, and the entries must be in order.
extension GraphProof {
    mutating func proveOrderedIndexes() {
        // `proveIndexDirectory` has proven the page to which this reference leads.
        let reference = reader.indexDirectoryReference(of: layout)
        if reference == 0 { return }
        let directory = IndexDirectory(chunks[reference])
        for number in 0..<directory.count where isSound {
            // If another version of the program built an index in a different way, this program will rebuild the index. Until then, the
            // pages of the old tree are in use and must be proven.
            let index = layout.ordered.first { $0.number == number && $0.specification == directory[number].specification }
            prove(directory[number], index, chunks.birth(reference))
        }
    }

    private mutating func prove(_ record: IndexDirectory.Record, _ index: OrderedIndexLayout?, _ birth: UInt64) {
        let tree = record.tree
        var proof = OrderedProof(index.map { ($0, tables[$0.table]) }, record)
        if tree.height > 0 {
            let count = prove(tree.root, Int(tree.height) - 1, birth, &proof)
            if isSound, count != Int(clamping: tree.count) { report("An index has \(count) entries, but its stored count differs.") }
        }
        guard isSound, let (index, table) = proof.index else { return }
        let rows = reader.rows(index.table)
        var expected = 0
        table.forEachRow { row in
            if row >> PageLayout.rowShift < record.groupCount, index.covers(row, rows, table.layout) { expected += 1 }
        }
        if Int(clamping: tree.count) != expected { report("An index of '\(table.name)' has \(tree.count) entries instead of \(expected).") }
    }

    /// Proves a page of a tree and all pages below it, and returns the number of entries in them. The recursion is limited, because the
    /// height of a tree is limited.
    private mutating func prove(_ page: PageRef, _ level: Int, _ birth: UInt64, _ proof: inout OrderedProof) -> Int {
        let size = PageLayout.granules(OrderedNode.byteCount)
        guard isSound, let pointer = claim(page, level == 0 ? .indexLeaf : .indexInner, granules: size, notAfter: birth) else { return 0 }
        let own = PageHeader(pointer).birth
        if level == 0 {
            let leaf = OrderedLeaf(pointer)
            guard leaf.isConsistent else {
                report("Leaf \(page) of an index has entries outside its bytes.")
                return 0
            }
            var flaw: String?
            leaf.forEach { if flaw == nil { flaw = proof.flaw(of: $0, $1, reader) } }
            if let flaw { report("Leaf \(page) of an index \(flaw).") }
            return leaf.count
        }
        let node = OrderedInner(pointer)
        guard node.isConsistent else {
            report("Node \(page) of an index has children outside its bytes.")
            return 0
        }
        let children = node.children()
        var count = 0
        for child in 0..<node.count where isSound {
            if child > 0, !children.withBound(child, { proof.beginChild($0) }) {
                report("Node \(page) of an index has a lower bound that does not separate its children.")
            }
            let below = prove(node.references[child], level - 1, own, &proof)
            if isSound, below != Int(node.counts[child]) { report("Node \(page) of an index states a wrong number of entries.") }
            count += below
        }
        return count
    }
}

/// The state of the proof of one index, kept from leaf to leaf.
private struct OrderedProof {
    /// The index and its table; `nil` if this program would build the index with other keys.
    let index: (layout: OrderedIndexLayout, table: ProvenTable)?
    private let groupCount: UInt32
    private var last: [UInt8] = []
    private var lowerBound: [UInt8] = []
    private var seen = RowSet()

    init(_ index: (OrderedIndexLayout, ProvenTable)?, _ record: IndexDirectory.Record) {
        self.index = index.map { (layout: $0.0, table: $0.1) }
        groupCount = record.groupCount
    }

    /// Sets the lower bound of the entries that follow. Returns whether all entries so far precede the bound.
    mutating func beginChild(_ bound: OrderedBytes) -> Bool {
        lowerBound = [UInt8](UnsafeRawBufferPointer(start: bound.start, count: bound.count))
        return last.lexicographicallyPrecedes(lowerBound)
    }

    /// Returns the fault of the next entry as the end of a sentence, or `nil` if it has no fault.
    mutating func flaw(of prefix: OrderedBytes, _ rest: OrderedBytes, _ reader: Reader) -> String? {
        var entry = [UInt8](UnsafeRawBufferPointer(start: prefix.start, count: prefix.count))
        entry.append(contentsOf: UnsafeRawBufferPointer(start: rest.start, count: rest.count))
        guard last.lexicographicallyPrecedes(entry), !entry.lexicographicallyPrecedes(lowerBound) else { return "is not in order" }
        last = entry
        guard let (index, table) = index else { return nil }
        let row = OrderedNode.row(rest.start + rest.count)
        let rows = reader.rows(index.table)
        guard table.isLive(row), row >> PageLayout.rowShift < groupCount, seen.insert(row), index.covers(row, rows, table.layout),
            index.entry(row, rows) == entry
        else { return "has an entry that leads to no object with its key" }
        return nil
    }
}
