/// The constants of the format. `Docs/Formats/FORMAT.md` explains them; a test compares the constants with the document.
enum Format {
    /// The version of every file of a store. Until the first release, the format changes without a new version, and no program converts
    /// stores of earlier builds.
    static let version: UInt16 = 2
    /// The highest number that a transaction can have. It is lower than the type allows, so that the next number always exists.
    static let transactionMax: UInt64 = 1 << 62

    enum Segment {
        static let magic = Array("CAMBLOG1".utf8)
        static let headerByteCount = 96
        static let versionOffset = 8
        static let kindOffset = 10
        static let storeOffset = 16
        static let firstTransactionOffset = 32
        static let creationTimeOffset = 40
        static let saltSeedOffset = 48
        static let previousChecksumOffset = 64
        /// The offset of bytes that are zero in all known versions.
        static let reservedOffset = 68
        static let checksumOffset = 92
    }

    enum FileKind: UInt8 {
        case open = 0, sealed, ops
        /// Like `sealed`, but each transaction consists only of its envelope (number, time, actor, message and request id) and the hash of
        /// its payload.
        case retired

        /// Whether a file of this kind has an index, and larger frames than an open segment.
        var isSealed: Bool { self == .sealed || self == .retired }
    }

    enum Index {
        /// The number of bytes of the offset and the checksum that follow the index of a sealed segment.
        static let trailerByteCount = 12
        /// The maximum number of frames, and of joints, in an index. A compressed index takes only a few bits of the file for each of them,
        /// so this number limits the memory of a reader.
        static let entryCountMax = 1 << 22
    }

    enum Joint {
        /// The number of bytes in a joint (a frame without transactions): a transaction number and a time.
        static let regionByteCount = 16
    }

    enum Head {
        static let magic = Array("CAMBHED2".utf8)
        static let slotByteCount = 128
        static let sequenceOffset = 8
        /// The maximum sequence number of a slot. HEAD has two slots, and the slot with the higher number is newer. The maximum is lower
        /// than the type allows, so that the next number always exists.
        static let sequenceMax: UInt64 = 1 << 63 - 1
        static let segmentOffset = 16
        static let positionOffset = 24
        static let transactionOffset = 32
        static let closedOffset = 40
        static let storeOffset = 48
        static let storeByteCount = 12
        static let treeOffset = 60
        /// The number of bytes that the checksum at the end of a HEAD slot takes.
        static let checksumByteCount = 4
    }

    enum CreationMark {
        static let magic = Array("CAMBMAKE".utf8)
        static let storeByteCount = 16
        static let headerByteCount = 30
        static let nameByteCountMax = 255
    }

    enum ArchiveNote {
        static let magic = Array("CAMBARCH".utf8)
    }

    enum Root {
        static let magic = Array("CAMBROOT".utf8)
        static let storeOffset = 12
        /// The number of bytes of a checkpoint record before the offset of its joint, a marked position in the log.
        static let headerByteCount = 80
        /// The maximum length of a whole checkpoint record.
        static let recordByteCountMax = 4096
        /// The length of a checkpoint record without a table and a tree.
        static let fixedByteCount = 96
        /// The number of chunks that a page reference can address.
        static let chunkCountMax = 1 << 20
        static let jointOffsetMax: UInt64 = 1 << 48
        static let chunkEntryByteCount = 6
        /// The size of an entry for a chunk in a checkpoint record whose chunks may be compressed.
        static let packedEntryByteCount = 8
        /// A chunk that would take more bytes than this when compressed is stored uncompressed, because compression would save less than a
        /// quarter.
        static let packedByteCountMax = 49_152
        static let schemaByteCountMax = 64 << 20

        /// The bits of the byte that states the kind of a checkpoint record.
        enum Kind {
            static let packed: UInt8 = 1
            static let tableInChunks: UInt8 = 2
            static let tree: UInt8 = 4
            static let all: UInt8 = 7
        }
    }

    enum Lease {
        static let magic = Array("CAMBLEAS".utf8)
        /// The maximum length of a lease. It is enough for two files of pages in which every second chunk is mapped.
        static let byteCountMax = 16 << 20
        /// The number of chunks that a page reference can address.
        static let chunkCountMax = 1 << 20
        /// A graph maps chunks of at most two files: the file from which its store was opened, and the file to which its store wrote.
        static let pageFileCountMax = 2
    }

    enum Frame {
        static let bodyByteCountMin = 3
        static let bodyByteCountMax = 1 << 30
        static let regionByteCountMax = 1 << 31
        /// The maximum number of transactions in one frame. A reader decodes a frame as a whole, and compressed transactions without ops
        /// take less than a bit each in the file. So this number limits the memory of the reader.
        static let transactionCountMax = 1 << 22
        /// The maximum number of bytes of the transactions or ops in one frame, before compression.
        static let payloadByteCountMax = bodyByteCountMax - (16 << 20)
        static let blockByteCount = 1 << 20
        static let checksumByteCount = 4
        static let lengthByteCountMax = 5
        /// The maximum number of bytes that the length and the checksum of a frame take together.
        static let headerByteCountMax = 9
        /// The maximum number of bytes from the beginning of a frame to the end of its number of transactions.
        static let outlineByteCountMax = 29
        /// A region (the transactions of a frame) with fewer bytes is not worth compressing.
        static let compressedByteCountMin = 512
    }

    enum Flag {
        static let actor: UInt8 = 1
        static let message: UInt8 = 2
        static let requestID: UInt8 = 4
        static let redacted: UInt8 = 8
        static let salt: UInt8 = 16
        static let opsFile: UInt8 = 32
        static let clockLag: UInt8 = 64
        /// This flag means that a second byte of flags follows.
        static let more: UInt8 = 128
    }

    /// The flags in the second byte of flags.
    enum MoreFlag {
        static let requestDigest: UInt8 = 1
        static let all: UInt8 = 1
    }

    static let internedCountMax = 65_536
    static let saltByteCount = 16
    static let commitmentByteCount = 32
    static let algorithm: UInt8 = 1

    enum OpKind: UInt8 {
        case schema = 1, insert, set, link, linkAt, unlink, move, delete, upsert, relink, digest, clone, label, mark, undo
    }

    enum ValueTag: UInt8 {
        case null = 0, `false`, `true`, int, float, double, decimal, string, data, date, uuid, uri, json
    }

    enum Presence: UInt8 { case all = 0, none, bits }
    enum ListEncoding: UInt8 { case raw = 0, constant, offset, delta }
    enum BytesEncoding: UInt8 { case raw = 0, hex }
    enum RelinkKind: UInt8 { case toOne = 0, unordered, ordered }

    /// The maximum number of serials (numbers of objects) in one block. A writer uses at most an eighth of this number.
    static let blockObjectCountMax = 1 << 16
    /// The maximum number of values in all columns of one block, and of numbers in one list. It limits the memory that a decoder allocates
    /// for a count before it has read the counted elements.
    static let elementCountMax = 1 << 24
}
