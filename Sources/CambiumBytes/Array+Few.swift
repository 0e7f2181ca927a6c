extension Array {
    /// Removes elements at the end until `count` elements are left, and keeps the memory. For a few elements, this is faster than
    /// `removeLast(_:)` and `removeAll(keepingCapacity:)`. Complexity: O(elements removed).
    @inlinable @inline(__always)
    public mutating func removeFew(downTo count: Int = 0) {
        while self.count > count { removeLast() }
    }
}
