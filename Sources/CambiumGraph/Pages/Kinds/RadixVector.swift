/// A vector of 32-bit elements, stored as a tree of nodes with 128 elements each. An absent node reads as zeros.
///
/// An element is a page reference (of a row group or bucket) or a plain number (such as the number of a group). A vector of height h can
/// hold 128^h elements, and a vector of height 0 is empty. Reading or writing one element takes h steps.
struct RadixVector {
    var root: PageRef
    var height: UInt32

    static let empty = RadixVector(root: 0, height: 0)
    /// The maximum height, which is enough for 2^32 elements.
    static let heightMax = (32 + PageLayout.fanOutShift - 1) / PageLayout.fanOutShift

    @inline(__always) func get(_ index: Int, _ chunks: Chunks) -> UInt32 {
        var node = root
        var shift = Int(height) &* PageLayout.fanOutShift
        if index &>> shift != 0 { return 0 }
        while shift > 0 {
            if node == 0 { return 0 }
            shift &-= PageLayout.fanOutShift
            let slot = (index &>> shift) & PageLayout.fanOutMask
            node = VectorNode(chunks[node])[slot]
        }
        return node
    }

    /// An upper bound of the number of elements. A walk from element to element that follows more references than this number is in a
    /// cycle.
    @inline(__always) var elementCountEnd: Int { 1 &<< (Int(min(height, 8)) &* PageLayout.fanOutShift) }

    /// Returns an element. The element and all nodes on the path to it must exist.
    @inline(__always) func existing(_ index: Int, _ chunks: Chunks) -> UInt32 {
        let shift = PageLayout.fanOutShift
        if height == 1 { return Self.element(root, index, chunks) }
        if height == 2 { return Self.element(Self.element(root, index &>> shift, chunks), index, chunks) }
        return existing(index, height &- 1, root, chunks)
    }

    @inline(never) private func existing(_ index: Int, _ level: UInt32, _ node: PageRef, _ chunks: Chunks) -> UInt32 {
        if level >= UInt32(Self.heightMax) { chunks.refuse("a vector has no levels, or too many") }
        let next = Self.element(node, index &>> (Int(level) &* PageLayout.fanOutShift), chunks)
        return level == 0 ? next : existing(index, level - 1, next, chunks)
    }

    /// Returns the first index from `start` on whose element is not 0, or `nil` if there is no such index.
    ///
    /// Complexity: O(nodes of the tree) for all calls of one pass through the vector, even if the elements are far apart.
    func firstIndex(from start: Int, _ chunks: Chunks) -> Int? {
        var index = start
        while height > 0, root != 0, index >> (Int(height) * PageLayout.fanOutShift) == 0 {
            var node = root
            var shift = (Int(height) - 1) * PageLayout.fanOutShift
            while true {
                let element = Self.element(node, index >> shift, chunks)
                // If a node is absent, all elements below it are 0. The outer loop continues with the next element after them.
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
        VectorNode(chunks[node])[index & PageLayout.fanOutMask]
    }
}

/// A node of a vector: 128 elements, or references to nodes.
struct VectorNode {
    private let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    static var byteCount: Int { PageLayout.header + 4 * PageLayout.fanOut }

    @inline(__always) var elements: UnsafeMutablePointer<UInt32> { (page + PageLayout.header).assumingMemoryBound(to: UInt32.self) }

    @inline(__always) subscript(slot: Int) -> UInt32 { page.load(fromByteOffset: PageLayout.header &+ slot &* 4, as: UInt32.self) }

    var isEmpty: Bool { UnsafeBufferPointer(start: elements, count: PageLayout.fanOut).allSatisfy { $0 == 0 } }
}
