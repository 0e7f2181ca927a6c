import CambiumBytes
package import CambiumModel
package import CambiumProofs

/// The record of a checkpoint: the position of its pages in the file of pages, and everything else that is needed to open the store.
/// Docs/Formats/CHECKPOINTS.md describes the bytes.
package struct CheckpointRecord: Sendable {
    package static let directory = "roots"
    static let suffix = ".root"

    /// The entry for one chunk, 64 KiB of the file of pages.
    package struct Chunk: Sendable, Hashable {
        /// The number of granules of 16 bytes in use. It is 0 if the checkpoint does not own the chunk, and 65,535 if the chunk contains a
        /// part of the checkpoint's table.
        package var live: UInt16
        /// The checksum of the chunk's 65,536 bytes; 0 if the chunk contains a part of the checkpoint's table, because that part has its
        /// own checksum.
        package var checksum: UInt32
        /// The number of bytes that the chunk takes in the file of pages if the chunk is stored compressed; otherwise 0.
        package var packedByteCount: UInt16

        /// A chunk that no checkpoint owned when the record was written.
        package static let unused = Chunk(live: 0, checksum: 1)
        /// A chunk with a part of the checkpoint's table.
        package static let table = Chunk(live: .max)

        /// Whether the chunk contains pages of the checkpoint.
        package var hasPages: Bool { live > 0 && !hasTable }
        var hasTable: Bool { live == .max }
        /// Whether the checkpoint owns the chunk, for its pages or for its table.
        package var isOwned: Bool { live > 0 }

        package init(live: UInt16 = 0, checksum: UInt32 = 0, packedByteCount: UInt16 = 0) {
            self.live = live
            self.checksum = checksum
            self.packedByteCount = packedByteCount
        }
    }

    /// The id of the store, 16 bytes.
    package var store: [UInt8]
    /// The last transaction in the checkpoint.
    package var transaction: TransactionNumber
    /// The time of `transaction`, in microseconds since 1970.
    package var time: Int64
    /// Each table of the graph is divided into groups of `1 << fanOutShift` consecutive rows. A program with groups of another size cannot
    /// use the pages.
    package var fanOutShift: UInt8
    /// Whether chunks are compressed if this saves disk space.
    package var isPacked: Bool
    /// A hash of the way in which pages store the objects of the schema. A program that computes another hash cannot use the pages.
    package var layout: UInt64
    /// The position at which the log continues after `transaction`.
    package var logPosition: LogPosition
    /// The number in the name of the file of pages.
    package var pageFile: UInt64
    package var epoch: UInt64
    package var pageDirectory: UInt32
    package var schema: SchemaCatalog
    package var chunks: [Chunk]
    /// The Merkle tree over the log up to `transaction`. It is `nil` if the writer could not read this part of the log.
    package var tree: MerkleTree?

    package init(
        store: [UInt8], transaction: TransactionNumber, time: Int64, fanOutShift: UInt8, isPacked: Bool, layout: UInt64,
        logPosition: LogPosition,
        pageFile: UInt64, epoch: UInt64, pageDirectory: UInt32, schema: SchemaCatalog, chunks: [Chunk],
        tree: MerkleTree? = nil
    ) {
        self.store = store
        self.transaction = transaction
        self.time = time
        self.fanOutShift = fanOutShift
        self.isPacked = isPacked
        self.layout = layout
        self.logPosition = logPosition
        self.pageFile = pageFile
        self.epoch = epoch
        self.pageDirectory = pageDirectory
        self.schema = schema
        self.chunks = chunks
        self.tree = tree
    }

    // MARK: Names

    package static func path(_ transaction: TransactionNumber) -> String {
        let digits = String(transaction.rawValue)
        return directory + "/" + String(repeating: "0", count: LogFileName.digitCount - digits.count) + digits + suffix
    }

    /// Returns the checkpoints of a store, newest first. Ignores files that do not have the name of a record.
    package static func list(_ volume: any Volume) throws(CambiumError) -> [TransactionNumber] {
        try volume.list(directory).compactMap(number).sorted { $0 > $1 }
    }

    /// Whether a name in the directory of checkpoint records is the name of a record.
    static func isName(_ name: String) -> Bool { number(name) != nil }

    private static func number(_ name: String) -> TransactionNumber? {
        guard name.hasSuffix(suffix), let digits = UInt64(name.dropLast(suffix.utf8.count)), (1...Format.transactionMax).contains(digits)
        else { return nil }
        let number = TransactionNumber(rawValue: digits)
        return path(number) == directory + "/" + name ? number : nil
    }

    // MARK: Bytes

    /// The bytes of a record, and the parts of its table if the table is not in the record.
    struct Encoded {
        let record: [UInt8]
        let parts: [(chunk: Int, bytes: [UInt8])]
    }

    /// Returns the number of chunks that a checkpoint needs for its table, which contains the schema and an entry for each chunk. Returns 0
    /// if the record has enough space for the table.
    ///
    /// Throws `.limitExceeded` for a schema that is too large for a checkpoint. Complexity: O(chunks of the table).
    package static func tableChunkCount(
        _ transaction: TransactionNumber, schema: SchemaCatalog, chunkCount: Int, isPacked: Bool, tuning: LogTuning
    ) throws(CambiumError) -> Int {
        let schemaByteCount = OpCodec.byteCount(ofSchema: schema)
        guard schemaByteCount <= Format.Root.schemaByteCountMax else {
            let limit = Format.Root.schemaByteCountMax >> 20
            throw CambiumError(
                .limitExceeded, "A checkpoint holds a schema of at most \(limit) MiB of JSON; this schema is larger. Use a smaller schema.")
        }
        let byteCount = CheckpointTable.byteCount(schemaByteCount: schemaByteCount, chunkCount: chunkCount, isPacked: isPacked)
        let tableByteCountMax = Format.Root.recordByteCountMax - Format.Root.fixedByteCount - treeByteCount(transaction)
        if byteCount <= min(tuning.recordedTableByteCountMax, tableByteCountMax) { return 0 }
        return CheckpointTable.partCount(byteCount: byteCount, partByteCountMax: tuning.tablePartByteCountMax)
    }

    /// Returns the number of bytes that a record needs for the tree over the log up to a transaction: the roots of the tree's complete
    /// subtrees.
    static func treeByteCount(_ transaction: TransactionNumber) -> Int {
        transaction.rawValue.nonzeroBitCount * TreeHash.byteCount
    }

    /// Encodes the record. If some entries of `chunks` are marked for the table, divides the table into parts for these chunks. Otherwise,
    /// the record contains the whole table.
    ///
    /// - Parameter partByteCountMax: The number of bytes that a part of the table may use in its chunk.
    func encode(partByteCountMax: Int = PageFile.chunkByteCount) -> Encoded {
        let op = OpCodec.encode([.schema(schema)])
        let table = CheckpointTable.encode(schemaOp: op, chunks, isPacked: isPacked)
        let owned = chunks.indices.filter { chunks[$0].hasTable }
        let parts = owned.isEmpty ? [] : CheckpointTable.parts(of: table, in: owned, partByteCountMax: partByteCountMax)
        var writer = ByteWriter(capacity: Format.Root.recordByteCountMax)
        writer.write(Format.Root.magic)
        writer.write(Format.version)
        writer.writeByte(fanOutShift)
        writer.writeByte(kind(hasTableInChunks: !parts.isEmpty))
        writer.write(store)
        writer.write(transaction.rawValue)
        writer.write(time)
        writer.write(layout)
        writer.write(logPosition.checksum)
        writer.write(UInt64(logPosition.jointOffset))
        writer.write(pageFile)
        writer.write(epoch)
        writer.write(pageDirectory)
        writer.write(UInt32(chunks.count))
        writer.write(UInt32(op.count))
        if let head = parts.first {
            CheckpointTable.Part(chunk: head.chunk, head.bytes).write(to: &writer)
        } else {
            writer.write(table)
        }
        for subtree in tree?.subtrees ?? [] { writer.write(subtree.bytes) }
        writer.write(CRC32C.checksum(writer.bytes))
        return Encoded(record: writer.bytes, parts: parts)
    }

    private func kind(hasTableInChunks: Bool) -> UInt8 {
        var kind = isPacked ? Format.Root.Kind.packed : 0
        if hasTableInChunks { kind |= Format.Root.Kind.tableInChunks }
        if tree != nil { kind |= Format.Root.Kind.tree }
        return kind
    }

    /// Returns the store id in a record, or `nil` if the checksum of the record does not match.
    static func store(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= Format.Root.headerByteCount + 12, bytes.starts(with: Format.Root.magic),
            ByteReader.peek(bytes, at: bytes.count - 4) == CRC32C.checksum(Array(bytes.dropLast(4)))
        else { return nil }
        return Array(bytes[Format.Root.storeOffset..<Format.Root.storeOffset + 16])
    }
}

extension LogPrefix {
    /// Creates the prefix of the log that ends with the last transaction in a checkpoint.
    package init(_ root: CheckpointRecord) {
        self.init(transaction: root.transaction, time: root.time, position: root.logPosition)
    }
}
