import Glibc

/// The page of a table: the objects of a hierarchy of entities, or the edges of a link.
struct TablePage {
    static let rowsOffset = 16
    static let virtualPagesOffset = 24
    static let nextSerialOffset = 32
    static let liveCountOffset = 40
    static let groupCountOffset = 48
    static let freeCountOffset = 52
    static let freeOffset = 56
    static let indexesOffset = 64
    static let indexStride = 24

    /// A vector to which the page of a table refers.
    enum Vector {
        /// The reference of each group of rows.
        case rows
        /// For each virtual page (a range of consecutive serials), the index of its group, counted from 1.
        case virtualPages
        /// The indexes of released groups, or the released rows of edges.
        case free
        /// The directory of a hash index: the references to its buckets.
        case index(Int)
    }

    let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    /// Returns the size of the page of a table with this many indexes and entities.
    static func byteCount(indexCount: Int, entityCount: Int) -> Int { indexesOffset + indexStride * indexCount + 8 * entityCount }

    @inline(__always) var rows: RadixVector {
        get { page.load(fromByteOffset: Self.rowsOffset, as: RadixVector.self) }
        nonmutating _modify { yield &(page + Self.rowsOffset).assumingMemoryBound(to: RadixVector.self).pointee }
    }

    @inline(__always) var virtualPages: RadixVector {
        get { page.load(fromByteOffset: Self.virtualPagesOffset, as: RadixVector.self) }
        nonmutating _modify { yield &(page + Self.virtualPagesOffset).assumingMemoryBound(to: RadixVector.self).pointee }
    }

    /// The released groups or edges. The first `freeCount` elements are valid.
    @inline(__always) var free: RadixVector {
        get { page.load(fromByteOffset: Self.freeOffset, as: RadixVector.self) }
        nonmutating _modify { yield &(page + Self.freeOffset).assumingMemoryBound(to: RadixVector.self).pointee }
    }

    subscript(vector: Vector) -> RadixVector {
        get { address(of: vector).pointee }
        nonmutating _modify { yield &address(of: vector).pointee }
    }

    private func address(of vector: Vector) -> UnsafeMutablePointer<RadixVector> {
        let place =
            switch vector {
            case .rows: page + Self.rowsOffset
            case .virtualPages: page + Self.virtualPagesOffset
            case .free: page + Self.freeOffset
            case .index(let number): index(number).place
            }
        return place.assumingMemoryBound(to: RadixVector.self)
    }

    /// The serial of the next object, or the next unused row of a table of edges.
    @inline(__always) var nextSerial: UInt64 {
        get { page.load(fromByteOffset: Self.nextSerialOffset, as: UInt64.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.nextSerialOffset, as: UInt64.self) }
    }

    /// The number of objects or edges.
    @inline(__always) var liveCount: Int {
        get { page.load(fromByteOffset: Self.liveCountOffset, as: Int.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.liveCountOffset, as: Int.self) }
    }

    /// The number of groups that were ever created.
    @inline(__always) var groupCount: UInt32 {
        get { page.load(fromByteOffset: Self.groupCountOffset, as: UInt32.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.groupCountOffset, as: UInt32.self) }
    }

    /// The number of valid elements of `free`.
    @inline(__always) var freeCount: UInt32 {
        get { page.load(fromByteOffset: Self.freeCountOffset, as: UInt32.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.freeCountOffset, as: UInt32.self) }
    }

    @inline(__always) func index(_ number: Int) -> HashIndexRecord {
        HashIndexRecord(page + Self.indexesOffset + Self.indexStride &* number)
    }

    /// Returns the numbers of objects of each entity. They follow the records of `indexCount` hash indexes.
    @inline(__always) func entityCounts(after indexCount: Int) -> UnsafeMutablePointer<Int> {
        index(indexCount).place.assumingMemoryBound(to: Int.self)
    }

    /// Copies everything except the records of indexes and the counts of entities.
    func copyRows(from other: TablePage) {
        memcpy(page + Self.rowsOffset, other.page + Self.rowsOffset, Self.indexesOffset - Self.rowsOffset)
    }
}

/// The part of a table's page that describes a hash index.
struct HashIndexRecord {
    private static let bitsOffset = 8
    private static let entryCountOffset = 16

    let place: UnsafeMutableRawPointer

    @inline(__always) fileprivate init(_ place: UnsafeMutableRawPointer) { self.place = place }

    /// The directory of the index: the references to its buckets.
    @inline(__always) var directory: RadixVector {
        get { place.load(as: RadixVector.self) }
        nonmutating _modify { yield &place.assumingMemoryBound(to: RadixVector.self).pointee }
    }

    /// The number of bits of a hash that select a slot of the directory.
    @inline(__always) var bits: Int {
        get { Int(place.load(fromByteOffset: Self.bitsOffset, as: UInt32.self)) }
        nonmutating set { place.storeBytes(of: UInt32(newValue), toByteOffset: Self.bitsOffset, as: UInt32.self) }
    }

    @inline(__always) var entryCount: Int {
        get { place.load(fromByteOffset: Self.entryCountOffset, as: Int.self) }
        nonmutating set { place.storeBytes(of: newValue, toByteOffset: Self.entryCountOffset, as: Int.self) }
    }

    /// Returns the slot of the directory for a hash.
    @inline(__always) func slot(of hash: UInt64) -> Int {
        let bits = bits
        return bits == 0 ? 0 : Int(hash >> UInt64(64 &- bits))
    }

    func copy(from other: HashIndexRecord) { memcpy(place, other.place, TablePage.indexStride) }
}
