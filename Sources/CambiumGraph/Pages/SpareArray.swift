import CambiumBytes

/// The memory of an array, kept for the next op that needs such an array.
struct SpareArray<Element> {
    private var array: [Element] = []
    /// The maximum capacity that is kept, which is enough for frequent ops.
    private static var capacityMax: Int { 256 }

    /// Returns an empty array. The caller later passes the array to `recycle`, which keeps its memory.
    @inline(__always)
    mutating func take() -> [Element] {
        var taken: [Element] = []
        swap(&taken, &array)
        return taken
    }

    /// Removes the elements and keeps the memory of the array, unless its capacity exceeds `capacityMax`.
    @inline(__always)
    mutating func recycle(_ used: inout [Element]) {
        guard used.capacity <= Self.capacityMax else {
            used = []
            return
        }
        used.removeFew()
        swap(&used, &array)
    }
}
