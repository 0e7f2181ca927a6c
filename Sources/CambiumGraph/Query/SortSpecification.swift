import CambiumModel

/// The sort keys of a query, resolved for a table. Rows with equal keys are ordered by their ids.
final class SortSpecification {
    /// One sort key: the values to read, and how they are compared.
    struct Key {
        let reader: ValueReader
        /// The column of the attribute; `nil` if the key is not an attribute of the object itself.
        let field: Field?
        let isDescending: Bool
        let nullsFirst: Bool
        let folding: Folding
        /// Whether the key is the number of members of one relationship.
        let isMemberCount: Bool
        /// The column with the number of members, if the key counts members and one column contains this number.
        var countSlot: Int?
    }

    let keys: [Key]
    private let short: ShortKey?
    private let rows: Rows
    private var bytes: [UInt8] = []

    init(_ keys: [Key], _ table: TableLayout, _ context: QueryContext) {
        self.keys = keys
        short = ShortKey(keys)
        rows = context.reader.rows(table.index)
    }

    func entry(_ row: UInt32) -> SortEntry { SortEntry(key: key(row), serial: rows.serial(row), row: row) }

    /// Returns the beginning of a row's key as a number; `nil` unless the only sort key is a column of up to eight bytes.
    ///
    /// If a sorted answer has a limit, comparing this number rejects most rows without computing the key.
    @inline(__always) func prefix(_ row: UInt32, _ view: GroupView) -> UInt128? {
        guard let short else { return nil }
        let leaf = view.leaf(short.slot)
        let index = Int(row & PageLayout.rowMask)
        guard short.isCount || FixedLeaf(leaf).isPresent(row) else { return short.null }
        let values = short.isCount ? UnsafeMutableRawPointer(LinkLeaf(leaf).values) : FixedLeaf(leaf).values
        let bits: UInt64 =
            switch short.width {
            case 1: UInt64(values.load(fromByteOffset: index, as: UInt8.self))
            case 2: UInt64(values.load(fromByteOffset: 2 &* index, as: UInt16.self))
            case 4: UInt64(values.load(fromByteOffset: 4 &* index, as: UInt32.self))
            default: values.load(fromByteOffset: 8 &* index, as: UInt64.self)
            }
        // For a negative number, `orderedBits` may also set bits beyond the width of the column. The mask clears these bits.
        let ordered = (short.type.orderedBits(bits) ^ short.mask) & (.max >> UInt64(64 &- 8 &* short.width))
        return short.present | UInt128(ordered) << UInt128(112 &- 8 &* short.width)
    }

    /// The only sort key, if it is a column with numbers of up to eight bytes.
    private struct ShortKey {
        let slot: Int
        let width: Int
        let type: AttributeType
        let isCount: Bool
        /// The bits that are inverted in descending order.
        let mask: UInt64
        let null: UInt128
        /// The first two bytes of each key whose value is not null, as the highest bits of a number.
        let present: UInt128

        init?(_ keys: [Key]) {
            guard keys.count == 1 else { return nil }
            let key = keys[0]
            if let count = key.countSlot {
                (slot, width, type, isCount) = (count, 4, .uuid, true)
            } else if let field = key.field, case .fixed(let width) = field.kind, width <= 8 {
                (slot, self.width, type, isCount) = (field.slot, width, field.type, false)
            } else {
                return nil
            }
            mask = key.isDescending ? width == 8 ? .max : 1 << UInt64(8 * width) - 1 : 0
            null = UInt128(key.nullsFirst ? 0 : 1) << 120
            present = UInt128(key.nullsFirst ? 1 : 0) << 120 | UInt128(key.isDescending ? 0xFE : 1) << 112
        }
    }

    /// Returns the key of a row: bytes whose order is the order of the rows.
    func key(_ row: UInt32) -> [UInt8] { key(row, count: keys.count) }

    /// Returns the beginning of the row's key: the part that comes from the first `count` sort keys.
    func key(_ row: UInt32, count: Int) -> [UInt8] {
        bytes.removeAll(keepingCapacity: true)
        for key in keys.prefix(count) { append(key, row) }
        return bytes
    }

    private func append(_ key: Key, _ row: UInt32) {
        if let slot = key.countSlot { return append(key, memberCount: rows.link(row, slot)) }
        guard let field = key.field else { return append(key, key.reader.value(row)) }
        rows.withCell(row, field.slot, field.kind) { append(key, $0, field.type) }
    }

    /// Appends a member count. The bytes do not depend on whether a column contains the count. A migration may add or remove the column,
    /// and cursors from before the migration must remain valid.
    private func append(_ key: Key, memberCount: UInt32) { append(key, .fixed(UInt64(memberCount)), .uuid, width: 4) }

    private func append(_ key: Key, _ value: QueryValue) {
        switch value {
        case .value(.int(let count)) where key.isMemberCount: append(key, memberCount: UInt32(clamping: count))
        case .list: append(key, .null, .int64)
        case .object(let id): append(key, .fixed(id.rawValue), .uuid, width: 8)
        case .value(var value):
            // A sum of whole numbers that exceeds 64 bits is a decimal number. So all sums of whole numbers are compared as decimal
            // numbers. A sum with too many digits is a double, and is compared as the decimal number that its text states.
            if case .int(let whole) = value { value = .decimal(DecimalNumber(whole)) }
            if case .double(let sum) = value, let aggregate = key.reader as? AggregateReader, aggregate.isExactSum,
                let near = DecimalNumber(sum.description)
            {
                value = .decimal(near)
            }
            guard let type = value.attributeType, let form = StoredForm(value, type: type) else { return append(key, .null, .int64) }
            switch form {
            case .fixed(let low, let high): append(key, .fixed(low, high), type)
            case .bytes(let stored): stored.withUnsafeBytes { append(key, .bytes($0), type) }
            }
        }
    }

    private func append(_ key: Key, _ cell: Cell, _ type: AttributeType, width: Int? = nil) {
        // The first byte puts objects with null before or after all other objects.
        let isNull = cell.kind == .null
        bytes.append(isNull == key.nullsFirst ? 0 : 1)
        if isNull { return }
        if cell.kind == .bytes, !key.folding.isEmpty, type != .decimal {
            return key.folding.withFolded(cell.bytes) { write(key, .bytes($0), type, width) }
        }
        write(key, cell, type, width)
    }

    private func write(_ key: Key, _ cell: Cell, _ type: AttributeType, _ width: Int?) {
        let kind: ColumnKind = cell.kind == .bytes ? .string : .fixed(width: width ?? type.byteCount ?? 16)
        let component = OrderedIndexLayout.Component(slot: 0, kind: kind, type: type, isDescending: key.isDescending, isFolded: false)
        let byteCountMax = 2 * cell.bytes.count + 2 * OrderedKeyWriter.slackByteCount
        withUnsafeTemporaryAllocation(byteCount: byteCountMax + OrderedKeyWriter.slackByteCount, alignment: 16) { buffer in
            guard let memory = buffer.baseAddress else { return }
            // SAFETY: the buffer has `slackByteCount` bytes beyond the limit, which the writer may use.
            var writer = OrderedKeyWriter(memory, limit: byteCountMax)
            writer.add(component, cell)
            bytes.append(contentsOf: UnsafeRawBufferPointer(start: memory, count: writer.count))
        }
    }
}

/// A row and the key by which it is sorted. Rows with equal keys are sorted by their serials.
struct SortEntry {
    /// The first 16 bytes of the key, as a number.
    let prefix: UInt128
    /// The bytes of the key after the first 16.
    let rest: [UInt8]
    let serial: UInt64
    let row: UInt32

    init(key: [UInt8], serial: UInt64, row: UInt32) {
        var prefix: UInt128 = 0
        for index in 0..<16 { prefix = prefix << 8 | UInt128(index < key.count ? key[index] : 0) }
        self.prefix = prefix
        rest = key.count > 16 ? Array(key[16...]) : []
        self.serial = serial
        self.row = row
    }

    /// Whether both keys are equal. The serials may differ.
    func hasSameKey(as other: SortEntry) -> Bool { prefix == other.prefix && rest == other.rest }
}

extension SortEntry: Comparable {
    static func == (left: Self, right: Self) -> Bool { left.serial == right.serial && left.hasSameKey(as: right) }

    @inline(__always) static func < (left: Self, right: Self) -> Bool {
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        if left.rest.isEmpty, right.rest.isEmpty { return left.serial < right.serial }
        return left.rest == right.rest ? left.serial < right.serial : left.rest.lexicographicallyPrecedes(right.rest)
    }
}

extension Value {
    /// The type that an attribute with this value would have; `nil` for null.
    package var attributeType: AttributeType? {
        switch self {
        case .null: nil
        case .bool: .bool
        case .int: .int64
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .data: .data
        case .date: .date
        case .uuid: .uuid
        case .uri: .uri
        case .json: .json
        }
    }
}

/// Collects entries one by one, and keeps the first ones in the sorted order.
struct FirstEntries {
    private let countMax: Int
    /// The entries that are kept. If their number is limited, the entries form a heap with the last entry at index 0.
    private var heap: [SortEntry] = []
    /// The beginning of the last entry's key as a number, once the heap is full.
    private var lastPrefix = UInt128.max

    init(countMax: Int) { self.countMax = countMax }

    /// Returns whether an entry may be among the first ones, given the beginning of its key.
    @inline(__always) func mayInclude(_ prefix: UInt128) -> Bool { heap.count < countMax || prefix <= lastPrefix }

    mutating func insert(_ entry: SortEntry) {
        if heap.count < countMax {
            heap.append(entry)
            if countMax != .max { siftUp() }
        } else if let last = heap.first, entry < last {
            heap[0] = entry
            siftDown()
        }
        if heap.count == countMax, let last = heap.first { lastPrefix = last.prefix }
    }

    /// The entries in order. Complexity: O(n log n).
    var sorted: [SortEntry] { heap.sorted() }

    private mutating func siftUp() {
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            if !(heap[parent] < heap[child]) { return }
            heap.swapAt(parent, child)
            child = parent
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            var largest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[largest] < heap[child] { largest = child }
            if largest == parent { return }
            heap.swapAt(parent, largest)
            parent = largest
        }
    }
}
