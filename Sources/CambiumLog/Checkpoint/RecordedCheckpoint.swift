import CambiumBytes
internal import CambiumModel
internal import CambiumProofs

/// A checkpoint record in its stored form. Its table, which contains the schema and an entry for each chunk, may be in the file of pages.
struct RecordedCheckpoint {
    /// The record without the schema and the chunks.
    private(set) var record: CheckpointRecord
    private let chunkCount: Int
    private let schemaByteCount: Int
    private let table: Place

    private enum Place {
        case record(ArraySlice<UInt8>)
        case chunks(head: CheckpointTable.Part)
    }

    private var tableByteCount: Int {
        CheckpointTable.byteCount(schemaByteCount: schemaByteCount, chunkCount: chunkCount, isPacked: record.isPacked)
    }

    /// Decodes a record. Throws if the bytes are not a record of this store.
    init(_ bytes: [UInt8], store: [UInt8]) throws(DecodingError) {
        guard bytes.count >= Format.Root.headerByteCount + 12 else { throw .truncated(offset: bytes.count) }
        guard ByteReader.peek(bytes, at: bytes.count - 4) == CRC32C.checksum(Array(bytes.dropLast(4))) else {
            throw .invalid("a checksum that does not match", offset: bytes.count - 4)
        }
        var reader = ByteReader(bytes.dropLast(4))
        guard try reader.readBytes(8).elementsEqual(Format.Root.magic) else {
            throw .invalid("bytes that are not a checkpoint record", offset: 0)
        }
        let version = try reader.read(UInt16.self)
        guard version == Format.version else { throw .invalid("a format that this program cannot read", offset: 8) }
        let fanOutShift = try reader.readByte()
        let kind = try reader.readByte()
        guard kind & ~Format.Root.Kind.all == 0 else {
            throw .invalid("a kind that this program cannot read", offset: 11)
        }
        let isPacked = kind & Format.Root.Kind.packed != 0
        guard try reader.readBytes(16).elementsEqual(store) else { throw .invalid("the checkpoint of another store", offset: 12) }
        let transaction = TransactionNumber(rawValue: try reader.read(UInt64.self))
        guard (1...Format.transactionMax).contains(transaction.rawValue) else {
            throw .invalid("a transaction number that is out of range", offset: 28)
        }
        let time = try reader.read(Int64.self)
        let layout = try reader.read(UInt64.self)
        let logChecksum = try reader.read(UInt32.self)
        let jointOffset = try reader.read(UInt64.self)
        guard jointOffset <= Format.Root.jointOffsetMax else { throw .invalid("the offset of a joint that is out of range", offset: 56) }
        let pageFile = try reader.read(UInt64.self)
        let epoch = try reader.read(UInt64.self)
        let pageDirectory = try reader.read(UInt32.self)
        chunkCount = Int(try reader.read(UInt32.self))
        schemaByteCount = Int(try reader.read(UInt32.self))
        guard schemaByteCount <= Format.Root.schemaByteCountMax else {
            throw .invalid("a schema that is too long", offset: reader.offset - 4)
        }
        record = CheckpointRecord(
            store: store, transaction: transaction, time: time, fanOutShift: fanOutShift, isPacked: isPacked, layout: layout,
            logPosition: LogPosition(jointOffset: Int(jointOffset), checksum: logChecksum), pageFile: pageFile, epoch: epoch,
            pageDirectory: pageDirectory, schema: SchemaCatalog(json: []), chunks: [])
        guard bytes.count <= Format.Root.recordByteCountMax, chunkCount <= Format.Root.chunkCountMax else {
            throw .limitExceeded("a checkpoint record with \(chunkCount) chunks in \(bytes.count) bytes", offset: reader.offset)
        }
        let treeByteCount = kind & Format.Root.Kind.tree != 0 ? CheckpointRecord.treeByteCount(transaction) : 0
        if kind & Format.Root.Kind.tableInChunks != 0 {
            table = .chunks(head: try CheckpointTable.Part(&reader, chunkCount: chunkCount))
        } else {
            table = .record(try reader.readBytes(max(0, reader.remaining - treeByteCount)))
        }
        if treeByteCount > 0 { record.tree = try Self.readTree(&reader, transaction) }
        try reader.finish()
    }

    private static func readTree(_ reader: inout ByteReader, _ transaction: TransactionNumber) throws(DecodingError) -> MerkleTree? {
        var subtrees: [TreeHash] = []
        for _ in 0..<transaction.rawValue.nonzeroBitCount {
            if let subtree = TreeHash(try reader.readBytes(TreeHash.byteCount)) { subtrees.append(subtree) }
        }
        return MerkleTree(leafCount: transaction.rawValue, subtrees: subtrees)
    }

    /// Returns the record together with the schema and the chunks from its table. Throws `.corrupted` if the table fails verification. Also
    /// throws the errors of `read`.
    ///
    /// Complexity: O(bytes of the table). Calls `read` only if the table is in chunks of the file of pages.
    ///
    /// - Parameter read: reads the beginning of a chunk of the file of pages; returns fewer bytes if the file is shorter.
    func resolved(
        _ read: (_ chunk: Int, _ byteCount: Int) throws(CambiumError) -> [UInt8]
    ) throws(CambiumError) -> CheckpointRecord {
        do {
            var (bytes, owned): (ArraySlice<UInt8>, [Int]) = ([], [])
            switch table {
            case .record(let recorded): bytes = recorded
            case .chunks(let head):
                let found = try CheckpointTable.read(head, byteCount: tableByteCount, chunkCount: chunkCount, read)
                (bytes, owned) = (found.bytes[...], found.chunks)
            }
            guard bytes.count == tableByteCount else { throw DecodingError.truncated(offset: bytes.count) }
            var root = record
            (root.schema, root.chunks) = try CheckpointTable.decode(
                bytes, schemaByteCount: schemaByteCount, chunkCount: chunkCount, isPacked: record.isPacked, owned: owned)
            return root
        } catch let error as CambiumError {
            throw error
        } catch {
            throw CambiumError.corruptCheckpoint(
                "The checkpoint is corrupt (\(error)).", file: CheckpointRecord.path(record.transaction))
        }
    }
}
