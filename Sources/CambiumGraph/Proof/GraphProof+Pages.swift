import CambiumModel

/// Proves the pages of a stored graph, from the directory page to each leaf.
extension GraphProof {
    mutating func provePages() {
        proveTables()
        for number in tables.indices where isSound {
            let groupCount = Int(tables[number].page.groupCount)
            tables[number].groups = [GroupPage?](repeating: nil, count: groupCount)
            proveGroups(number)
        }
    }

    /// Proves the pages of the tables. Also proves that no stored count exceeds what the pages of the graph can hold.
    mutating func proveTables() {
        let size = PageLayout.granules(layout.directoryByteCount)
        guard let directory = claim(reader.directory, .directory, granules: size, notAfter: birthMax) else { return }
        let birth = PageHeader(directory).birth
        guard reader.sharedBlobs.height <= RadixVector.heightMax else { return report("The vector of long values has too many levels.") }
        for layout in layout.tables {
            let reference = DirectoryPage(directory)[layout.index]
            let granules = PageLayout.granules(layout.pageByteCount)
            guard let page = claim(reference, .table, granules: granules, notAfter: birth) else { return }
            let table = ProvenTable(layout, page, self.layout.schema)
            guard hasPossibleCounts(table) else { return report("'\(table.name)' states a count that its pages cannot hold.") }
            tables.append(table)
        }
        if isSound { proveIndexDirectory(birth) }
    }

    /// Proves the directory page of the ordered indexes, and that no tree exceeds the maximum height.
    private mutating func proveIndexDirectory(_ birth: UInt64) {
        let reference = reader.indexDirectoryReference(of: layout)
        if reference == 0 { return }
        guard let page = claim(reference, .indexDirectory, notAfter: birth) else { return }
        let directory = IndexDirectory(page)
        guard directory.count <= OrderedIndexLayout.countMax,
            IndexDirectory.byteCount(directory.count) <= chunks.granules(reference) * PageLayout.granule
        else { return report("The directory of indexes states more records than it can hold.") }
        for record in directory.records where !record.tree.isPossible {
            report("An index states an impossible tree of \(record.tree.height) levels.")
        }
    }

    private func hasPossibleCounts(_ table: ProvenTable) -> Bool {
        let serialMax = table.isEdges ? TableLayout.rowCountMax : ObjectID.serialMax + 1
        let page = table.page
        let indexes = table.layout.indexes.map { page.index($0.number) }
        let vectors = [page.rows, page.virtualPages, page.free] + indexes.map(\.directory)
        let counts =
            [page.liveCount] + indexes.map(\.entryCount) + table.layout.entities.map { table.layout.count(of: $0, in: page).pointee }
        return page.groupCount <= min(elementCountMax, TableLayout.groupCountMax)
            && page.freeCount <= elementCountMax
            && (table.isEdges ? 0...serialMax : 1...serialMax).contains(page.nextSerial)
            && vectors.allSatisfy { $0.height <= RadixVector.heightMax }
            && counts.allSatisfy { (0...Int(TableLayout.rowCountMax)).contains($0) }
            && indexes.allSatisfy { $0.bits <= Bucket.depthMax && 1 << $0.bits <= max(1, elementCountMax) }
    }

    private mutating func proveGroups(_ number: Int) {
        let table = tables[number]
        let birth = PageHeader(table.page.page).birth
        let size = PageLayout.granules(table.layout.groupByteCount)
        walk(table.page.rows, notAfter: birth) { proof, index, reference, birth in
            guard index < table.groups.count else { return proof.report("'\(table.name)' has a group of rows beyond the last one.") }
            guard let group = proof.claim(reference, .rowGroup, granules: size, notAfter: birth).map(GroupPage.init) else { return }
            proof.tables[number].groups[index] = group
            proof.proveLeaves(group, table.layout)
        }
        // Only the nodes of these vectors are proven here. `proveSerials` and `proveFree` check the elements.
        for vector in [table.page.virtualPages, table.page.free] { walk(vector, notAfter: birth) { _, _, _, _ in } }
        for index in table.layout.indexes { proveDirectory(index, table, birth) }
    }

    private mutating func proveLeaves(_ group: GroupPage, _ table: TableLayout) {
        let birth = group.birth
        for (slot, kind) in table.columns.enumerated() {
            let leaf = group[slot]
            if leaf == kind.emptyLeaf(space.constants) { continue }
            switch kind {
            case .fixed(let width):
                _ = claim(leaf, .fixedLeaf, granules: PageLayout.granules(FixedLeaf.byteCount(width: width)), notAfter: birth)
            case .string: _ = claim(leaf, .stringLeaf, notAfter: birth)
            case .rows: _ = claim(leaf, .linkLeaf, granules: PageLayout.granules(LinkLeaf.byteCount), notAfter: birth)
            case .numbers:
                let isProvenance = table.root != nil && slot <= TableLayout.changedSlot
                let isWide = isProvenance && pageKind(leaf) == .wideLeaf
                let byteCount = isWide ? WideLeaf.byteCount : LinkLeaf.byteCount
                _ = claim(leaf, isWide ? .wideLeaf : .linkLeaf, granules: PageLayout.granules(byteCount), notAfter: birth)
            }
        }
    }

    /// Returns the kind that the header of a page states. Returns `nil` if no page can begin at the reference.
    private func pageKind(_ page: PageRef) -> PageKind? {
        let chunk = Int(page >> 12)
        return chunk < space.chunkCount && space.live[chunk] > 0 ? chunks.kind(page) : nil
    }

    // MARK: Directories of indexes

    /// Proves that the references to each bucket fill as many consecutive slots of the index's directory as the depth of the bucket
    /// requires. No two buckets may share an overflow page.
    private mutating func proveDirectory(_ index: IndexLayout, _ table: ProvenTable, _ birth: UInt64) {
        let record = table.page.index(index.number)
        let bits = record.bits
        var last: (place: Int, reference: PageRef, end: Int) = (-1, 0, 0)
        var count = 0
        walk(record.directory, notAfter: birth) { proof, place, reference, birth in
            count += 1
            guard place < 1 << bits, place == last.place + 1 || place == 0 else {
                return proof.report("The directory of an index of '\(table.name)' has gaps, or slots beyond its end.")
            }
            last.place = place
            if reference == last.reference, place < last.end { return }
            guard place == last.end else { return proof.report("A bucket of '\(table.name)' fills too few slots for its depth.") }
            guard let depth = proof.proveBucket(reference, birth), depth <= bits, place & (1 << (bits - depth) - 1) == 0 else {
                return proof.report("A bucket of '\(table.name)' has a depth that does not fit the directory of its index.")
            }
            (last.reference, last.end) = (reference, place + 1 << (bits - depth))
        }
        // An index that never had an entry has no bucket.
        guard count == 1 << bits || count == 0 && bits == 0, count == 0 || last.end == 1 << bits else {
            return report("The buckets of an index of '\(table.name)' fill \(count) slots of its directory, but must fill \(1 << bits).")
        }
    }

    /// Proves a bucket and all of its overflow pages, and returns its depth. Returns `nil` if a page is not a valid bucket page, or if the
    /// first page states wrong counts of the overflow pages.
    private mutating func proveBucket(_ reference: PageRef, _ birth: UInt64) -> Int? {
        var (next, birth) = (reference, birth)
        var pages: [Bucket] = []
        let size = PageLayout.granules(Bucket.byteCount)
        while next != 0 {
            guard let page = claim(next, .bucket, granules: size, notAfter: birth) else { return nil }
            guard Bucket(page).isConsistent else {
                report("Bucket \(next) states a wrong number of entries.")
                return nil
            }
            pages.append(Bucket(page))
            birth = PageHeader(page).birth
            next = Bucket(page).overflow
        }
        guard let first = pages.first else { return nil }
        if pages.count > 1, !Self.hasRightCounts(first, pages) {
            report("Bucket \(reference) states wrong counts of its overflow pages.")
            return nil
        }
        return first.depth
    }

    /// Returns whether the first page of a bucket states the right number of overflow pages, and of entries outside the crowd. The crowd
    /// consists of the entries with the most frequent fragment.
    private static func hasRightCounts(_ first: Bucket, _ pages: [Bucket]) -> Bool {
        if first.overflowPageCount != pages.count - 1 { return false }
        // In a bucket of the greatest depth, the stated number of entries outside the crowd may be inexact.
        if first.depth == Bucket.depthMax { return true }
        var otherCount = 0
        for page in pages { page.forEach { fragment, _ in if fragment != first.crowdFragment { otherCount += 1 } } }
        return first.otherCount == otherCount
    }
}
