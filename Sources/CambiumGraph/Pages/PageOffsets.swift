/// The offsets in the page of a group of 128 rows.
enum GroupLayout {
    static let virtualPageOffset = 16
    /// The value at `virtualPageOffset` in a shared group, whose rows belong to several virtual pages (ranges of consecutive serials). A
    /// column of this group contains the virtual page of each row. Any other group has the number of its only virtual page at this offset.
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

/// The offsets in the directory page, through which all other pages of a graph are reached.
enum DirectoryPage {
    static let transactionOffset = 16
    /// A vector with an element for each blob (a value of more than 255 bytes) that several cells refer to. The index of the element is
    /// `Blob.place`. The element is the number of cells that refer to the blob in addition to the first.
    static let sharedBlobsOffset = 24
    static let hashKeyOffset = 32
    static let tablesOffset = hashKeyOffset + MemoryLayout<HashKey>.stride
}
