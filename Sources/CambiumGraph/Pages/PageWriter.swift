import Glibc

/// Allocates, copies and releases the pages of one draft.
///
/// The birth of a page is the epoch of the draft that created it. The draft may write to its own pages. `own` copies any other page first.
struct PageWriter: ~Copyable {
    let space: PageSpace
    let chunks: Chunks
    let epoch: UInt64
    /// The epoch of the pages that the draft may write without another check. In a graph that has not been proven valid, no page has this
    /// epoch. In such a graph, each page is checked, because a forged reference could lead to a page of another kind.
    let trustedEpoch: UInt64
    /// Whether the current change has written to a page.
    var hasWritten = false
    private var superseded: PageList
    private var born: PageList
    private var isPublished = false

    init(_ space: PageSpace, epoch: UInt64) {
        self.space = space
        chunks = space.chunks
        self.epoch = epoch
        trustedEpoch = space.isProven ? epoch : .max - 1
        superseded = space.takeList()
        born = space.takeList()
    }

    deinit {
        if isPublished { return }
        // A page that was released and allocated again is in the list twice. The first release changes the epoch in the page's header, so
        // the loop releases the page only once.
        for page in born.elements where chunks.birth(page) == epoch { space.release(page) }
    }

    var supersededPages: ArraySlice<PageRef> { superseded.elements }

    mutating func takeSuperseded() -> PageList {
        defer { superseded = PageList() }
        return superseded
    }

    mutating func takeBorn() -> PageList {
        defer { born = PageList() }
        return born
    }

    mutating func markPublished() { isPublished = true }

    @inline(__always)
    mutating func allocate(_ byteCount: Int, _ kind: PageKind) -> PageRef {
        allocate(granules: PageLayout.granules(byteCount), kind)
    }

    @inline(__always)
    mutating func allocate(granules: Int, _ kind: PageKind) -> PageRef {
        hasWritten = true
        let page = space.allocate(granules: granules, kind: kind, birth: epoch)
        born.append(page)
        return page
    }

    /// Ensures that the draft may write to a page: if the draft did not create the page, copies it, and sets `page` to the copy.
    ///
    /// - Parameters:
    ///   - kind: The kind of page that the caller writes to; `nil` for any kind.
    ///   - byteCount: The minimum number of bytes that the page must have space for.
    @inline(__always)
    mutating func own(_ page: inout PageRef, _ kind: PageKind? = nil, byteCount: Int = 0) {
        if chunks.birth(page) != trustedEpoch { page = copy(page, kind, byteCount) }
    }

    @inline(never)
    mutating func copy(_ page: PageRef, _ kind: PageKind?, _ byteCount: Int) -> PageRef {
        let source = PageHeader(chunks[page])
        let birth = source.birth
        // The copy gets the size and the kind of the page, which are in the tail of the header.
        let tail = source.tail
        let granules = Int(truncatingIfNeeded: tail & 0xFFFF)
        if !space.isProven {
            space.checkCopied(page, source.page, kind, byteCount)
            if birth == epoch { return page }
        }
        let copy = space.allocate(tail: tail, granules: granules, birth: epoch)
        born.append(copy)
        memcpy(chunks[copy] + PageLayout.header, source.page + PageLayout.header, (granules - 1) * PageLayout.granule)
        if birth != 0 { superseded.append(page) }
        return copy
    }

    /// Records that this draft no longer reaches a page. The page is released later. Constant pages, whose headers state epoch 0, are never
    /// released.
    private mutating func supersede(_ page: PageRef) {
        if chunks.birth(page) != 0 { superseded.append(page) }
    }

    /// Releases a page: immediately if the draft created it, otherwise as soon as no version reaches it.
    mutating func discard(_ page: PageRef) {
        if !space.isProven { space.checkCopied(page, chunks[page], nil, 0) }
        if chunks.birth(page) == epoch { space.release(page) } else { supersede(page) }
    }
}

// MARK: - Vectors

extension PageWriter {
    /// Adds levels at the root until the vector can hold an index.
    mutating func grow(_ vector: inout RadixVector, toHold index: Int) {
        while index >> (Int(vector.height) * PageLayout.fanOutShift) != 0 || vector.height == 0 {
            let node = newVectorNode()
            if vector.height > 0 { VectorNode(chunks[node]).elements[0] = vector.root }
            vector.root = node
            vector.height += 1
        }
    }

    /// Returns the address of an element. If the draft does not own a node on the path to the element, the method copies the node.
    @inline(__always)
    mutating func slot(_ vector: inout RadixVector, _ index: Int) -> UnsafeMutablePointer<UInt32> {
        if vector.height == 0 || index &>> (Int(vector.height) &* PageLayout.fanOutShift) != 0 { grow(&vector, toHold: index) }
        if vector.root == 0 { vector.root = newVectorNode() } else { own(&vector.root, .vectorNode) }
        var pointer = chunks[vector.root]
        var shift = (Int(vector.height) &- 1) &* PageLayout.fanOutShift
        while true {
            let slot = VectorNode(pointer).elements + ((index &>> shift) & PageLayout.fanOutMask)
            if shift == 0 { return slot }
            shift &-= PageLayout.fanOutShift
            if slot.pointee == 0 { slot.pointee = newVectorNode() } else { own(&slot.pointee, .vectorNode) }
            pointer = chunks[slot.pointee]
        }
    }

    /// Discards each node on the path to an element if the node contains only zeros. The draft must own all nodes of this path.
    mutating func prune(_ vector: inout RadixVector, _ index: Int) {
        var (node, references) = (vector.root, [UnsafeMutablePointer<PageRef>]())
        for level in (1..<max(1, Int(vector.height))).reversed() {
            let slot = (index >> (level * PageLayout.fanOutShift)) & PageLayout.fanOutMask
            references.append(VectorNode(chunks[node]).elements + slot)
            node = VectorNode(chunks[node])[slot]
        }
        for reference in references.reversed() {
            guard VectorNode(chunks[reference.pointee]).isEmpty else { return }
            discard(reference.pointee)
            reference.pointee = 0
        }
        guard VectorNode(chunks[vector.root]).isEmpty else { return }
        discard(vector.root)
        vector = .empty
    }

    private mutating func newVectorNode() -> PageRef {
        let page = allocate(VectorNode.byteCount, .vectorNode)
        VectorNode(chunks[page]).elements.initialize(repeating: 0, count: PageLayout.fanOut)
        return page
    }

    /// Releases every node of a vector. The caller releases the pages to which the vector's elements refer.
    mutating func discard(_ vector: RadixVector) {
        guard vector.root != 0, vector.height > 0 else { return }
        var pending = [(vector.root, vector.height)]
        while let (node, height) = pending.popLast() {
            if height > 1 {
                for slot in 0..<PageLayout.fanOut {
                    let child = VectorNode(chunks[node])[slot]
                    if child != 0 { pending.append((child, height - 1)) }
                }
            }
            discard(node)
        }
    }
}
