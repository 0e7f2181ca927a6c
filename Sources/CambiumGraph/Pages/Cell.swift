package import CambiumModel
import Glibc

/// A stored value of a column: null, up to 16 bytes, or a pointer to bytes that belong to another owner, such as a page.
///
/// SAFETY: a function that receives a cell must not keep the cell's `bytes` after it returns. The `bytes` of a cell that was read from a
/// page are valid as long as the page exists.
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
    /// Returns the value as indexes compare it: -0.0 becomes 0.0.
    ///
    /// - Parameter negativeZero: The bits of -0.0 in the type of the attribute; 0 for a type without -0.0.
    @inline(__always) func key(_ negativeZero: UInt64) -> Cell {
        var key = self
        key.low = low == negativeZero ? 0 : low
        return key
    }

    /// Returns the value as indexes compare it: -0.0 becomes 0.0. `type` is the type of the indexed attribute.
    @inline(__always) package func key(_ type: AttributeType) -> Cell { key(type.negativeZero) }

    package func equals(_ other: Cell) -> Bool {
        guard kind == other.kind else { return false }
        return kind == .bytes ? bytes.elementsEqual(other.bytes) : low == other.low && high == other.high
    }
}
