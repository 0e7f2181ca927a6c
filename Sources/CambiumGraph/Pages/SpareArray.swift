import CambiumBytes

/// The memory of one array, for the next op that needs such an array.
struct SpareArray<Element> {
    private var array: [Element] = []
    /// The capacity that is kept: that of the ops that are frequent.
    private static var capacityMax: Int { 256 }

    /// An empty array. The caller gives the array back.
    @inline(__always)
    mutating func take() -> [Element] {
        var taken: [Element] = []
        swap(&taken, &array)
        return taken
    }

    /// Removes the elements, and keeps the memory of the array.
    @inline(__always)
    mutating func giveBack(_ used: inout [Element]) {
        guard used.capacity <= Self.capacityMax else { return used = [] }
        used.removeFew()
        swap(&used, &array)
    }
}
