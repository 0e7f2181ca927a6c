import CambiumBytes
import CambiumLog
import CambiumModel

/// The pages of the newest checkpoint of a store, to be changed at will: the checksums of the chunks and of the record are made to fit.
///
///     var pages = try ForgedPages(files)
///     for mutation in PageMutation.all(of: pages) {
///         var forged = pages
///         forged.apply(mutation)
///         let files = try forged.files()
///     }
///
/// Headers of pages are read as Docs/CHECKPOINTS.md says: 8 bytes epoch, 2 bytes granules of 16 bytes, 1 byte kind.
public struct ForgedPages: Sendable {
    /// A page as its header tells.
    public struct Page: Sendable {
        public let kind: UInt8
        /// Where it begins in the file of pages, in bytes; a sixteenth of it is what refers to the page.
        public let offset: Int
        public let byteCount: Int

        public var reference: UInt32 { UInt32(offset / 16) }
    }

    /// Of the file of pages.
    public private(set) var bytes: [UInt8]
    public let record: RootRecord
    /// All pages that a chunk of the checkpoint has, those that nothing refers to any more among them.
    public let pages: [Page]
    private let others: [String: [UInt8]]
    private let path: String
    private var changedChunks = Set<Int>()

    private static let (granule, chunkByteCount) = (16, PageFile.chunkByteCount)

    /// Throws a `Finding` if the store has no checkpoint, or one that is stored compressed.
    public init(_ files: [String: [UInt8]]) throws {
        let volume = MemoryVolume(contents: files)
        let store = try StoreSettings.read(volume).store
        guard let number = try RootRecord.list(volume).first, let root = try PageFile.root(volume, store: store, number)?.record,
            !root.isPacked
        else { throw Finding("the sample has no checkpoint whose chunks are stored as they are") }
        record = root
        path = "pages-" + HexText.encode(withUnsafeBytes(of: root.pageFile.bigEndian) { Array($0) })
        bytes = files[path] ?? []
        others = files
        pages = Self.pages(bytes, root)
    }

    private static func pages(_ bytes: [UInt8], _ root: RootRecord) -> [Page] {
        var pages: [Page] = []
        for chunk in root.chunks.indices where root.chunks[chunk].hasPages {
            // The first granule of all stands for no page.
            var offset = chunk * chunkByteCount + (chunk == 0 ? granule : 0)
            while offset + 2 * granule <= (chunk + 1) * chunkByteCount {
                let byteCount = (Int(bytes[offset + 8]) | Int(bytes[offset + 9]) << 8) * granule
                if byteCount < 2 * granule { break }
                pages.append(Page(kind: bytes[offset + 10], offset: offset, byteCount: byteCount))
                offset += byteCount
            }
        }
        return pages
    }

    /// A number of 1, 2, 4 or 8 bytes.
    public func value(at offset: Int, width: Int) -> UInt64 {
        (0..<width).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
    }

    public mutating func store(_ value: UInt64, at offset: Int, width: Int) {
        for index in 0..<width where offset + index < bytes.count {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
        }
        changedChunks.formUnion([offset / Self.chunkByteCount, (offset + width - 1) / Self.chunkByteCount])
    }

    public mutating func apply(_ mutation: PageMutation) { store(mutation.value, at: mutation.offset, width: mutation.width) }

    /// The files of the store with these pages, under checksums that fit.
    public func files() throws -> [String: [UInt8]] {
        var root = record
        for chunk in changedChunks where chunk < root.chunks.count {
            let range = chunk * Self.chunkByteCount..<(chunk + 1) * Self.chunkByteCount
            root.chunks[chunk].checksum = CRC32C.checksum(Array(bytes[range]))
        }
        return try files(with: root)
    }

    /// The same with another record.
    public func files(with root: RootRecord) throws -> [String: [UInt8]] {
        let volume = MemoryVolume(contents: others.merging([path: bytes]) { $1 })
        var writer = try PageFileWriter(volume, root.pageFile, isNamed: true)
        defer { writer.close() }
        _ = try writer.finish(root)
        return volume.contents
    }
}
