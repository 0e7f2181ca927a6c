import CambiumModel
import Synchronization

/// Proves that stored pages are a graph, whatever their bytes are: each reference leads to a page of the right kind and size that nothing
/// else refers to, each row and count is what the others say, each value is one of its type, each link is there from both sides, and each
/// index has each object once. What was proven can be read and changed without a check of its own.
///
/// It follows nothing that it has not checked, goes to no page twice and no further than the chunks of the graph: so it ends, and
/// neither traps nor reads beyond its memory. Complexity: O(pages and values).
struct GraphProof {
    let space: PageSpace
    let chunks: Chunks
    /// Of the graph, or of its register.
    private(set) var reader: Reader
    private(set) var layout: GraphLayout
    let epoch: UInt64
    /// The directory was not born later.
    private(set) var birthMax: UInt64
    let constants: Set<PageRef>
    /// What is wrong, in sentences.
    private(set) var flaws: [String] = []

    // For each chunk that was touched, a bit for each granule: whether a page begins there, and whether something has referred to it.
    private var starts: [[UInt64]]
    private var claims: [[UInt64]]
    /// For each chunk, the granules of the pages that were referred to.
    private var claimed: [Int]
    /// For each blob, the cells that refer to it beside the first, and the types of the attributes that it was checked for.
    var blobs: [PageRef: (sharerCount: UInt32, types: Set<AttributeType>)] = [:]
    var tables: [ProvenTable] = []

    /// More flaws are not looked for.
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

    /// What is wrong with the newest version of a timeline that was opened from a checkpoint and has not been changed since; empty if it is
    /// a graph.
    static func flaws(of version: Version) -> [String] {
        var proof = GraphProof(version)
        proof.proveConstants()
        // Each step relies on those before.
        if proof.isSound { proof.proveContents() }
        if proof.isSound { proof.inRegister { $0.proveContents() } }
        if proof.isSound { proof.proveGranules() }
        return proof.flaws
    }

    /// What is wrong with the tables alone, which all reading begins with.
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

    /// Proves the register of a graph, if it has one. The directory of the graph is proven already.
    private mutating func inRegister(_ body: (inout GraphProof) -> Void) {
        guard let register = reader.register(of: layout) else { return }
        // A page that a directory refers to is not younger.
        birthMax = chunks.birth(reader.directory)
        (reader, layout) = (register, Register.layout)
        (tables, blobs) = ([], [:])
        body(&self)
    }

    var isSound: Bool { flaws.isEmpty }
    var isFull: Bool { flaws.count >= Self.flawCountMax }

    mutating func note(_ flaw: String) { if !isFull { flaws.append(flaw) } }

    /// As many elements as the vectors of the graph can have at most.
    var elementCountMax: Int {
        space.liveGranules / PageLayout.granules(PageLayout.vectorNodeByteCount) * PageLayout.fanOut
    }

    // MARK: Pages

    /// The address of a page that something refers to, which nothing else may. Returns `nil`, and notes why, if it is no such page.
    ///
    /// - Parameters:
    ///   - granules: its size; `nil` for any that its kind can have.
    ///   - birth: of the page with the reference, which is not older.
    mutating func claim(
        _ page: PageRef, _ kind: PageKind, granules: Int? = nil, notAfter birth: UInt64
    ) -> UnsafeMutableRawPointer? {
        guard let pointer = start(page) else {
            note("Reference \(page) leads to no page.")
            return nil
        }
        let (chunk, word) = (Int(page >> 12), Int(page & 4095) >> 6)
        let bit: UInt64 = 1 << UInt64(page & 63)
        guard claims[chunk][word] & bit == 0 else {
            note("Page \(page) is referred to twice.")
            return nil
        }
        let size = Int(pointer.load(fromByteOffset: PageLayout.granulesOffset, as: UInt16.self))
        let born = pointer.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self)
        guard pointer.load(fromByteOffset: PageLayout.kindOffset, as: UInt8.self) == kind.rawValue, granules ?? size == size else {
            note("Page \(page) is not of the kind \(kind) and the size that its place wants.")
            return nil
        }
        guard born > 0, born <= birth else {
            note("Page \(page) is younger than the page that refers to it, or has no age.")
            return nil
        }
        claims[chunk][word] |= bit
        claimed[chunk] += size
        return pointer
    }

    /// The address of a page; `nil` if none begins there.
    private mutating func start(_ page: PageRef) -> UnsafeMutableRawPointer? {
        let chunk = Int(page >> 12)
        guard page != 0, chunk < starts.count, space.live[chunk] > 0 else { return nil }
        guard let base = chunks[chunk: chunk] ?? supplied(chunk) else { return nil }
        if starts[chunk].isEmpty {
            starts[chunk] = [UInt64](repeating: 0, count: PageMap.wordCount)
            claims[chunk] = starts[chunk]
            let flaw = starts[chunk].withUnsafeMutableBufferPointer { PageMap.read(chunk, at: base, epoch: epoch, to: $0) }
            if let flaw { note("Chunk \(chunk) is not cut into pages: \(flaw).") }
        }
        guard starts[chunk][Int(page & 4095) >> 6] >> UInt64(page & 63) & 1 != 0 else { return nil }
        return base + Int(page & 4095) << 4
    }

    /// The address of a chunk that was not touched before; `nil`, with a note, if it is not cut into pages.
    private mutating func supplied(_ chunk: Int) -> UnsafeMutableRawPointer? {
        let (base, flaw) = space.supplied(chunk)
        if let flaw {
            note("\(flaw).")
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
        guard (1...Self.heightMax).contains(Int(vector.height)) else {
            return note("A vector says that it is \(vector.height) nodes high.")
        }
        var pending = [(node: vector.root, level: Int(vector.height) - 1, first: 0, birth: birth)]
        while let (node, level, first, birth) = pending.popLast(), !isFull {
            let size = PageLayout.granules(PageLayout.vectorNodeByteCount)
            guard let pointer = claim(node, .vectorNode, granules: size, notAfter: birth) else { continue }
            let own = pointer.load(fromByteOffset: PageLayout.birthOffset, as: UInt64.self)
            for slot in 0..<PageLayout.fanOut {
                // The last one first, where they are put on the stack.
                let slot = level > 0 ? PageLayout.fanOut - 1 - slot : slot
                let element = pointer.load(fromByteOffset: PageLayout.header + 4 * slot, as: UInt32.self)
                if element == 0 { continue }
                let index = first + slot << (level * PageLayout.fanOutShift)
                if level > 0 { pending.append((element, level - 1, index, own)) } else { body(&self, index, element, own) }
            }
        }
    }

    /// Enough for as many elements as a reference of 32 bits tells apart.
    static let heightMax = (32 + PageLayout.fanOutShift - 1) / PageLayout.fanOutShift

    // MARK: What all pages have in common

    /// The pages that stand for leaves without content have to have none.
    private mutating func proveConstants() {
        let known = space.constants
        for page in known.all {
            guard let pointer = start(page), pointer.load(as: UInt64.self) == 0 else { return note("Constant page \(page) is none.") }
            let isLink = page == known.noRows || page == known.zeroes
            let kind: PageKind = isLink ? .linkLeaf : page == known.nullString ? .stringLeaf : .fixedLeaf
            let wanted = constantByteCount(page)
            let isSized = pointer.load(fromByteOffset: PageLayout.granulesOffset, as: UInt16.self) == PageLayout.granules(wanted)
            let content = UnsafeRawBufferPointer(start: pointer, count: wanted)[PageLayout.header...]
            let fill: UInt8 = page == known.noRows ? 0xFF : 0
            guard isSized, chunks.kind(page) == kind, content.allSatisfy({ $0 == fill }) else {
                return note("Constant page \(page) does not have its content.")
            }
            claims[Int(page >> 12)][Int(page & 4095) >> 6] |= 1 << UInt64(page & 63)
            claimed[Int(page >> 12)] += chunks.granules(page)
        }
    }

    private func constantByteCount(_ page: PageRef) -> Int {
        let known = space.constants
        switch page {
        case known.noRows, known.zeroes: return PageLayout.linkLeafByteCount
        case known.nullString: return PageLayout.heapOffset
        default:
            let width = [1, 2, 4, 8, 16].first { known.null(width: $0) == page } ?? 1
            return PageLayout.fixedLeafByteCount(width: width)
        }
    }

    /// Each chunk has as many granules in use as the record says.
    private mutating func proveGranules() {
        for chunk in claimed.indices where claimed[chunk] != Int(space.live[chunk]) {
            note("Chunk \(chunk) has \(claimed[chunk]) granules in use, and \(space.live[chunk]) are noted.")
        }
    }
}

extension Timeline {
    /// What is wrong with the pages of a timeline that was opened from a checkpoint and has not been changed since, in sentences; empty if
    /// they are a graph. Complexity: O(pages and values).
    package func storedFlaws() -> [String] {
        let flaws = GraphProof.flaws(of: head.version)
        space.isProven = flaws.isEmpty
        return flaws
    }

    /// What is wrong with the tables alone; the rest is checked where it is read. Complexity: O(tables + chunks).
    package func storedTableFlaws() -> [String] {
        // A draft writes into pages of its own epoch as they are, so what is not proven must not be able to foresee one.
        Self.epochs.wrappingAdd(UInt64.random(in: 1...UInt64(UInt32.max)), ordering: .relaxed)
        return GraphProof.tableFlaws(of: head.version)
    }
}
