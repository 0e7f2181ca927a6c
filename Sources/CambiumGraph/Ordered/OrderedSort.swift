/// Sorts the records of a batch by their heads, and records with the same head by `isBefore`. A record refers to an entry of an ordered
/// index, and its head consists of eight bytes of the entry.
///
/// The records are divided into parts by the highest bits in which their heads differ. Each part is divided again in the same way, until
/// the part is short. After the first distribution, most parts fit into the processor's fastest cache.
enum OrderedSort {
    typealias Record = OrderedBatch.Record
    private typealias Records = UnsafeMutablePointer<Record>

    /// The number of records up to which an insertion sort is faster than a distribution.
    private static let partCountMax = 16
    private static let digitBitCountMax = 11

    /// - Parameter isBefore: Whether a record precedes another record. If the heads differ, the result must be the order of the heads.
    ///
    /// Complexity: O(n) for records with different heads, otherwise O(n log n).
    static func sort(_ records: UnsafeMutableBufferPointer<Record>, _ isBefore: (Record, Record) -> Bool) {
        guard let first = records.baseAddress else { return }
        if records.count > partCountMax {
            withUnsafeTemporaryAllocation(of: Record.self, capacity: records.count) { other in
                guard let other = other.baseAddress else { return }
                distribute(first, other, records.count, isResult: true)
            }
        }
        finish(records, isBefore)
    }

    /// Divides records into parts by their heads, and sorts each part.
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
        // The number of parts is about the number of records. If the heads are random, most parts then have a single record.
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
            // Until the loop ends, `ends` has the position for the next record of each part. Afterwards, it has the end of each part.
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

    /// Sorts a few records by their heads, the eight bytes that are compared first.
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

    /// Sorts the records that have the same head (the eight bytes that are compared first) by `isBefore`. All records are already sorted by
    /// their heads.
    private static func finish(_ records: UnsafeMutableBufferPointer<Record>, _ isBefore: (Record, Record) -> Bool) {
        var records = records
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
            // Many moves mean that many records have the same head. Then sorting all records by comparison is faster than moving them one
            // by one.
            if moveCount > 8 * records.count { return records.sort(by: isBefore) }
        }
    }
}
