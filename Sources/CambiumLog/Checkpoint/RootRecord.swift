import CambiumBytes
public import CambiumModel

/// What makes a stored graph one: where its pages are in the file of pages, and all else that opening needs. Docs/CHECKPOINTS.md has the
/// bytes.
public struct RootRecord: Sendable {
    public static let directory = "roots"
    static let suffix = ".root"

    public struct Chunk: Sendable, Hashable {
        /// Granules of 16 bytes in use; 0 where the root does not have the chunk.
        public var live: UInt16
        /// Of its 65,536 bytes.
        public var checksum: UInt32
        /// Bytes that it takes in the file, where it is compressed; else 0.
        public var packedByteCount: UInt16

        /// A chunk that no root had when the record was written.
        public static let unused = Chunk(live: 0, checksum: 1)

        public init(live: UInt16 = 0, checksum: UInt32 = 0, packedByteCount: UInt16 = 0) {
            self.live = live
            self.checksum = checksum
            self.packedByteCount = packedByteCount
        }
    }

    /// 16 bytes.
    public var store: [UInt8]
    /// The last one in it.
    public var transaction: TransactionNumber
    /// Of that transaction, in microseconds since 1970.
    public var time: Int64
    /// Rows of a group of the page space, as a power of two.
    public var fanOutShift: UInt8
    /// Whether chunks that get smaller by it are stored compressed.
    public var isPacked: Bool
    /// Of how the schema lies in pages: a program that lays it out in another way cannot use them.
    public var layout: UInt64
    /// Where the log goes on after the transaction.
    public var logPosition: LogPosition
    /// Which file the pages are in.
    public var pageFile: UInt64
    public var epoch: UInt64
    public var pageDirectory: UInt32
    public var schema: SchemaCatalog
    public var chunks: [Chunk]
    /// What a record of format 1 has beside the pages; later ones have it in their pages.
    public var firstFormat: FirstFormatNames?

    public init(
        store: [UInt8], transaction: TransactionNumber, time: Int64, fanOutShift: UInt8, isPacked: Bool, layout: UInt64,
        logPosition: LogPosition,
        pageFile: UInt64, epoch: UInt64, pageDirectory: UInt32, schema: SchemaCatalog, chunks: [Chunk],
        firstFormat: FirstFormatNames? = nil
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
        self.firstFormat = firstFormat
    }

    // MARK: Names

    public static func path(_ transaction: TransactionNumber) -> String {
        let digits = String(transaction.rawValue)
        return directory + "/" + String(repeating: "0", count: LogFileName.digitCount - digits.count) + digits + suffix
    }

    /// The roots of a store, newest first. What has another name than a root would have is none.
    public static func list(_ volume: any Volume) throws(CambiumError) -> [TransactionNumber] {
        try volume.list(directory).compactMap(number).sorted { $0 > $1 }
    }

    /// Whether a name in the directory of roots is that of a root.
    static func isName(_ name: String) -> Bool { number(name) != nil }

    private static func number(_ name: String) -> TransactionNumber? {
        guard name.hasSuffix(suffix), let digits = UInt64(name.dropLast(suffix.utf8.count)), digits > 0 else { return nil }
        let number = TransactionNumber(rawValue: digits)
        return path(number) == directory + "/" + name ? number : nil
    }

    /// Makes the record a root of a store, whose pages are durable: in the place of the one that the transaction has, where there is one.
    ///
    /// - Returns: its bytes; nil where somebody reads the one that there is in the same file, which stays then.
    func write(to volume: any Volume) throws(CambiumError) -> Int? {
        let (path, bytes) = (Self.path(transaction), encode())
        // In another file it leaves alone what is read.
        if try volume.exists(path), try PageFile.root(volume, store: store, transaction)?.record.pageFile == pageFile {
            guard try volume.replaceUnlessShared(path, bytes) else { return nil }
        } else {
            try volume.replace(path, bytes)
        }
        try volume.syncDirectory(Self.directory)
        return bytes.count
    }

    // MARK: Bytes

    func encode() -> [UInt8] {
        var writer = ByteWriter(capacity: Format.Root.headerByteCount + chunks.count * Format.Root.packedEntryByteCount + 4096)
        writer.write(Format.Root.magic)
        writer.write(firstFormat == nil ? Format.version : Format.oldestVersion)
        writer.writeByte(fanOutShift)
        writer.writeByte(isPacked ? 1 : 0)
        writer.write(store)
        writer.write(transaction.rawValue)
        writer.write(time)
        writer.write(layout)
        writer.write(logPosition.checksum)
        if firstFormat == nil { writer.write(UInt64(logPosition.jointOffset)) }
        writer.write(pageFile)
        writer.write(epoch)
        writer.write(pageDirectory)
        writer.write(UInt32(chunks.count))
        let op = OpCodec.encode([.schema(schema)])
        writer.write(UInt32(op.count))
        writer.write(op)
        for names in firstFormat.map({ [$0.requests, $0.labels] }) ?? [] {
            writer.write(UInt32(names.count))
            writer.write(UInt32(names.bytes.count))
            writer.write(names.bytes)
        }
        for chunk in chunks {
            writer.write(chunk.live)
            writer.write(chunk.checksum)
            if isPacked { writer.write(chunk.packedByteCount) }
        }
        writer.write(CRC32C.checksum(writer.bytes))
        return writer.bytes
    }

    /// The store that a record belongs to, if its checksum fits; otherwise nil.
    static func store(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count >= Format.Root.headerByteCount + 12, bytes.starts(with: Format.Root.magic),
            ByteReader.peek(bytes, at: bytes.count - 4) == CRC32C.checksum(Array(bytes.dropLast(4)))
        else { return nil }
        return Array(bytes[Format.Root.storeOffset..<Format.Root.storeOffset + 16])
    }

    /// Throws where the bytes are no record of this store.
    static func decode(_ bytes: [UInt8], store: [UInt8]) throws(DecodingError) -> RootRecord {
        guard bytes.count >= Format.Root.headerByteCount + 12 else { throw .truncated(offset: bytes.count) }
        let checksum: UInt32 = ByteReader.peek(bytes, at: bytes.count - 4)
        guard checksum == CRC32C.checksum(Array(bytes.dropLast(4))) else {
            throw .invalid("a checksum that does not fit", offset: bytes.count - 4)
        }
        var reader = ByteReader(bytes.dropLast(4))
        guard try reader.readBytes(8).elementsEqual(Format.Root.magic) else { throw .invalid("no root record", offset: 0) }
        let version = try reader.read(UInt16.self)
        guard Format.versions.contains(version) else { throw .invalid("a format that this program does not read", offset: 8) }
        let fanOutShift = try reader.readByte()
        let kind = try reader.readByte()
        guard kind <= 1 else { throw .invalid("a kind that this program does not read", offset: 11) }
        let isPacked = kind == 1
        guard try reader.readBytes(16).elementsEqual(store) else { throw .invalid("the root of another store", offset: 12) }
        let transaction = TransactionNumber(rawValue: try reader.read(UInt64.self))
        guard (1...Format.transactionMax).contains(transaction.rawValue) else {
            throw .invalid("a number that no transaction has", offset: 28)
        }
        let time = try reader.read(Int64.self)
        let layout = try reader.read(UInt64.self)
        let logChecksum = try reader.read(UInt32.self)
        let jointOffset = version == Format.oldestVersion ? 0 : try reader.read(UInt64.self)
        guard jointOffset <= Format.Root.jointOffsetMax else { throw .invalid("a joint that no segment has", offset: 56) }
        let pageFile = try reader.read(UInt64.self)
        let epoch = try reader.read(UInt64.self)
        let pageDirectory = try reader.read(UInt32.self)
        let chunkCount = Int(try reader.read(UInt32.self))
        let schemaByteCount = Int(try reader.read(UInt32.self))
        guard schemaByteCount <= Format.Root.schemaByteCountMax,
            case .schema(let schema)? = try OpCodec.decode(try reader.readBytes(schemaByteCount)).first
        else { throw .invalid("no schema", offset: Format.Root.headerByteCount) }
        let firstFormat = version == Format.oldestVersion ? try FirstFormatNames(&reader) : nil
        let entryByteCount = isPacked ? Format.Root.packedEntryByteCount : Format.Root.chunkEntryByteCount
        guard reader.remaining == chunkCount * entryByteCount else { throw .truncated(offset: bytes.count) }
        var chunks: [Chunk] = []
        chunks.reserveCapacity(chunkCount)
        for _ in 0..<chunkCount {
            let chunk = Chunk(
                live: try reader.read(UInt16.self), checksum: try reader.read(UInt32.self),
                packedByteCount: isPacked ? try reader.read(UInt16.self) : 0)
            guard chunk.packedByteCount <= Format.Root.packedByteCountMax else {
                throw .invalid("a compressed chunk that is too long", offset: bytes.count - reader.remaining)
            }
            chunks.append(chunk)
        }
        return RootRecord(
            store: store, transaction: transaction, time: time, fanOutShift: fanOutShift, isPacked: isPacked, layout: layout,
            logPosition: LogPosition(jointOffset: Int(jointOffset), checksum: logChecksum), pageFile: pageFile, epoch: epoch,
            pageDirectory: pageDirectory, schema: schema, chunks: chunks,
            firstFormat: firstFormat)
    }
}
