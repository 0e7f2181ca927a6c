internal import CMachine
import CambiumModel

extension Rows {
    /// Returns the concrete entity of a row.
    @inline(__always) func entity(_ row: UInt32, _ table: TableLayout) -> EntityNumber {
        guard let slot = table.entitySlot else { return table.entities[0] }
        return EntityNumber(rawValue: fixed(row, slot, as: UInt16.self))
    }

    /// Returns the bits of a fixed-width value, which must not be null.
    @inline(__always) func fixedBits(_ row: UInt32, _ slot: Int, width: Int) -> (low: UInt64, high: UInt64) {
        switch width {
        case 1: (UInt64(fixed(row, slot, as: UInt8.self)), 0)
        case 2: (UInt64(fixed(row, slot, as: UInt16.self)), 0)
        case 4: (UInt64(fixed(row, slot, as: UInt32.self)), 0)
        case 8: (fixed(row, slot, as: UInt64.self), 0)
        default:
            {
                let bits = fixed(row, slot, as: SIMD2<UInt64>.self)
                return (bits.x, bits.y)
            }()
        }
    }

    /// Returns whether a row has exactly this value in a column.
    @inline(__always) func equals(_ row: UInt32, _ slot: Int, _ kind: ColumnKind, _ cell: Cell) -> Bool {
        if case .fixed(let width) = kind {
            guard isPresent(row, slot) else { return cell.kind == .null }
            let bits = fixedBits(row, slot, width: width)
            return cell.kind == .fixed && bits.low == cell.low && bits.high == cell.high
        }
        let leaf = leaf(group(row), slot)
        if cell.kind == .bytes { return Rows.hasBytes(leaf, row, cell.bytes, chunks) }
        return cell.kind == .null && StringLeaf(leaf).cell(row) == 0
    }

    /// Returns whether an index treats the value of a column as equal to `cell`: 0.0 and -0.0 are equal.
    ///
    /// - Parameter cell: A value in the form that `Cell.key(_:)` returns.
    @inline(__always) func hasKey(_ row: UInt32, _ slot: Int, _ kind: ColumnKind, _ cell: Cell, _ negativeZero: UInt64) -> Bool {
        if negativeZero == 0 { return equals(row, slot, kind, cell) }
        return withCell(row, slot, kind) { $0.key(negativeZero).equals(cell) }
    }

    /// Returns whether a cell of a column of strings or data has exactly these bytes.
    @inline(__always)
    static func hasBytes(
        _ leaf: UnsafeMutableRawPointer, _ row: UInt32, _ wanted: UnsafeRawBufferPointer, _ chunks: Chunks
    ) -> Bool {
        let stored = StringLeaf(leaf).cell(row)
        if StringLeaf.isBlob(stored) { return Blob.equals(StringLeaf(leaf).blob(stored).page, wanted, chunks) }
        return StringLeaf(leaf).hasInlineBytes(row, wanted)
    }

    /// Calls `body` with the value of a column.
    @inline(__always)
    func withCell<R>(_ row: UInt32, _ slot: Int, _ kind: ColumnKind, _ body: (Cell) -> R) -> R {
        if case .fixed(let width) = kind {
            guard isPresent(row, slot) else { return body(.null) }
            let bits = fixedBits(row, slot, width: width)
            return body(.fixed(bits.low, bits.high))
        }
        let leaf = leaf(group(row), slot)
        let stored = StringLeaf(leaf).cell(row)
        if stored == 0 { return body(.null) }
        guard StringLeaf.isBlob(stored) else { return body(.bytes(StringLeaf(leaf).inlineBytes(stored))) }
        return Blob.bytes(StringLeaf(leaf).blob(stored).page, chunks).withUnsafeBytes { body(.bytes($0)) }
    }
}

// MARK: Memory

extension Rows {
    /// The maximum number of values in one call of `prefetch`. If there are more, nothing is prefetched.
    private static var prefetchedCountMax: Int { 4 }

    /// Prefetches all leaves that setting these values would copy, so that the processor loads them at the same time.
    @inline(__always) func prefetch(_ values: [(Attribute, Value)], _ row: UInt32, _ table: TableLayout) {
        if values.count > Self.prefetchedCountMax { return }
        let group = group(row)
        for (attribute, _) in values {
            let slot = table.slot(of: attribute.number)
            guard case .fixed(let width) = table.columns[slot] else { continue }
            Self.prefetch(leaf(group, slot), FixedLeaf.byteCount(width: width))
        }
        Self.prefetch(leaf(group, TableLayout.changedSlot), LinkLeaf.byteCount)
    }

    @inline(__always) private static func prefetch(_ leaf: UnsafeMutableRawPointer, _ byteCount: Int) {
        for offset in stride(from: 0, to: byteCount, by: 64) { cmachine_prefetch(leaf + offset) }
    }
}

// MARK: Groups

extension Rows {
    /// Divides the given rows of a shared group by virtual page (a range of consecutive serials). In `bits` and in the result, each row is
    /// a bit.
    func shares(_ group: UInt32, of bits: UInt128) -> [UInt32: UInt128] {
        var shares: [UInt32: UInt128] = [:]
        var bits = bits
        while bits != 0 {
            let place = bits.trailingZeroBitCount
            shares[virtualPage(group << PageLayout.rowShift | UInt32(place)), default: 0] |= UInt128(1) << UInt128(place)
            bits &= bits - 1
        }
        return shares
    }

    /// Whether a group contains a live row of a virtual page (a range of consecutive serials).
    func hasLiveRow(_ group: UInt32, of virtualPage: UInt32) -> Bool {
        var bits = liveBits(group)
        while bits != 0 {
            if self.virtualPage(group << PageLayout.rowShift | UInt32(bits.trailingZeroBitCount)) == virtualPage { return true }
            bits &= bits - 1
        }
        return false
    }

    /// Returns a bit for each live row of a group.
    func liveBits(_ group: UInt32) -> UInt128 {
        self.group(at: Int(group))?.live.all ?? 0
    }
}

// MARK: Single rows

extension Rows {
    @inline(__always) func isNull(_ row: UInt32, _ slot: Int, _ kind: ColumnKind) -> Bool {
        if case .fixed = kind { !isPresent(row, slot) } else { isNullString(row, slot) }
    }

    /// Returns the serial of the object that a row is a copy of, or `nil` if the row is not a copy.
    func source(_ row: UInt32) -> UInt64? {
        isPresent(row, TableLayout.sourceSlot) ? fixed(row, TableLayout.sourceSlot, as: UInt64.self) : nil
    }

    func provenance(_ row: UInt32, _ slot: Int) -> UInt64 {
        let group = group(row)
        let base = group.provenance
        let page = group[slot]
        let leaf = chunks[page]
        let place = Int(row & PageLayout.rowMask)
        if chunks.kind(page) == .wideLeaf {
            return base &+ WideLeaf(leaf).values[place]
        }
        return base &+ UInt64(LinkLeaf(leaf).values[place])
    }

    /// Ends the process if an index leads to a row without an object.
    func requireLive(_ row: UInt32) {
        if !isLive(row) { chunks.refuse("an index leads to an object that does not exist") }
    }
}
