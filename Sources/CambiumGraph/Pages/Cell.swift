package import CambiumModel

#if canImport(Glibc)
    import Glibc
#endif

/// A stored value on its way into or out of a column: null, up to 16 bytes, or bytes that the cell does not own.
///
/// SAFETY: `bytes` is valid only during the call that the cell is passed to, or as long as the page exists that it was read from.
package struct Cell {
    package enum Kind: UInt8 { case null, fixed, bytes }

    package var kind: Kind
    package var low: UInt64
    package var high: UInt64
    package var bytes: UnsafeRawBufferPointer

    @inline(__always)
    package init(kind: Kind, low: UInt64 = 0, high: UInt64 = 0, bytes: UnsafeRawBufferPointer = .init(start: nil, count: 0)) {
        self.kind = kind
        self.low = low
        self.high = high
        self.bytes = bytes
    }

    package static var null: Cell { Cell(kind: .null) }
    @inline(__always) package static func fixed(_ low: UInt64, _ high: UInt64 = 0) -> Cell {
        Cell(kind: .fixed, low: low, high: high)
    }
    @inline(__always) package static func bytes(_ bytes: UnsafeRawBufferPointer) -> Cell {
        Cell(kind: .bytes, bytes: bytes)
    }
}

extension Cell {
    /// Returns the value as indexes compare it: 0.0 and -0.0 are the same.
    @inline(__always) func key(_ negativeZero: UInt64) -> Cell {
        var key = self
        key.low = low == negativeZero ? 0 : low
        return key
    }

    /// Returns the value as indexes compare it if an attribute of this type has it: 0.0 and -0.0 are the same.
    @inline(__always) package func key(_ type: AttributeType) -> Cell { key(type.negativeZero) }

    package func equals(_ other: Cell) -> Bool {
        guard kind == other.kind else { return false }
        return kind == .bytes ? bytes.elementsEqual(other.bytes) : low == other.low && high == other.high
    }
}

extension Rows {
    /// Returns the stored bits of a fixed-width value that is present.
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

    /// Whether a column holds exactly this value.
    @inline(__always) func equals(_ row: UInt32, _ slot: Int, _ kind: ColumnKind, _ cell: Cell) -> Bool {
        if case .fixed(let width) = kind {
            guard isPresent(row, slot) else { return cell.kind == .null }
            let bits = fixedBits(row, slot, width: width)
            return cell.kind == .fixed && bits.low == cell.low && bits.high == cell.high
        }
        let leaf = leaf(group(row), slot)
        if cell.kind == .bytes { return Rows.hasBytes(leaf, row, cell.bytes, chunks) }
        return cell.kind == .null && StringLeaf.cell(leaf, row) == 0
    }

    /// Whether a column holds a value that an index cannot distinguish from this one.
    ///
    /// - Parameter cell: The value as `Cell.key(_:)` returns it.
    @inline(__always) func hasKey(_ row: UInt32, _ slot: Int, _ kind: ColumnKind, _ cell: Cell, _ negativeZero: UInt64) -> Bool {
        if negativeZero == 0 { return equals(row, slot, kind, cell) }
        return withCell(row, slot, kind) { $0.key(negativeZero).equals(cell) }
    }

    /// Whether a column of strings or data holds exactly these bytes.
    @inline(__always)
    static func hasBytes(
        _ leaf: UnsafeMutableRawPointer, _ row: UInt32, _ wanted: UnsafeRawBufferPointer, _ chunks: Chunks
    ) -> Bool {
        let stored = StringLeaf.cell(leaf, row)
        if stored == 0 { return false }
        if StringLeaf.isBlob(stored) { return Blob.equals(StringLeaf.blob(leaf, stored).page, wanted, chunks) }
        let bytes = StringLeaf.inlineBytes(leaf, stored)
        guard bytes.count == wanted.count, let left = bytes.baseAddress, let right = wanted.baseAddress else {
            return bytes.count == wanted.count
        }
        // SAFETY: both buffers have exactly as many bytes as are compared.
        return memcmp(left, right, bytes.count) == 0
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
        let stored = StringLeaf.cell(leaf, row)
        if stored == 0 { return body(.null) }
        guard StringLeaf.isBlob(stored) else { return body(.bytes(StringLeaf.inlineBytes(leaf, stored))) }
        return Blob.bytes(StringLeaf.blob(leaf, stored).page, chunks).withUnsafeBytes { body(.bytes($0)) }
    }
}
