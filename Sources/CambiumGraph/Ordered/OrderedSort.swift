/// Sorts records by their heads, and compares records with the same head.
///
/// The records are distributed by the highest bits in which their heads differ. Each part is then distributed by its own bits, until the
/// parts are short. After the first distribution, most parts fit into the processor's fastest cache.
enum OrderedSort {
    typealias Record = OrderedBatch.Record
    private typealias Records = UnsafeMutablePointer<Record>

    /// The number of records up to which an insertion sort is faster.
    private static let partCountMax = 16
    private static let digitBitCountMax = 11

    /// - Parameter isBefore: Whether a record precedes another record. It must not contradict the order of the heads.
    ///
    /// Complexity: O(n) for records with different heads, otherwise O(n log n).
    static func sort(_ records: inout [Record], _ isBefore: (Record, Record) -> Bool) {
        let count = records.count
        if count > partCountMax {
            records.withUnsafeMutableBufferPointer { buffer in
                guard let records = buffer.baseAddress else { return }
                withUnsafeTemporaryAllocation(of: Record.self, capacity: count) { other in
                    guard let other = other.baseAddress else { return }
                    distribute(records, other, count, isResult: true)
                }
            }
        }
        finish(&records, isBefore)
    }

    /// Sorts records by their heads.
    ///
    /// - Parameters:
    ///   - other: Memory for as many records. Its content is overwritten.
    ///   - isResult: Whether the sorted records must be in `records`. Otherwise, they must be in `other`.
    private static func distribute(_ records: Records, _ other: Records, _ count: Int, isResult: Bool) {
        let first = records[0].head
        var differing: UInt64 = 0
        for place in 0..<count { differing |= records[place].head ^ first }
        if count <= partCountMax || differing == 0 {
            if differing != 0 { insert(records, count) }
            if !isResult { other.update(from: records, count: count) }
            return
        }
        // There are about as many parts as records, so most parts of random heads consist of a single record.
        let bitCount = min(64 - differing.leadingZeroBitCount, digitBitCountMax, Int.bitWidth - count.leadingZeroBitCount)
        let shift = UInt64(64 - differing.leadingZeroBitCount - bitCount)
        let mask = (1 << bitCount) - 1
        @inline(__always) func digit(_ record: Record) -> Int { Int(truncatingIfNeeded: record.head &>> shift) & mask }
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: mask + 1) { ends in
            ends.initialize(repeating: 0)
            for place in 0..<count { ends[digit(records[place])] &+= 1 }
            var start: UInt32 = 0
            for digit in 0...mask {
                let partCount = ends[digit]
                ends[digit] = start
                start &+= partCount
            }
            // Each number is the place of the next record of a part. After the loop, it is the end of the part.
            for place in 0..<count {
                let record = records[place]
                let digit = digit(record)
                other[Int(ends[digit])] = record
                ends[digit] &+= 1
            }
            var begin = 0
            for digit in 0...mask {
                let end = Int(ends[digit])
                let partCount = end &- begin
                if partCount > 1 {
                    distribute(other + begin, records + begin, partCount, isResult: !isResult)
                } else if partCount == 1, isResult {
                    records[begin] = other[begin]
                }
                begin = end
            }
        }
    }

    /// Sorts a few records by their heads.
    private static func insert(_ records: Records, _ count: Int) {
        for index in 1..<count {
            let record = records[index]
            var place = index
            while place > 0, record.head < records[place &- 1].head {
                records[place] = records[place &- 1]
                place &-= 1
            }
            records[place] = record
        }
    }

    /// Completes the order of records that are already sorted by their heads. `isBefore` decides the order of records with the same head.
    private static func finish(_ records: inout [Record], _ isBefore: (Record, Record) -> Bool) {
        var moveCount = 0
        for index in 1..<records.count {
            let record = records[index]
            var place = index
            while place > 0, isBefore(record, records[place - 1]) {
                records[place] = records[place - 1]
                place -= 1
                moveCount += 1
            }
            records[place] = record
            // Many records have the same head. Sorting all of them by comparison is faster than moving them one by one.
            if moveCount > 8 * records.count { return records.sort(by: isBefore) }
        }
    }
}
