/// Sorts hashes by their 16 highest bits. These bits are enough to bring the entries of each bucket together, even with many thousands of
/// buckets.
enum RadixSort {
    private static let shift: UInt64 = 48

    /// Returns whether the keys ascend by their 16 highest bits. The keys may jump back to low values once, as the hashes of new UUIDs do.
    static func isSorted(_ keys: [UInt64]) -> Bool {
        var (last, turnCount): (UInt64, Int) = (0, 0)
        for key in keys {
            if key &>> shift < last {
                turnCount += 1
                if turnCount > 1 { return false }
            }
            last = key &>> shift
        }
        return true
    }

    /// - Parameter other: Memory for sorting. The caller can pass the same array again to reuse its memory.
    static func sort(_ keys: inout [UInt64], _ other: inout [UInt64]) {
        if other.count > keys.count { other.removeLast(other.count - keys.count) }
        if other.count < keys.count { other.append(contentsOf: repeatElement(0, count: keys.count - other.count)) }
        for shift in [shift, shift + 8] {
            var places = [Int](repeating: 0, count: 256)
            for key in keys { places[Int(key &>> shift & 0xFF)] &+= 1 }
            var place = 0
            for digit in 0..<256 {
                let count = places[digit]
                places[digit] = place
                place += count
            }
            for key in keys {
                let digit = Int(key &>> shift & 0xFF)
                other[places[digit]] = key
                places[digit] &+= 1
            }
            swap(&keys, &other)
        }
    }
}
