/// The page through which all other pages of a graph are reached.
struct DirectoryPage {
    static let transactionOffset = 16
    static let sharedBlobsOffset = 24
    static let hashKeyOffset = 32
    static let schemaTransactionOffset = hashKeyOffset + MemoryLayout<HashKey>.stride
    static let tablesOffset = schemaTransactionOffset + 8

    let page: UnsafeMutableRawPointer

    @inline(__always) init(_ page: UnsafeMutableRawPointer) { self.page = page }

    /// Returns the size of a directory page that refers to this many pages.
    static func byteCount(referenceCount: Int) -> Int { tablesOffset + 4 * referenceCount }

    /// The number of the last transaction of the graph.
    var transaction: UInt64 {
        get { page.load(fromByteOffset: Self.transactionOffset, as: UInt64.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.transactionOffset, as: UInt64.self) }
    }

    /// A vector with an element for each blob (a value of more than 255 bytes) that several cells refer to. The index of the element is
    /// `Blob.place`. The element is the number of cells that refer to the blob in addition to the first.
    var sharedBlobs: RadixVector {
        get { page.load(fromByteOffset: Self.sharedBlobsOffset, as: RadixVector.self) }
        nonmutating _modify { yield &(page + Self.sharedBlobsOffset).assumingMemoryBound(to: RadixVector.self).pointee }
    }

    /// The key of the hashes in the graph's indexes.
    var hashKey: HashKey {
        get { page.load(fromByteOffset: Self.hashKeyOffset, as: HashKey.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.hashKeyOffset, as: HashKey.self) }
    }

    /// The last transaction that changed the schema.
    var schemaTransaction: UInt64 {
        get { page.load(fromByteOffset: Self.schemaTransactionOffset, as: UInt64.self) }
        nonmutating set { page.storeBytes(of: newValue, toByteOffset: Self.schemaTransactionOffset, as: UInt64.self) }
    }

    /// The reference to the page of a table. The references to the register and to the ordered indexes follow those to the tables
    /// (`GraphLayout.registerPlace` and `indexesPlace`).
    @inline(__always) subscript(place: Int) -> PageRef {
        get { page.load(fromByteOffset: Self.tablesOffset &+ 4 &* place, as: PageRef.self) }
        nonmutating _modify { yield &(page + Self.tablesOffset + 4 * place).assumingMemoryBound(to: PageRef.self).pointee }
    }
}
