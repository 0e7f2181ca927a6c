/// Checks that the pages of a timeline are consistent. No version reaches a page twice, and no reachable page is free. The newest version
/// reaches no page that is recorded as needed only by older versions. No page is younger than a page that refers to it. The space counts
/// exactly the reachable pages as used.
package struct PageChecker {
    private let timeline: Timeline
    private let chunks: Chunks
    private var findings: [String] = []

    private init(_ timeline: Timeline) {
        self.timeline = timeline
        chunks = timeline.space.chunks
    }

    /// Returns the faults as sentences, or an empty array. The caller must ensure that no writer is active. Complexity: O(pages x
    /// versions).
    package static func findings(in timeline: Timeline) -> [String] {
        timeline.reclaim()
        var checker = PageChecker(timeline)
        checker.checkAll()
        return checker.findings
    }

    private mutating func checkAll() {
        let head = timeline.head.version
        let headPages = pages(of: head)
        var inUse = headPages
        for page in timeline.space.constants.all { inUse.insert(page) }
        for version in timeline.pinnedVersions { inUse.formUnion(pages(of: version)) }
        var dead = Set<PageRef>()
        for version in timeline.pinnedVersions {
            for page in version.dead.elements {
                if !dead.insert(page).inserted { findings.append("Page \(page) is recorded as replaced twice.") }
                if headPages.contains(page) { findings.append("Page \(page) is recorded as replaced, but the newest version reaches it.") }
                if !inUse.contains(page) { findings.append("Page \(page) is recorded as replaced, but no version reaches it.") }
            }
        }
        var granules = 0
        var live = [Int](repeating: 0, count: PageLayout.chunkCountMax)
        inUse.forEach { page in
            live[Int(page >> 12)] += chunks.granules(page)
            granules += chunks.granules(page)
        }
        for chunk in 0..<timeline.space.chunkCount where live[chunk] != Int(timeline.space.live[chunk]) {
            let count = timeline.space.live[chunk]
            findings.append("Chunk \(chunk) has \(live[chunk]) granules in use, but its count is \(count).")
        }
        if granules != timeline.space.liveGranules {
            findings.append("\(granules) granules are reachable, but the count of granules in use is \(timeline.space.liveGranules).")
        }
    }

    /// Returns every page of a version except the constant pages.
    private mutating func pages(of version: Version) -> RowSet {
        var walk = PageWalk(chunks: chunks, constants: Set(timeline.space.constants.all), epoch: version.epoch)
        walk.visit(version.directory, birthMax: version.epoch)
        let reader = version.reader
        var noted: UInt32 = 0
        walk.vector(reader.sharedBlobs, birthMax: chunks.birth(version.directory)) { _, count, _ in noted += count }
        for table in version.layout.tables { walkTable(table, reader, &walk) }
        walkIndexes(version, &walk)
        if let register = reader.register(of: version.layout) {
            walk.visit(register.directory, birthMax: chunks.birth(version.directory))
            for table in Register.layout.tables { walkTable(table, register, &walk) }
        }
        for (head, count) in walk.sharerCounts where reader.sharedBlobs.get(Blob.place(head), chunks) != count {
            walk.findings.append("In addition to the first cell, \(count) cells refer to long value \(head), but its stored count differs.")
        }
        let counted = walk.sharerCounts.values.reduce(0, +)
        if counted != noted {
            walk.findings.append("In addition to the first cells, \(counted) cells refer to long values. The stored counts say \(noted).")
        }
        findings += walk.findings
        return walk.seen
    }

    private func walkIndexes(_ version: Version, _ walk: inout PageWalk) {
        let page = version.reader.indexDirectoryReference(of: version.layout)
        guard page != 0 else { return }
        walk.visit(page, birthMax: chunks.birth(version.directory))
        for record in IndexDirectory(chunks[page]).records where record.tree.height > 0 {
            var pending = [(record.tree.root, Int(record.tree.height) - 1, chunks.birth(page))]
            while let (page, level, birthMax) = pending.popLast() {
                walk.visit(page, birthMax: birthMax)
                if level == 0 { continue }
                let node = chunks.inner(page)
                for child in 0..<node.count { pending.append((node.references[child], level - 1, chunks.birth(page))) }
            }
        }
    }

    private func walkTable(_ table: TableLayout, _ reader: Reader, _ walk: inout PageWalk) {
        let page = reader.tableReference(table.index)
        walk.visit(page, birthMax: chunks.birth(reader.directory))
        let birth = chunks.birth(page)
        walk.vector(reader.tablePage(table.index).virtualPages, birthMax: birth) { _, _, _ in }
        walk.vector(reader.tablePage(table.index).free, birthMax: birth) { _, _, _ in }
        walk.vector(reader.tablePage(table.index).rows, birthMax: birth) { walk, group, birthMax in
            walk.visit(group, birthMax: birthMax)
            let birth = walk.chunks.birth(group)
            for (slot, kind) in table.columns.enumerated() {
                let leaf = walk.chunks.group(group)[slot]
                walk.visit(leaf, birthMax: birth)
                if kind == .string { walk.blobs(of: leaf) }
            }
        }
        for index in table.indexes {
            var buckets = Set<PageRef>()
            walk.vector(reader.tablePage(table.index).index(index.number).directory, birthMax: birth) { walk, bucket, birthMax in
                guard buckets.insert(bucket).inserted else { return }
                var page = bucket
                var (overflowPageCount, otherCount) = (-1, 0)
                let first = Bucket(walk.chunks[bucket])
                var birthMax = birthMax
                while page != 0 {
                    walk.visit(page, birthMax: birthMax)
                    birthMax = walk.chunks.birth(page)
                    let contents = Bucket(walk.chunks[page])
                    if !contents.isConsistent { walk.findings.append("Bucket \(page) states a wrong number of entries.") }
                    overflowPageCount += 1
                    contents.forEach { fragment, _ in if fragment != first.crowdFragment { otherCount += 1 } }
                    if contents.count < Bucket.capacity, overflowPageCount != 1, overflowPageCount > 0 || contents.overflow != 0 {
                        walk.findings.append("Page \(page) of bucket \(bucket) is not full and is not the first overflow page.")
                    }
                    page = contents.overflow
                }
                let isCounted = overflowPageCount == 0 || first.depth == Bucket.depthMax || first.otherCount == otherCount
                if first.overflowPageCount != overflowPageCount || !isCounted {
                    walk.findings.append("Bucket \(bucket) states a wrong number of overflow pages.")
                }
            }
        }
    }
}

/// Collects the pages that a version reaches.
private struct PageWalk {
    let chunks: Chunks
    let constants: Set<PageRef>
    let epoch: UInt64
    /// The pages, one bit for each granule of 16 bytes.
    var seen = RowSet()
    var findings: [String] = []
    /// For each blob (a value of more than 255 bytes), the number of cells that refer to it in addition to the first.
    private(set) var sharerCounts: [PageRef: UInt32] = [:]

    mutating func visit(_ page: PageRef, birthMax: UInt64) {
        if constants.contains(page) { return }
        if !seen.insert(page) { findings.append("The version of epoch \(epoch) reaches page \(page) twice.") }
        if chunks.kind(page) == .free || chunks.kind(page) == nil { findings.append("Page \(page) is free, but a version reaches it.") }
        if chunks.birth(page) > birthMax { findings.append("Page \(page) is younger than the page that refers to it.") }
    }

    /// Visits the nodes of a vector, and calls `body` with each element that is not 0.
    mutating func vector(_ vector: RadixVector, birthMax: UInt64, _ body: (inout PageWalk, PageRef, UInt64) -> Void) {
        guard vector.height > 0, vector.root != 0 else { return }
        var pending = [(vector.root, vector.height, birthMax)]
        while let (node, height, birthMax) = pending.popLast() {
            visit(node, birthMax: birthMax)
            for slot in 0..<PageLayout.fanOut {
                let child = VectorNode(chunks[node])[slot]
                if child == 0 { continue }
                if height > 1 {
                    pending.append((child, height - 1, chunks.birth(node)))
                } else {
                    body(&self, child, chunks.birth(node))
                }
            }
        }
    }

    mutating func blobs(of leaf: PageRef) {
        let pointer = chunks[leaf]
        let birth = chunks.birth(leaf)
        for row in 0..<UInt32(PageLayout.fanOut) {
            let cell = StringLeaf(pointer).cell(row)
            guard cell != 0, StringLeaf.isBlob(cell) else { continue }
            let head = StringLeaf(pointer).blob(cell).page
            if let count = sharerCounts[head] {
                if chunks.birth(head) > birth { findings.append("Long value \(head) is younger than a page that refers to it.") }
                sharerCounts[head] = count + 1
                continue
            }
            sharerCounts[head] = 0
            visit(head, birthMax: birth)
            for index in 0..<BlobHead(chunks[head]).extentCount {
                visit(BlobHead(chunks[head])[index], birthMax: chunks.birth(head))
            }
        }
    }
}
