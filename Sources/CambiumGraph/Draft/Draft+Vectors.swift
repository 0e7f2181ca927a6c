extension Draft {
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
