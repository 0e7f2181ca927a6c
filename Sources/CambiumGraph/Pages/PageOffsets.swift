/// The offsets in the page of a group of 128 rows.
enum GroupLayout {
    static let virtualPageOffset = 16
    /// The value that replaces the virtual page if a group contains rows of several virtual pages. Then a column contains the virtual page
    /// of each row.
    static let isShared = UInt32.max
    static let liveCountOffset = 20
    static let provenanceOffset = 24
    static let liveBitsOffset = 32
    static let stubBitsOffset = 48
    static let columnsOffset = 64
}

/// The offsets in the page of a table.
enum TablePage {
    static let rowsOffset = 16
    static let virtualPagesOffset = 24
    static let nextSerialOffset = 32
    static let liveCountOffset = 40
    static let groupCountOffset = 48
    static let freeCountOffset = 52
    static let freeOffset = 56
    static let indexesOffset = 64
    static let indexStride = 24
    static let indexBitsOffset = 8
    static let indexEntryCountOffset = 16
}

/// The offsets in the directory page, from which everything else is reached.
enum DirectoryPage {
    static let transactionOffset = 16
    /// A vector that is indexed by the place of a blob's head. An element is the number of cells that refer to the blob, not counting the
    /// first cell. Most blobs have no element.
    static let sharedBlobsOffset = 24
    static let hashKeyOffset = 32
    static let tablesOffset = hashKeyOffset + MemoryLayout<HashKey>.stride
}
