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
