extension Array {
    /// Removes the last elements until `count` elements are left, and keeps the memory. If only a few elements are removed, this is faster
    /// than `removeLast(_:)` and `removeAll(keepingCapacity:)`, which replace a range. Complexity: O(elements removed).
    @inlinable @inline(__always)
    public mutating func removeFew(downTo count: Int = 0) {
        while self.count > count { removeLast() }
    }
}
