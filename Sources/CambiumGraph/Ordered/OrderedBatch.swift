import Glibc

/// Collects entries to add to an ordered index or to remove from it, and sorts them.
package struct OrderedBatch: ~Copyable {
    struct Record {
        /// Eight bytes of the entry, for fast comparisons. These eight bytes begin at the first byte in which the entries of the batch
        /// differ.
        var head: UInt64
        var offset: UInt32
        var byteCount: UInt16
        var isAdded: Bool
    }

    /// The number of bytes at which a batch is full. A full batch must be applied before more entries are added.
    static let byteCountMax = 32 << 20

    private(set) var records: [Record] = []
    private(set) var memory: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var byteCount = 0

    package init(byteCapacity: Int = 1024) {
        capacity = byteCapacity
        memory = .allocate(byteCount: byteCapacity, alignment: 8)
    }

    deinit { memory.deallocate() }

    var isEmpty: Bool { records.isEmpty }
    var count: Int { records.count }
    var isFull: Bool { byteCount >= Self.byteCountMax || records.count >= 1 << 21 }

    /// Returns the number of bytes in a range of the entries. Complexity: O(entries of the range).
    func byteCount(of range: Range<Int>) -> Int { records[range].reduce(0) { $0 + Int($1.byteCount) } }

    package mutating func removeAll() {
        records.removeAll(keepingCapacity: true)
        byteCount = 0
    }

    /// Returns memory with space for this many bytes. The caller writes the next entry to this memory, and then passes the length of the
    /// entry to `append`.
    @inline(__always) package mutating func reserve(_ count: Int) -> UnsafeMutableRawPointer {
        if byteCount &+ count > capacity { grow(byteCount + count) }
        return memory + byteCount
    }

    @inline(never) private mutating func grow(_ wanted: Int) {
        let grown = max(2 * capacity, wanted)
        let new = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 8)
        memcpy(new, memory, byteCount)
        memory.deallocate()
        (memory, capacity) = (new, grown)
    }

    /// Adds the entry that the caller has written to the memory that `reserve` returned. `count` is the number of its bytes.
    @inline(__always) package mutating func append(_ count: Int, isAdded: Bool) {
        let record = Record(
            head: 0, offset: UInt32(truncatingIfNeeded: byteCount), byteCount: UInt16(truncatingIfNeeded: count), isAdded: isAdded)
        records.append(record)
        byteCount &+= count
    }

    /// Removes the last two entries, the old and the new entry of a row, if they have the same bytes.
    mutating func dropLastPairIfEqual() {
        let (old, new) = (records[records.count - 2], records[records.count - 1])
        guard old.byteCount == new.byteCount, memcmp(memory + Int(old.offset), memory + Int(new.offset), Int(old.byteCount)) == 0 else {
            return
        }
        records.removeLast(2)
        byteCount = Int(old.offset)
    }

    /// Applies the entries to a tree. The entries also stay in the batch.
    package mutating func apply(to tree: inout OrderedTree, of draft: inout Draft) {
        withSorted { OrderedWriter.apply(&draft, $0, to: &tree) }
    }

    @inline(__always) func entry(_ index: Int) -> OrderedBytes {
        OrderedBytes(memory + Int(records[index].offset), Int(records[index].byteCount))
    }

    /// Calls `body` with entries, in order.
    ///
    /// - Parameter range: The entries that are sorted and passed to `body`; `nil` for all entries.
    ///
    /// Complexity: O(n) for n entries whose first bytes differ, otherwise O(n log n).
    mutating func withSorted<Result>(_ range: Range<Int>? = nil, _ body: (OrderedChanges) -> Result) -> Result {
        let range = range ?? 0..<count
        // The last entry may have fewer than eight bytes. Reading its head reads eight bytes, so zeros are written after the entry.
        memset(reserve(OrderedNode.slackByteCount), 0, OrderedNode.slackByteCount)
        if range.count > 1 { sort(range) }
        return records.withUnsafeBufferPointer {
            body(OrderedChanges(records: UnsafeBufferPointer(rebasing: $0[range]), memory: UnsafeRawPointer(memory)))
        }
    }

    private mutating func sort(_ range: Range<Int>) {
        let memory = UnsafeRawPointer(memory)
        let first = records[range.lowerBound]
        var common = Int(first.byteCount)
        for record in records[range] {
            common = OrderedNode.commonByteCount(
                memory + Int(first.offset), memory + Int(record.offset), max: min(common, Int(record.byteCount)))
        }
        for index in range {
            let record = records[index]
            records[index].head = OrderedNode.head(memory + Int(record.offset) + common, Int(record.byteCount) - common)
        }
        records.withUnsafeMutableBufferPointer { buffer in
            OrderedSort.sort(UnsafeMutableBufferPointer(rebasing: buffer[range])) { left, right in
                if left.head != right.head { return left.head < right.head }
                let start = memory + Int(left.offset)
                return OrderedNode.order(start, Int(left.byteCount), memory + Int(right.offset), Int(right.byteCount)) < 0
            }
        }
    }
}

/// The sorted entries of a batch, each to be added or removed.
struct OrderedChanges: OrderedEntries {
    let records: UnsafeBufferPointer<OrderedBatch.Record>
    let memory: UnsafeRawPointer

    var count: Int { records.count }

    @inline(__always) func entry(_ index: Int) -> OrderedBytes {
        OrderedBytes(memory + Int(records[index].offset), Int(records[index].byteCount))
    }

    @inline(__always) func isAdded(_ index: Int) -> Bool { records[index].isAdded }
}
