/// Finds the places in an immutable graph that refer to pages in the `victims`: the chunks that packing will empty.
struct EvacuationFinder {
    private let victims: [Bool]
    var isRegister = false
    private(set) var places: [EvacuationPlace] = []

    init(_ victims: [Bool]) { self.victims = victims }

    /// Adds to `places` the places in a graph, or in its register, that refer to pages in chunks to be emptied. Complexity: O(pages),
    /// because only groups, nodes and the directories of indexes are read. With blobs (values of more than 255 bytes), also O(objects).
    mutating func find(in reader: Reader, _ layout: GraphLayout, withBlobs: Bool) {
        if reader.directory.lies(in: victims) { track(.directory) }
        for index in nodes(reader.sharedBlobs, reader) { track(.sharedBlobs(index: index)) }
        for table in layout.tables {
            if reader.tableReference(table.index).lies(in: victims) { track(.table(table.index)) }
            for vector in [.rows, .virtualPages, .free] + table.indexes.map({ TablePage.Vector.index($0.number) }) {
                for index in nodes(reader.tablePage(table.index)[vector], reader) {
                    track(.node(table: table.index, vector: vector, index: index))
                }
            }
            findGroups(table, reader)
            for index in table.indexes { findBuckets(table, index, reader) }
        }
        findIndexes(layout, reader)
        if withBlobs { findBlobs(layout, reader) }
    }

    private mutating func track(_ kind: EvacuationPlace.Kind) { places.append(EvacuationPlace(kind: kind, isRegister: isRegister)) }

    private func nodes(_ vector: RadixVector, _ reader: Reader) -> [Int] {
        vector.indices(below: reader.chunks) { $0.lies(in: victims) }
    }

    private mutating func findGroups(_ table: TableLayout, _ reader: Reader) {
        let vector = reader.tablePage(table.index).rows
        for index in 0..<reader.groupCount(table.index) {
            let page = vector.get(index, reader.chunks)
            guard page != 0 else { continue }
            let group = reader.chunks.group(page)
            let hasVictim =
                page.lies(in: victims)
                || table.columns.indices.contains { slot in
                    group[slot].lies(in: victims)
                }
            if hasVictim { track(.group(table: table.index, index: index)) }
        }
    }

    private mutating func findBuckets(_ table: TableLayout, _ index: IndexLayout, _ reader: Reader) {
        let record = reader.tablePage(table.index).index(index.number)
        let (vector, bits) = (record.directory, record.bits)
        var last: PageRef = 0
        for place in 0..<1 << bits {
            let bucket = vector.get(place, reader.chunks)
            // Consecutive slots of the index's directory may refer to the same bucket.
            if bucket == last { continue }
            last = bucket
            if Self.chain(of: bucket, has: victims, reader.chunks) {
                track(.bucket(table: table.index, index: index.number, hash: bits == 0 ? 0 : UInt64(place) << UInt64(64 - bits)))
            }
        }
    }

    /// Returns whether a bucket or one of its overflow pages lies in the chunks of `victims`.
    static func chain(of bucket: PageRef, has victims: [Bool], _ chunks: Chunks) -> Bool {
        var (bucket, overflowCount) = (bucket, 0)
        while bucket != 0 {
            if bucket.lies(in: victims) { return true }
            chunks.countOverflow(&overflowCount)
            bucket = Bucket(chunks[bucket]).overflow
        }
        return false
    }

    // MARK: Ordered indexes

    private mutating func findIndexes(_ layout: GraphLayout, _ reader: Reader) {
        let page = reader.indexDirectoryReference(of: layout)
        guard page != 0, let directory = reader.indexDirectory(of: layout) else { return }
        if page.lies(in: victims) { track(.indexDirectory) }
        for number in 0..<directory.count {
            let tree = directory[number].tree
            if tree.height > 0 { findNodes(number, tree.root, level: Int(tree.height) - 1, first: 0, isWanted: false, reader) }
        }
    }

    /// Adds places for the nodes of an index that must be copied, in the part of the tree that begins at `page`. A place names one entry,
    /// and a step visits the nodes on the path to this entry.
    ///
    /// - Parameters:
    ///   - first: The position of the node's first entry in the index.
    ///   - isWanted: Whether a node above this part must be copied. One entry below that node is enough for a step to copy the node.
    private mutating func findNodes(_ number: Int, _ page: PageRef, level: Int, first: Int, isWanted: Bool, _ reader: Reader) {
        if level > OrderedNode.heightMax { reader.chunks.refuse("the tree of an index has too many levels") }
        let isWanted = isWanted || page.lies(in: victims)
        if level == 0 {
            if isWanted { track(.index(number, entry: first)) }
            return
        }
        let inner = reader.chunks.inner(page)
        if level == 1 {
            let hasVictim = isWanted || (0..<inner.count).contains { inner.references[$0].lies(in: victims) }
            // The middle entry is chosen because it probably still lies below this node when the step runs, even if entries were added or
            // removed.
            if hasVictim { track(.index(number, entry: first + inner.entryCount / 2)) }
            return
        }
        var next = first
        for child in 0..<inner.count {
            findNodes(number, inner.references[child], level: level - 1, first: next, isWanted: isWanted && child == 0, reader)
            next += Int(inner.counts[child])
        }
    }

    // MARK: Blobs

    private mutating func findBlobs(_ layout: GraphLayout, _ reader: Reader) {
        // Several cells may refer to one blob (a value of more than 255 bytes), and one step must change all of these cells. So a blob with
        // very many cells stays in place.
        var cells: [PageRef: [EvacuationPlace.Cell]] = [:]
        for table in layout.tables {
            for slot in table.columns.indices where table.columns[slot] == .string {
                for index in 0..<reader.groupCount(table.index) { findBlobs(table.index, index, slot, reader, &cells) }
            }
        }
        for page in cells.keys.sorted() {
            if let cells = cells[page], cells.count <= PackingLimits.cellCountMax { track(.blob(page, cells)) }
        }
    }

    private func findBlobs(_ table: Int, _ index: Int, _ slot: Int, _ reader: Reader, _ cells: inout [PageRef: [EvacuationPlace.Cell]]) {
        guard let group = reader.rows(table).group(at: index) else { return }
        let leaf = reader.rows(table).leaf(group, slot)
        for place in 0..<UInt32(PageLayout.fanOut) {
            let cell = StringLeaf(leaf).cell(place)
            guard cell != 0, StringLeaf.isBlob(cell) else { continue }
            let page = StringLeaf(leaf).blob(cell).page
            // The list of cells ends after one cell more than the maximum. This number suffices to show that there are too many cells.
            if cells[page, default: []].count > PackingLimits.cellCountMax { continue }
            guard Blob.pages(page, reader.chunks).contains(where: { $0.lies(in: victims) }) else { continue }
            cells[page, default: []].append(.init(table: table, row: UInt32(index) << PageLayout.rowShift | place, slot: slot))
        }
    }
}

extension RadixVector {
    /// Finds the nodes for which `body` returns `true`. Returns an index for each of these nodes. The path to this index leads through the
    /// node, unless all elements below the node are 0. So a packing step checks the path with `hasNode(onWayTo:)` before it copies nodes.
    func indices(below chunks: Chunks, where body: (PageRef) -> Bool) -> [Int] {
        var indices: [Int] = []
        guard height > 0, root != 0 else { return [] }
        var pending = [(node: root, level: Int(height) - 1, first: 0)]
        while let (node, level, first) = pending.popLast() {
            if body(node) {
                // At the lowest level, the path to `first` leads through this node, even if the element at `first` is 0. Below a higher
                // node, the path to `first` may end at an absent node, so the index of an element other than 0 is needed. If all elements
                // below that node are 0, `firstIndex` returns an index beyond the node, or `nil`.
                if let index = level == 0 ? first : firstIndex(from: first, chunks) { indices.append(index) }
            }
            if level == 0 { continue }
            for slot in 0..<PageLayout.fanOut {
                let child = VectorNode(chunks[node])[slot]
                if child != 0 { pending.append((child, level - 1, first + slot << (level * PageLayout.fanOutShift))) }
            }
        }
        return indices
    }

    /// Whether all nodes on the path to an element exist, and `body` returns `true` for one of them.
    func hasNode(onWayTo index: Int, _ chunks: Chunks, where body: (PageRef) -> Bool) -> Bool {
        if height == 0 || index >> (Int(height) * PageLayout.fanOutShift) != 0 { return false }
        var (node, found) = (root, false)
        for level in (0..<Int(height)).reversed() {
            if node == 0 { return false }
            found = found || body(node)
            let slot = (index >> (level * PageLayout.fanOutShift)) & PageLayout.fanOutMask
            if level > 0 { node = VectorNode(chunks[node])[slot] }
        }
        return found
    }
}
