import CambiumBytes

#if canImport(Glibc)
    import Glibc
#endif

/// A page of a hash index: up to 112 entries of 16 bits of the hash and a row.
///
/// Entries whose hashes agree in all the bits that a split could look at go to an overflow page behind the bucket.
enum Bucket {
    static let capacity = 112
    static let countOffset = 16
    static let depthOffset = 18
    static let overflowOffset = 20
    static let fragmentsOffset = 32
    static let rowsOffset = fragmentsOffset + 2 * capacity
    static let byteCount = rowsOffset + 4 * capacity
    /// The deepest split; a fragment has the bits that splits at depths 8 to 23 look at.
    static let depthMax = 26

    @inline(__always) static func count(_ page: UnsafeMutableRawPointer) -> Int {
        Int(page.load(fromByteOffset: countOffset, as: UInt16.self))
    }
    @inline(__always) static func depth(_ page: UnsafeMutableRawPointer) -> Int {
        Int(page.load(fromByteOffset: depthOffset, as: UInt16.self))
    }
    @inline(__always) static func overflow(_ page: UnsafeMutableRawPointer) -> PageRef {
        page.load(fromByteOffset: overflowOffset, as: PageRef.self)
    }
    @inline(__always) static func fragments(_ page: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt16> {
        (page + fragmentsOffset).assumingMemoryBound(to: UInt16.self)
    }
    @inline(__always) static func rows(_ page: UnsafeMutableRawPointer) -> UnsafeMutablePointer<UInt32> {
        (page + rowsOffset).assumingMemoryBound(to: UInt32.self)
    }
    @inline(__always) static func fragment(_ hash: UInt64) -> UInt16 { UInt16(truncatingIfNeeded: hash >> 40) }

    static func setCount(_ page: UnsafeMutableRawPointer, _ count: Int) {
        page.storeBytes(of: UInt16(count), toByteOffset: countOffset, as: UInt16.self)
    }
    static func setDepth(_ page: UnsafeMutableRawPointer, _ depth: Int) {
        page.storeBytes(of: UInt16(depth), toByteOffset: depthOffset, as: UInt16.self)
    }
    static func append(_ page: UnsafeMutableRawPointer, _ fragment: UInt16, _ row: UInt32) {
        let count = count(page)
        fragments(page)[count] = fragment
        rows(page)[count] = row
        setCount(page, count + 1)
    }
}

/// The hash of a key, one component after the other. It never leaves memory.
struct KeyHash {
    private(set) var value: UInt64

    init(seed: UInt64) { value = seed }

    @inline(__always) mutating func add(_ low: UInt64, _ high: UInt64) {
        let product = (low ^ value ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: high ^ 0xD6E8_FEB8_6659_FD93)
        var mixed = product.high ^ product.low
        mixed = (mixed ^ mixed >> 32) &* 0xBF58_476D_1CE4_E5B9
        value = mixed ^ mixed >> 29
    }

    @inline(__always) mutating func add(_ bytes: UnsafeRawBufferPointer) {
        value = XXH3.hash64(bytes, seed: value)
    }

    @inline(__always) mutating func add(_ cell: Cell) {
        if cell.kind == .bytes { add(cell.bytes) } else { add(cell.low, cell.high) }
    }
}
