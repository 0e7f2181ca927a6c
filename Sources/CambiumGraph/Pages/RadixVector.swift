/// A vector of 32-bit elements, stored as a tree of nodes with 128 elements each. An absent node reads as zeros.
///
/// It holds page references (row groups, buckets) or plain numbers (the map of virtual pages). A vector of height 0 is empty. Height h
/// reaches indices below 128^h. Reading or writing one element costs h steps.
struct RadixVector {
    var root: PageRef
    var height: UInt32

    static let empty = RadixVector(root: 0, height: 0)

    @inline(__always) func get(_ index: Int, _ chunks: Chunks) -> UInt32 {
        var node = root
        var shift = Int(height) &* PageLayout.fanOutShift
        if index &>> shift != 0 { return 0 }
        while shift > 0 {
            if node == 0 { return 0 }
            shift &-= PageLayout.fanOutShift
            let slot = (index &>> shift) & PageLayout.fanOutMask
            node = chunks[node].load(fromByteOffset: PageLayout.header &+ slot &* 4, as: UInt32.self)
        }
        return node
    }

    /// An upper bound of the number of elements. A walk from element to element that takes more steps is cyclic.
    @inline(__always) var elementCountEnd: Int { 1 &<< (Int(min(height, 8)) &* PageLayout.fanOutShift) }

    /// Returns an element that is known to exist: all nodes on the path to it exist.
    @inline(__always) func existing(_ index: Int, _ chunks: Chunks) -> UInt32 {
        let shift = PageLayout.fanOutShift
        if height == 1 { return Self.element(root, index, chunks) }
        if height == 2 { return Self.element(Self.element(root, index &>> shift, chunks), index, chunks) }
        return existing(index, height &- 1, root, chunks)
    }

    @inline(never) private func existing(_ index: Int, _ level: UInt32, _ node: PageRef, _ chunks: Chunks) -> UInt32 {
        if level >= UInt32(GraphProof.heightMax) { chunks.refuse("a vector is empty or too high") }
        let next = Self.element(node, index &>> (Int(level) &* PageLayout.fanOutShift), chunks)
        return level == 0 ? next : existing(index, level - 1, next, chunks)
    }

    /// Returns the first index of `start` or more whose element is not 0, or `nil` if there is no such index.
    ///
    /// Complexity: O(nodes of the tree) for all calls of one pass through the vector, however far apart the elements are.
    func firstIndex(from start: Int, _ chunks: Chunks) -> Int? {
        var index = start
        while height > 0, root != 0, index >> (Int(height) * PageLayout.fanOutShift) == 0 {
            var node = root
            var shift = (Int(height) - 1) * PageLayout.fanOutShift
            while true {
                let element = Self.element(node, index >> shift, chunks)
                // An absent node or element has only zeros in its whole span.
                if element == 0 { break }
                if shift == 0 { return index }
                node = element
                shift -= PageLayout.fanOutShift
            }
            index = (index >> shift + 1) << shift
        }
        return nil
    }

    @inline(__always) private static func element(_ node: PageRef, _ index: Int, _ chunks: Chunks) -> UInt32 {
        chunks[node].load(fromByteOffset: PageLayout.header &+ (index & PageLayout.fanOutMask) &* 4, as: UInt32.self)
    }
}

extension Draft {
    /// Grows the tree at its root until the vector can hold an index.
    mutating func grow(_ vector: inout RadixVector, toHold index: Int) {
        while index >> (Int(vector.height) * PageLayout.fanOutShift) != 0 || vector.height == 0 {
            let node = newVectorNode()
            if vector.height > 0 { chunks[node].storeBytes(of: vector.root, toByteOffset: PageLayout.header, as: UInt32.self) }
            vector.root = node
            vector.height += 1
        }
    }

    /// Returns the address of an element, on a path of nodes that this draft owns.
    @inline(__always)
    mutating func slot(_ vector: inout RadixVector, _ index: Int) -> UnsafeMutablePointer<UInt32> {
        if vector.height == 0 || index &>> (Int(vector.height) &* PageLayout.fanOutShift) != 0 { grow(&vector, toHold: index) }
        if vector.root == 0 { vector.root = newVectorNode() } else { own(&vector.root, .vectorNode) }
        var pointer = chunks[vector.root]
        var shift = (Int(vector.height) &- 1) &* PageLayout.fanOutShift
        while true {
            let slot =
                (pointer + PageLayout.header).assumingMemoryBound(to: UInt32.self)
                + ((index &>> shift) & PageLayout.fanOutMask)
            if shift == 0 { return slot }
            shift &-= PageLayout.fanOutShift
            if slot.pointee == 0 { slot.pointee = newVectorNode() } else { own(&slot.pointee, .vectorNode) }
            pointer = chunks[slot.pointee]
        }
    }

    /// Discards the nodes on the path to an element that hold only zeros. The draft must own all nodes of the path.
    mutating func prune(_ vector: UnsafeMutablePointer<RadixVector>, _ index: Int) {
        var references = [UnsafeMutableRawPointer(vector).assumingMemoryBound(to: PageRef.self)]
        for level in (1..<max(1, Int(vector.pointee.height))).reversed() {
            let node = (chunks[references[references.count - 1].pointee] + PageLayout.header).assumingMemoryBound(to: PageRef.self)
            references.append(node + ((index >> (level * PageLayout.fanOutShift)) & PageLayout.fanOutMask))
        }
        for reference in references.reversed() {
            let elements = (chunks[reference.pointee] + PageLayout.header).assumingMemoryBound(to: UInt32.self)
            guard UnsafeBufferPointer(start: elements, count: PageLayout.fanOut).allSatisfy({ $0 == 0 }) else { return }
            discard(reference.pointee)
            reference.pointee = 0
        }
        vector.pointee = .empty
    }

    private mutating func newVectorNode() -> PageRef {
        let page = allocate(PageLayout.vectorNodeByteCount, .vectorNode)
        (chunks[page] + PageLayout.header).initializeMemory(as: UInt32.self, repeating: 0, count: PageLayout.fanOut)
        return page
    }

    /// Releases every node of a vector. The caller is responsible for the pages that its elements refer to.
    mutating func discard(_ vector: RadixVector) {
        guard vector.root != 0, vector.height > 0 else { return }
        var pending = [(vector.root, vector.height)]
        while let (node, height) = pending.popLast() {
            if height > 1 {
                for slot in 0..<PageLayout.fanOut {
                    let child = chunks[node].load(fromByteOffset: PageLayout.header + slot * 4, as: UInt32.self)
                    if child != 0 { pending.append((child, height - 1)) }
                }
            }
            discard(node)
        }
    }
}
