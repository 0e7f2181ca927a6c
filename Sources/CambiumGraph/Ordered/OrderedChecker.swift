extension Graph {
    /// Compares the entries of an ordered index with the rows that it must contain. Complexity: O(rows).
    func check(_ index: OrderedIndexLayout, _ findings: inout [String]) {
        let record = reader.record(of: index, layout)
        let table = layout.tables[index.table]
        let rows = reader.rows(index.table)
        let name = "index \(index.number) of '\(table.root?.name ?? "")'"
        let ordered = OrderedReader(reader.chunks, record.tree)
        var (count, strangerCount, misplacedCount) = (0, 0, 0)
        // The order of the entries is checked, too, so no entry occurs twice. Therefore, comparing the counts finds missing rows.
        let flaws = ordered.findings { entry in
            let row = entry.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let isOwn = row >> PageLayout.rowShift < record.groupCount && rows.isLive(row) && index.covers(row, rows, table)
            if !isOwn || index.entry(row, rows) != entry { strangerCount += 1 }
            if count % 97 == 0, ordered.rank(of: entry) != count { misplacedCount += 1 }
            count += 1
        }
        findings += flaws.map { "\(name): \($0)" }
        var expected = 0
        reader.forEachRow(of: table) { row in
            if row >> PageLayout.rowShift < record.groupCount, index.covers(row, rows, table) { expected += 1 }
        }
        if strangerCount > 0 { findings.append("\(name): \(strangerCount) entries lead to no object with their keys.") }
        if misplacedCount > 0 { findings.append("\(name): \(misplacedCount) entries are found at wrong positions.") }
        if count != expected { findings.append("\(name) has \(count) entries instead of \(expected).") }
    }
}

extension OrderedReader {
    /// Returns the number of entries that precede the given bytes.
    func rank(of bytes: [UInt8]) -> Int {
        withUnsafeTemporaryAllocation(byteCount: bytes.count + OrderedNode.slackByteCount, alignment: 8) { memory in
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            memory.copyBytes(from: bytes)
            // SAFETY: the memory is larger than the bytes by the number of bytes that a search may read beyond them.
            return memory.baseAddress.map { rank(of: OrderedBytes($0, bytes.count)) } ?? 0
        }
    }

    /// Returns the faults of the nodes of a tree as sentences. Calls `body` with each entry in order.
    func findings(_ body: ([UInt8]) -> Void) -> [String] {
        guard tree.height > 0 else { return tree == OrderedTree() ? [] : ["an empty tree has a root or entries"] }
        var check = TreeCheck(chunks: chunks)
        let count = check.visit(tree.root, level: Int(tree.height) - 1, lower: [], body)
        if count != Int(clamping: tree.count) { check.findings.append("the tree has \(count) entries, but its count is \(tree.count)") }
        if tree.height > 1, chunks.inner(tree.root).count < 2 { check.findings.append("the root has one child") }
        return check.findings
    }
}

extension OrderedIndexLayout {
    /// Returns the entry of a row in the index: the key, and then the row.
    func entry(_ row: UInt32, _ rows: Rows) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.entryByteCountMax) { buffer, initialized in
            if let memory = buffer.baseAddress { initialized = writeEntry(row, rows, to: memory) }
        }
    }
}

private struct TreeCheck {
    let chunks: Chunks
    var findings: [String] = []
    private var last: [UInt8] = []

    init(chunks: Chunks) { self.chunks = chunks }

    /// Returns the number of entries below a page.
    mutating func visit(_ page: PageRef, level: Int, lower: [UInt8], _ body: ([UInt8]) -> Void) -> Int {
        if level == 0 {
            let leaf = chunks.leaf(page)
            if !leaf.isConsistent { findings.append("leaf \(page) is not consistent") }
            var entries: [[UInt8]] = []
            leaf.forEach { prefix, rest in
                let bytes = [UInt8](UnsafeRawBufferPointer(start: prefix.start, count: prefix.count))
                entries.append(bytes + [UInt8](UnsafeRawBufferPointer(start: rest.start, count: rest.count)))
            }
            for entry in entries {
                if !last.lexicographicallyPrecedes(entry) { findings.append("leaf \(page) is not in order") }
                if entry.lexicographicallyPrecedes(lower) { findings.append("leaf \(page) has an entry below its lower bound") }
                last = entry
                body(entry)
            }
            return entries.count
        }
        let node = chunks.inner(page)
        if !node.isConsistent { findings.append("node \(page) is not consistent") }
        let children = node.children()
        var count = 0
        for child in 0..<node.count {
            let bound = child == 0 ? lower : children.withBound(child) { [UInt8](UnsafeRawBufferPointer(start: $0.start, count: $0.count)) }
            if child > 0, !last.lexicographicallyPrecedes(bound) { findings.append("node \(page) has a lower bound that is too low") }
            let below = visit(node.references[child], level: level - 1, lower: bound, body)
            if below != Int(node.counts[child]) { findings.append("node \(page) states a wrong number of entries of a child") }
            count += below
        }
        return count
    }
}
