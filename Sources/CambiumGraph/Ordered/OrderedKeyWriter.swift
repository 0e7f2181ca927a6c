import CambiumModel

/// Writes values in a form in which the order of the bytes is the order of the values. See Docs/Formats/PAGES.md 8.
///
/// SAFETY: the memory has `limit + slackByteCount` bytes. A component is written only if it begins before the limit. The component exceeds
/// the limit by at most `slackByteCount` bytes, so it fits.
struct OrderedKeyWriter {
    let memory: UnsafeMutableRawPointer
    /// The number of bytes at which the key is cut.
    let limit: Int
    private(set) var count = 0
    /// The bits that are inverted in each byte: all bits for a component with descending order, otherwise none.
    private var mask: UInt8 = 0

    /// The number of bytes by which a component that begins before the limit may exceed it.
    static let slackByteCount = 64
    /// The maximum number of bytes that are read from a text. These bytes fill a key even if folding makes the text much shorter.
    static let textByteCountMax = 4 * OrderedNode.keyByteCountMax

    @inline(__always) init(_ memory: UnsafeMutableRawPointer, limit: Int = OrderedNode.keyByteCountMax) {
        self.memory = memory
        self.limit = limit
    }

    var isFull: Bool { count >= limit }

    /// The bytes of the key, without the bytes beyond the limit.
    var bytes: OrderedBytes { OrderedBytes(memory, min(count, limit)) }

    /// Adds the value of a component, which is one attribute of the index, to the key. Does nothing if the key is full.
    @inline(__always) mutating func add(_ component: OrderedIndexLayout.Component, _ cell: Cell) {
        if count >= limit { return }
        mask = component.isDescending ? 0xFF : 0
        if cell.kind == .null { return put(0) }
        put(1)
        if cell.kind == .bytes { return addBytes(component, cell.bytes) }
        switch component.kind {
        case .rows: putNumber(cell.low, byteCount: 4)
        case .fixed(let width) where width <= 8: putNumber(component.type.orderedBits(cell.low), byteCount: width)
        default:
            putNumber(cell.low.byteSwapped, byteCount: 8)
            putNumber(cell.high.byteSwapped, byteCount: 8)
        }
    }

    @inline(__always) private mutating func put(_ byte: UInt8) {
        memory.storeBytes(of: byte ^ mask, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    @inline(__always) private mutating func putNumber(_ value: UInt64, byteCount: Int) {
        let flipped = mask == 0 ? value : ~value
        memory.storeBytes(of: (flipped &<< UInt64(64 &- 8 &* byteCount)).bigEndian, toByteOffset: count, as: UInt64.self)
        count &+= byteCount
    }

    private mutating func addBytes(_ component: OrderedIndexLayout.Component, _ bytes: UnsafeRawBufferPointer) {
        if component.type == .decimal { return addDecimal(bytes) }
        if component.isFolded {
            CaseFolding.forEachByte(bytes) { byte in
                putEscaped(byte)
                return count < limit
            }
        } else {
            for byte in bytes {
                putEscaped(byte)
                if count >= limit { return }
            }
        }
        if count < limit { put(0) }
    }

    /// A 0 marks the end of a text, so a byte 0 or 1 within the text is written as two bytes.
    @inline(__always) private mutating func putEscaped(_ byte: UInt8) {
        if byte > 1 { return put(byte) }
        put(1)
        put(byte + 1)
    }

    /// Writes a decimal number: the sign, the power of ten of the first digit, and 38 digits as one number. Bytes that are not a decimal
    /// number sort after all numbers.
    private mutating func addDecimal(_ bytes: UnsafeRawBufferPointer) {
        guard let number = DecimalNumber(storedBytes: bytes) else { return put(0xFF) }
        if number.coefficient == 0 { return put(0x80) }
        put(number.isNegative ? 0x7F : 0x81)
        var (digits, place) = (number.coefficient, number.exponent + DecimalNumber.digitCountMax)
        while digits < Self.digitsMin {
            digits *= 10
            place -= 1
        }
        let whole = mask
        if number.isNegative { mask = ~mask }
        putNumber(UInt64(place + Self.placeBias), byteCount: 2)
        putNumber(UInt64(truncatingIfNeeded: digits >> 64), byteCount: 8)
        putNumber(UInt64(truncatingIfNeeded: digits), byteCount: 8)
        mask = whole
    }

    private static let digitsMin = (0..<DecimalNumber.digitCountMax - 1).reduce(UInt128(1)) { product, _ in product * 10 }
    /// The number that is added to the power of ten of the first digit, so that the sum is never negative.
    private static let placeBias = 1024

    /// Completes an entry: cuts the key, and adds the virtual page and the row. Returns the number of bytes of the entry.
    @inline(__always) mutating func finish(virtualPage: UInt32, row: UInt32) -> Int {
        count = min(count, limit)
        let tail = UInt64(virtualPage) << 32 | UInt64(row)
        memory.storeBytes(of: tail.bigEndian, toByteOffset: count, as: UInt64.self)
        count &+= OrderedNode.tailByteCount
        return count
    }
}

extension AttributeType {
    /// Converts the stored bits of a number to an unsigned number with the same order. 0.0 and -0.0 have the same result.
    @inline(__always) func orderedBits(_ bits: UInt64) -> UInt64 {
        switch self {
        case .int16: bits ^ 1 << 15
        case .int32: bits ^ 1 << 31
        case .int64: bits ^ 1 << 63
        case .float: Self.orderedFloat(bits, sign: 1 << 31)
        case .double, .date: Self.orderedFloat(bits, sign: 1 << 63)
        default: bits
        }
    }

    @inline(__always) private static func orderedFloat(_ bits: UInt64, sign: UInt64) -> UInt64 {
        bits & sign == 0 ? bits | sign : bits == sign ? sign : ~bits
    }
}

extension OrderedIndexLayout {
    /// The number of bytes of memory that an entry needs while it is written.
    static let entryByteCountMax = OrderedNode.entryByteCountMax + OrderedKeyWriter.slackByteCount

    /// Writes the entry of a row in the index. Returns the number of bytes of the entry.
    @inline(__always) func writeEntry(_ row: UInt32, _ rows: Rows, to memory: UnsafeMutableRawPointer) -> Int {
        let group = rows.group(row)
        var writer = OrderedKeyWriter(memory)
        for component in components { writer.add(component, row, group, rows) }
        return writer.finish(virtualPage: rows.virtualPage(row), row: row)
    }

    /// Returns the key of a row, without cutting it to the maximum length.
    ///
    /// - Parameter componentCount: The number of components that the key has; `nil` for all components.
    func wholeKey(_ row: UInt32, _ rows: Rows, componentCount: Int? = nil) -> [UInt8] {
        let components = components.prefix(componentCount ?? components.count)
        var byteCount = 0
        for component in components {
            rows.withCell(row, component.slot, component.kind) { byteCount += 3 * $0.bytes.count + 32 }
        }
        // `byteCount` allows for folding, which makes a character at most three times as long. Escaping at most doubles each byte. So the
        // limit cuts no key.
        let limit = 2 * byteCount
        return [UInt8](unsafeUninitializedCapacity: limit + OrderedKeyWriter.slackByteCount) { buffer, initialized in
            guard let memory = buffer.baseAddress else { return }
            var writer = OrderedKeyWriter(memory, limit: limit)
            for component in components { rows.withCell(row, component.slot, component.kind) { writer.add(component, $0) } }
            initialized = writer.count
        }
    }
}

extension OrderedKeyWriter {
    @inline(__always)
    mutating func add(_ component: OrderedIndexLayout.Component, _ row: UInt32, _ group: GroupPage, _ rows: Rows) {
        let leaf = rows.leaf(group, component.slot)
        if component.kind == .rows {
            let target = LinkLeaf(leaf)[row]
            return add(component, target == noRow ? .null : .fixed(UInt64(target)))
        }
        guard case .fixed(let width) = component.kind else {
            let stored = StringLeaf(leaf).cell(row)
            if stored == 0 { return add(component, .null) }
            if !StringLeaf.isBlob(stored) { return add(component, .bytes(StringLeaf(leaf).inlineBytes(stored))) }
            let page = StringLeaf(leaf).blob(stored).page
            return Blob.withBeginning(page, byteCountMax: Self.textByteCountMax, rows.chunks) { add(component, .bytes($0)) }
        }
        guard FixedLeaf(leaf).isPresent(row) else { return add(component, .null) }
        let place = FixedLeaf(leaf).address(row, width: width)
        switch width {
        case 1: add(component, .fixed(UInt64(place.load(as: UInt8.self))))
        case 2: add(component, .fixed(UInt64(place.load(as: UInt16.self))))
        case 4: add(component, .fixed(UInt64(place.load(as: UInt32.self))))
        case 8: add(component, .fixed(place.load(as: UInt64.self)))
        default: add(component, .fixed(place.load(as: UInt64.self), place.load(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}
