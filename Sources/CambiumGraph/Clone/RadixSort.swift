/// Sorts by the 16 highest bits: enough to have what belongs in one of many thousand buckets together.
enum RadixSort {
    private static let shift: UInt64 = 48

    static func isSorted(_ keys: [UInt64]) -> Bool {
        var last: UInt64 = 0
        for key in keys {
            if key &>> shift < last { return false }
            last = key &>> shift
        }
        return true
    }

    /// - Parameter other: memory that is used, and can be used again.
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

    /// As `sort`, for keys that come in runs whose highest bits are equal: runs are moved as a whole.
    ///
    /// - Parameters:
    ///   - keys: fewer than 2^32.
    ///   - sharedBitCount: how many of the highest bits the keys of a run share; 16 to 32.
    static func sortRuns(_ keys: inout [UInt64], _ other: inout [UInt64], sharedBitCount: UInt64) {
        let runShift = 64 - sharedBitCount
        var heads: [UInt64] = []
        var start = 0
        while start < keys.count {
            let run = keys[start] &>> runShift
            heads.append(run &<< runShift | UInt64(start))
            repeat { start += 1 } while start < keys.count && keys[start] &>> runShift == run
        }
        var spare: [UInt64] = []
        sort(&heads, &spare)
        other.removeAll(keepingCapacity: true)
        other.reserveCapacity(keys.count)
        for head in heads {
            let run = head &>> runShift
            var place = Int(head & 0xFFFF_FFFF)
            repeat {
                other.append(keys[place])
                place += 1
            } while place < keys.count && keys[place] &>> runShift == run
        }
        swap(&keys, &other)
    }
}
