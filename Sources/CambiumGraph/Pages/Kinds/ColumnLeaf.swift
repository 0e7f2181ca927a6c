internal import CMachine
import Glibc

/// A leaf of a column of fixed width: a bit for each row with a value, then the values.
@usableFromInline struct FixedLeaf {
    @usableFromInline static let presenceOffset = 16
    @usableFromInline static let valuesOffset = 32

    @usableFromInline let page: UnsafeMutableRawPointer

    @inlinable @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    static func byteCount(width: Int) -> Int { valuesOffset + width * PageLayout.fanOut }

    /// Returns whether the value of a row is not null.
    @inlinable @inline(__always) func isPresent(_ row: UInt32) -> Bool {
        let byte = page.load(fromByteOffset: Self.presenceOffset &+ Int((row & PageLayout.rowMask) &>> 3), as: UInt8.self)
        return byte &>> UInt8(truncatingIfNeeded: row & 7) & 1 != 0
    }

    @inline(__always) func setPresent(_ row: UInt32, _ isPresent: Bool) { presence.set(row, isPresent) }

    /// The rows whose value is not null.
    @inline(__always) var presence: PageBits { PageBits(page + Self.presenceOffset) }

    /// The address of the values. The value of each row takes the width of the column.
    @inline(__always) var values: UnsafeMutableRawPointer { page + Self.valuesOffset }

    /// Returns the address of the value of a row.
    @inline(__always) func address(_ row: UInt32, width: Int) -> UnsafeMutableRawPointer {
        page + (Self.valuesOffset &+ width &* Int(row & PageLayout.rowMask))
    }

    /// Prefetches the value of a row, and whether it is null.
    @inline(__always) func prefetch(_ row: UInt32, width: Int) {
        cmachine_prefetch(page + Self.presenceOffset)
        cmachine_prefetch(address(row, width: width))
    }

    /// Returns the value of a row, which is of the type `T`. The bytes of a null are zero.
    @inlinable @inline(__always) func value<T: BitwiseCopyable>(_ row: UInt32, as type: T.Type) -> T {
        page.load(fromByteOffset: Self.valuesOffset &+ MemoryLayout<T>.stride &* Int(row & PageLayout.rowMask), as: type)
    }

    @inline(__always) func set<T: BitwiseCopyable>(_ row: UInt32, _ value: T) {
        page.storeBytes(of: value, toByteOffset: Self.valuesOffset &+ MemoryLayout<T>.stride &* Int(row & PageLayout.rowMask), as: T.self)
        setPresent(row, true)
    }

    /// Sets the value of a row to null. The bytes of the value become zero, so that leaves with equal values have equal bytes.
    func clear(_ row: UInt32, width: Int) {
        memset(address(row, width: width), 0, width)
        setPresent(row, false)
    }
}

/// A leaf of a column of rows or counts: a number of 32 bits for each row.
@usableFromInline struct LinkLeaf {
    @usableFromInline static let valuesOffset = 16

    @usableFromInline let page: UnsafeMutableRawPointer

    @inlinable @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    static var byteCount: Int { valuesOffset + 4 * PageLayout.fanOut }

    @inlinable @inline(__always) subscript(row: UInt32) -> UInt32 {
        get { page.load(fromByteOffset: Self.valuesOffset &+ 4 &* Int(row & PageLayout.rowMask), as: UInt32.self) }
        nonmutating set {
            page.storeBytes(of: newValue, toByteOffset: Self.valuesOffset &+ 4 &* Int(row & PageLayout.rowMask), as: UInt32.self)
        }
    }

    /// The numbers of all rows of the group.
    @inline(__always) var values: UnsafeMutablePointer<UInt32> { (page + Self.valuesOffset).assumingMemoryBound(to: UInt32.self) }

    /// Prefetches the header and the number of a row.
    @inline(__always) func prefetch(_ row: UInt32) {
        cmachine_prefetch(page)
        cmachine_prefetch(values + Int(row & PageLayout.rowMask))
    }
}

/// A leaf of a column of provenance whose numbers need 64 bits.
struct WideLeaf {
    private let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    static var byteCount: Int { LinkLeaf.valuesOffset + 8 * PageLayout.fanOut }

    /// The numbers of all rows of the group.
    @inline(__always) var values: UnsafeMutablePointer<UInt64> { (page + LinkLeaf.valuesOffset).assumingMemoryBound(to: UInt64.self) }
}
