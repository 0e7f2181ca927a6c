import CambiumBytes
import CambiumModel
import Synchronization

/// Checks whether stored pages form a graph, whatever their bytes are. In a graph, each reference leads to a page of the right kind and
/// size that nothing else refers to. All rows and counts agree with each other, and each value is valid for its type. The two sides of each
/// link agree, and each index has each of its objects once. If the pages form a graph, readers and drafts use them without further checks.
///
/// The proof follows no reference that it has not checked, visits no page twice, and stays within the chunks of the graph. So the proof
/// ends, and it neither traps nor reads beyond its memory. Complexity: O(pages and values).
package struct GraphProof {
    let space: PageSpace
    let chunks: Chunks
    /// Reads the graph, or its register (requests and labels) while the register is proven.
    private(set) var reader: Reader
    private(set) var layout: GraphLayout
    let epoch: UInt64
    /// The latest permitted birth of the directory page. The birth of a page is the epoch in which the page was written.
    private(set) var birthMax: UInt64
    let constants: Set<PageRef>
    /// The flaws that were found, as sentences.
    private(set) var flaws: [String] = []

    /// For each chunk that was touched, a bit for each granule (16 bytes): whether a page begins there.
    private var starts: [[UInt64]]
    /// For each chunk that was touched, a bit for each granule (16 bytes): whether a reference to the page that begins there was found.
    private var claims: [[UInt64]]
    /// For each chunk, the number of granules (16 bytes each) in the pages to which a reference was found.
    private var claimed: [Int]
    /// For each blob (a value of more than 255 bytes), the number of cells that refer to it in addition to the first. `types` contains the
    /// types of the attributes for which the value was checked.
    var blobs: [PageRef: (sharerCount: UInt32, types: Set<AttributeType>)] = [:]
    var tables: [ProvenTable] = []

    /// The number of flaws after which the proof stops.
    private static let flawCountMax = 20

    init(_ version: Version) {
        space = version.space
        chunks = space.chunks
        reader = version.reader
        layout = version.layout
        epoch = version.epoch
        birthMax = epoch
        constants = Set(space.constants.all)
        let chunkCount = space.chunkCount
        starts = [[UInt64]](repeating: [], count: chunkCount)
        claims = starts
        claimed = [Int](repeating: 0, count: chunkCount)
    }

    /// Returns the flaws of a version, or an empty array if the version is a valid graph. The version must be the newest one of a timeline
    /// that was opened from a checkpoint and not changed since.
    static func flaws(of version: Version) -> [String] {
        var proof = GraphProof(version)
        proof.proveConstants()
        // Each step relies on the preceding steps.
        if proof.isSound { proof.proveContents() }
        if proof.isSound { proof.inRegister { $0.proveContents() } }
        if proof.isSound { proof.proveGranules() }
        return proof.flaws
    }

    /// Returns only the flaws of the pages of tables, which every reader needs first.
    static func tableFlaws(of version: Version) -> [String] {
        var proof = GraphProof(version)
        proof.proveTables()
        if proof.isSound { proof.inRegister { $0.proveTables() } }
        return proof.flaws
    }

    private mutating func proveContents() {
        if isSound { provePages() }
        if isSound { proveRows() }
        if isSound { proveBlobs() }
        if isSound { proveLinks() }
        if isSound { proveIndexes() }
        if isSound { proveOrderedIndexes() }
    }

    /// Runs a proof on the register (the inner graph of requests and labels), if the graph has one. The directory of the graph must already
    /// be proven.
    private mutating func inRegister(_ body: (inout GraphProof) -> Void) {
        guard let register = reader.register(of: layout) else { return }
        // A page is never younger than a page that refers to it, so the register is not younger than the graph's directory.
        birthMax = chunks.birth(reader.directory)
        (reader, layout) = (register, Register.layout)
        (tables, blobs) = ([], [:])
        body(&self)
    }

    var isSound: Bool { flaws.isEmpty }
    var isFull: Bool { flaws.count >= Self.flawCountMax }

    mutating func report(_ flaw: String) { if !isFull { flaws.append(flaw) } }

    /// An upper bound of the number of elements in all vectors of the graph.
    var elementCountMax: Int {
        space.liveGranules / PageLayout.granules(VectorNode.byteCount) * PageLayout.fanOut
    }

    // MARK: Pages

    /// Claims a page for a reference and returns its address. No other reference may claim the same page. If the page does not fit the
    /// reference, records a flaw and returns `nil`.
    ///
    /// - Parameters:
    ///   - granules: The size of the page in granules of 16 bytes; `nil` for any size that its kind can have.
    ///   - birth: The epoch in which the page that contains the reference was written. The claimed page must not be younger than that page.
    mutating func claim(
        _ page: PageRef, _ kind: PageKind, granules: Int? = nil, notAfter birth: UInt64
    ) -> UnsafeMutableRawPointer? {
        guard let pointer = start(page) else {
            report("Reference \(page) does not lead to a page.")
            return nil
        }
        let (chunk, word) = (Int(page >> 12), Int(page & 4095) >> 6)
        let bit: UInt64 = 1 << UInt64(page & 63)
        guard claims[chunk][word] & bit == 0 else {
            report("Two references lead to page \(page).")
            return nil
        }
        let size = PageHeader(pointer).granules
        let born = PageHeader(pointer).birth
        guard PageHeader(pointer).kind == kind, granules ?? size == size else {
            report("Page \(page) does not have the kind \(kind) and the size that its reference requires.")
            return nil
        }
        guard born > 0, born <= birth else {
            report("Page \(page) is younger than the page that refers to it, or states no epoch.")
            return nil
        }
        claims[chunk][word] |= bit
        claimed[chunk] += size
        return pointer
    }

    /// Returns the address of a page, or `nil` if no page begins there.
    private mutating func start(_ page: PageRef) -> UnsafeMutableRawPointer? {
        let chunk = Int(page >> 12)
        guard page != 0, chunk < starts.count, space.live[chunk] > 0 else { return nil }
        guard let base = chunks[chunk: chunk] ?? supplied(chunk) else { return nil }
        if starts[chunk].isEmpty {
            starts[chunk] = [UInt64](repeating: 0, count: PageMap.wordCount)
            claims[chunk] = starts[chunk]
            let flaw = starts[chunk].withUnsafeMutableBufferPointer { PageMap.read(chunk, at: base, epoch: epoch, to: $0) }
            if let flaw { report("Chunk \(chunk) is not divided into pages: \(flaw).") }
        }
        guard starts[chunk][Int(page & 4095) >> 6] >> UInt64(page & 63) & 1 != 0 else { return nil }
        return base + Int(page & 4095) << 4
    }

    /// Returns the address of a chunk that is touched for the first time. If the headers do not divide the chunk into pages, records a flaw
    /// and returns `nil`.
    private mutating func supplied(_ chunk: Int) -> UnsafeMutableRawPointer? {
        let (base, flaw) = space.supplied(chunk)
        if let flaw {
            report("\(flaw).")
            return nil
        }
        chunks[chunk: chunk] = base
        return base
    }

    /// Visits the nodes of a vector, and calls `body` with the index of each element that is not 0, ascending.
    mutating func walk(
        _ vector: RadixVector, notAfter birth: UInt64, _ body: (inout GraphProof, _ index: Int, _ element: UInt32, _ birth: UInt64) -> Void
    ) {
        guard vector.root != 0 else { return }
        guard (1...RadixVector.heightMax).contains(Int(vector.height)) else {
            return report("A vector states an impossible height of \(vector.height) levels.")
        }
        var pending = [(node: vector.root, level: Int(vector.height) - 1, first: 0, birth: birth)]
        while let (node, level, first, birth) = pending.popLast(), !isFull {
            let size = PageLayout.granules(VectorNode.byteCount)
            guard let pointer = claim(node, .vectorNode, granules: size, notAfter: birth) else { continue }
            let own = PageHeader(pointer).birth
            for slot in 0..<PageLayout.fanOut {
                // The loop visits the last node of `pending` first. So children are added in descending order, to be visited in ascending
                // order.
                let slot = level > 0 ? PageLayout.fanOut - 1 - slot : slot
                let element = VectorNode(pointer)[slot]
                if element == 0 { continue }
                let index = first + slot << (level * PageLayout.fanOutShift)
                if level > 0 { pending.append((element, level - 1, index, own)) } else { body(&self, index, element, own) }
            }
        }
    }

    // MARK: Properties of all pages

    /// Proves that the constant pages, which all groups use as leaves without content, really have no content.
    private mutating func proveConstants() {
        let known = space.constants
        for page in known.all {
            guard let pointer = start(page), pointer.load(as: UInt64.self) == 0 else {
                return report("Page \(page) must be a constant page of epoch 0, but is not.")
            }
            let isLink = page == known.noRows || page == known.zeroes
            let kind: PageKind = isLink ? .linkLeaf : page == known.nullString ? .stringLeaf : .fixedLeaf
            let wanted = constantByteCount(page)
            let isSized = PageHeader(pointer).granules == PageLayout.granules(wanted)
            let content = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(start: pointer, count: wanted)[PageLayout.header...])
            let fill: UInt8 = page == known.noRows ? 0xFF : 0
            guard isSized, chunks.kind(page) == kind, ByteSearch.areAll(fill, content) else {
                return report("Constant page \(page) does not have the required kind, size and content.")
            }
            claims[Int(page >> 12)][Int(page & 4095) >> 6] |= 1 << UInt64(page & 63)
            claimed[Int(page >> 12)] += chunks.granules(page)
        }
    }

    private func constantByteCount(_ page: PageRef) -> Int {
        let known = space.constants
        switch page {
        case known.noRows, known.zeroes: return LinkLeaf.byteCount
        case known.nullString: return StringLeaf.byteCount(heap: 0)
        default:
            let width = [1, 2, 4, 8, 16].first { known.null(width: $0) == page } ?? 1
            return FixedLeaf.byteCount(width: width)
        }
    }

    /// Proves that the number of granules (16 bytes each) in use in each chunk is the number that the checkpoint record states.
    private mutating func proveGranules() {
        for chunk in claimed.indices where claimed[chunk] != Int(space.live[chunk]) {
            report("Chunk \(chunk) has \(claimed[chunk]) granules in use, but the checkpoint record states \(space.live[chunk]).")
        }
    }
}

extension GraphProof {
    /// Returns the flaws of the pages of a timeline as sentences, or an empty array if the pages form a valid graph. The timeline must have
    /// been opened from a checkpoint, and must not have changed since. Complexity: O(pages and values).
    package static func flaws(of timeline: Timeline) -> [String] {
        let flaws = flaws(of: timeline.head.version)
        timeline.space.isProven = flaws.isEmpty
        return flaws
    }

    /// Returns only the flaws of the pages of tables. All other pages are checked when they are read. Complexity: O(tables + chunks).
    package static func tableFlaws(of timeline: Timeline) -> [String] {
        // A draft writes in place to each page with the draft's epoch. An author of forged pages must not be able to predict this epoch, so
        // a random number is added to the epoch.
        Timeline.epochs.wrappingAdd(UInt64.random(in: 1...UInt64(UInt32.max)), ordering: .relaxed)
        return tableFlaws(of: timeline.head.version)
    }
}

/// Proves that each hash index has exactly one entry for each object with a key, and no other entry. Each entry must be in the bucket that
/// the hash of the key determines. Also proves that no two edges link the same objects.
extension GraphProof {
    mutating func proveIndexes() {
        for table in tables {
            for index in table.layout.indexes where isSound { prove(index, table) }
        }
    }

    private mutating func prove(_ index: IndexLayout, _ table: ProvenTable) {
        let rows = reader.rows(table.layout.index)
        let record = table.page.index(index.number)
        let (bits, vector) = (record.bits, record.directory)
        var seen = RowSet()
        var count = 0
        var place = 0
        // The ends of the edges in one bucket. Edges with the same ends have the same hash, so they are in the same bucket.
        var pairs = Set<UInt64>()
        while place < 1 << bits, isSound {
            pairs.removeAll(keepingCapacity: true)
            var page = vector.get(place, chunks)
            if page == 0 { break }
            let depth = Bucket(chunks[page]).depth
            while page != 0 {
                // The rows of a bucket are scattered in memory, so they are prefetched together.
                if let slot = index.slots.first, let kind = index.kinds.first {
                    Bucket(chunks[page]).forEach { _, row in if table.isLive(row) { rows.prefetch(row, slot, kind) } }
                }
                Bucket(chunks[page]).forEach { fragment, row in
                    count += 1
                    guard table.isLive(row), seen.insert(row), index.coversTable || index.family.contains(rows.entity(row, table.layout)),
                        let hash = reader.keyHash(index, rows, row), Bucket.fragment(hash) == fragment,
                        depth == 0 || Int(hash >> UInt64(64 - depth)) == place >> (bits - depth)
                    else { return report("An index of '\(table.name)' has an entry that leads to no object with its key.") }
                    guard table.isEdges else { return }
                    if !pairs.insert(UInt64(rows.link(row, 0)) << 32 | UInt64(rows.link(row, 1))).inserted {
                        report("Two links of a relationship have the same ends.")
                    }
                }
                page = Bucket(chunks[page]).overflow
            }
            place += 1 << (bits - depth)
        }
        var expected = 0
        table.forEachRow { row in
            guard index.coversTable || index.family.contains(rows.entity(row, table.layout)) else { return }
            let hasKey = zip(index.slots, index.kinds).allSatisfy { slot, kind in
                kind == .rows ? rows.link(row, slot) != noRow : !rows.isNull(row, slot, kind)
            }
            if hasKey { expected += 1 }
        }
        if count != expected || count != record.entryCount {
            report("An index of '\(table.name)' has \(count) entries for \(expected) objects with a key, or states a wrong number.")
        }
    }
}

/// Proves columns of texts and bytes, which contain values of different lengths.
extension GraphProof {
    /// Proves that all cells of a leaf refer to bytes within its heap, and that the heap is large enough for all values together. Also
    /// proves that the values have the attribute's type.
    mutating func proveStrings(
        _ table: ProvenTable, _ slot: Int, _ leaf: UnsafeMutableRawPointer, _ live: UInt128, _ group: GroupPage
    ) {
        guard StringLeaf(leaf).isConsistent else { return report("A page with values of '\(table.name)' has values outside its heap.") }
        var check = StoredValueCheck(table.types[slot] ?? .data)
        for place in 0..<PageLayout.fanOut {
            let cell = StringLeaf(leaf).cell(UInt32(place))
            if cell == 0 { continue }
            guard live >> UInt128(place) & 1 != 0 else { return report("'\(table.name)' has a value of an object that does not exist.") }
            let flaw =
                !StringLeaf.isBlob(cell)
                ? check.flaw(bytes: StringLeaf(leaf).inlineBytes(cell)) : blobFlaw(leaf, cell, table.types[slot] ?? .data, &check)
            if let flaw { return report("\(object(table, group, place)): '\(attribute(table, slot))' \(flaw).") }
        }
    }

    /// Returns the flaw of a value of more than 255 bytes, or `nil` if the value is valid. Several cells may refer to the value, but its
    /// pages are proven only once.
    private mutating func blobFlaw(
        _ leaf: UnsafeMutableRawPointer, _ cell: UInt32, _ type: AttributeType, _ check: inout StoredValueCheck
    ) -> String? {
        let (reference, byteCount) = StringLeaf(leaf).blob(cell)
        let birth = PageHeader(leaf).birth
        if let known = blobs[reference] {
            blobs[reference]?.sharerCount += 1
            guard chunks.birth(reference) <= birth else { return "is in a page that is younger than the page that refers to it" }
            guard Int(truncatingIfNeeded: BlobHead(chunks[reference]).byteCount) == byteCount else {
                return "does not have the length that its leaf states"
            }
            if known.types.contains(type) { return nil }
        } else {
            guard proveBlob(reference, birth) else { return "does not consist of valid pages" }
            guard Int(truncatingIfNeeded: BlobHead(chunks[reference]).byteCount) == byteCount else {
                return "does not have the length that its leaf states"
            }
            blobs[reference] = (0, [])
        }
        blobs[reference]?.types.insert(type)
        return type == .data ? nil : Blob.bytes(reference, chunks).withUnsafeBytes { check.flaw(bytes: $0) }
    }

    private mutating func proveBlob(_ reference: PageRef, _ birth: UInt64) -> Bool {
        guard let page = claim(reference, .blobHead, notAfter: birth) else { return false }
        let (header, head) = (PageHeader(page), BlobHead(page))
        let stated = head.byteCount
        guard stated > UInt64(StringLeaf.inlineMax), stated <= UInt64(Blob.byteCountMax) else { return false }
        let byteCount = Int(stated)
        let extentCount = (byteCount + Blob.extentByteCountMax - 1) / Blob.extentByteCountMax
        guard head.extentCount == extentCount, BlobHead.pageByteCount(extentCount: extentCount) <= header.byteCount else { return false }
        for index in 0..<extentCount {
            let count = min(Blob.extentByteCountMax, byteCount - index * Blob.extentByteCountMax)
            let granules = PageLayout.granules(PageLayout.header + count)
            guard claim(head[index], .blobExtent, granules: granules, notAfter: header.birth) != nil else { return false }
        }
        return true
    }

    /// Proves that as many cells refer to each blob (a value of more than 255 bytes) as the vector of shared blobs states.
    mutating func proveBlobs() {
        let birth = chunks.birth(reader.directory)
        var noted: UInt64 = 0
        walk(reader.sharedBlobs, notAfter: birth) { _, _, count, _ in noted += UInt64(count) }
        guard isSound else { return }
        var counted: UInt64 = 0
        for (head, blob) in blobs {
            counted += UInt64(blob.sharerCount)
            guard reader.sharedBlobs.get(Blob.place(head), chunks) == blob.sharerCount else {
                return report("\(blob.sharerCount + 1) cells refer to a long value, but its stored count differs.")
            }
        }
        if counted != noted {
            report("In addition to the first cells, \(counted) cells refer to long values. The stored counts say \(noted).")
        }
    }
}
