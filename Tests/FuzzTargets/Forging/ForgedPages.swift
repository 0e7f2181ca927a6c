import CambiumBytes
import CambiumLog
import CambiumModel

/// The pages of a store's newest checkpoint, which a test may change at will. `files()` recomputes the checksums of the chunks and of the
/// checkpoint record.
///
///     var pages = try ForgedPages(files)
///     for mutation in PageMutation.all(of: pages) {
///         var forged = pages
///         forged.apply(mutation)
///         let files = try forged.files()
///     }
///
/// A page header has the layout of Docs/Formats/PAGES.md: the epoch in 8 bytes, the size in granules of 16 bytes in 2
/// bytes, and the kind in 1 byte.
package struct ForgedPages: Sendable {
    /// A page, as its header describes it.
    package struct Page: Sendable {
        package let kind: UInt8
        /// The position in the file of pages, in bytes. A reference to the page is this position divided by 16.
        package let offset: Int
        package let byteCount: Int

        package var reference: UInt32 { UInt32(offset / 16) }
    }

    /// The bytes of the file of pages.
    package private(set) var bytes: [UInt8]
    package let record: CheckpointRecord
    /// All pages in the chunks of the checkpoint, including pages to which nothing refers any longer.
    package let pages: [Page]
    private let others: [String: [UInt8]]
    private let path: String
    private var changedChunks = Set<Int>()

    private static let (granule, chunkByteCount) = (16, PageFile.chunkByteCount)

    /// Reads the newest checkpoint. Throws a `Finding` if the store has no checkpoint or if the checkpoint is compressed.
    package init(_ files: [String: [UInt8]]) throws {
        let volume = MemoryVolume(contents: files)
        let store = try StoreSettings.read(volume).store
        guard let number = try CheckpointRecord.list(volume).first, let root = try PageFile.root(volume, store: store, number)?.record,
            !root.isPacked
        else { throw Finding("the sample has no checkpoint with uncompressed chunks") }
        record = root
        path = "pages-" + HexText.encode(withUnsafeBytes(of: root.pageFile.bigEndian) { Array($0) })
        bytes = files[path] ?? []
        others = files
        pages = Self.pages(bytes, root)
    }

    private static func pages(_ bytes: [UInt8], _ root: CheckpointRecord) -> [Page] {
        var pages: [Page] = []
        for chunk in root.chunks.indices where root.chunks[chunk].hasPages {
            // The first granule (16 bytes) of the file is not a page.
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

    /// Returns a number of 1, 2, 4 or 8 bytes in little-endian order.
    package func value(at offset: Int, width: Int) -> UInt64 {
        (0..<width).reduce(0) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
    }

    package mutating func store(_ value: UInt64, at offset: Int, width: Int) {
        for index in 0..<width where offset + index < bytes.count {
            bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64(8 * index))
        }
        changedChunks.formUnion([offset / Self.chunkByteCount, (offset + width - 1) / Self.chunkByteCount])
    }

    package mutating func apply(_ mutation: PageMutation) { store(mutation.value, at: mutation.offset, width: mutation.width) }

    /// Returns the files of the store with these pages and matching checksums.
    package func files() throws -> [String: [UInt8]] {
        var root = record
        for chunk in changedChunks where chunk < root.chunks.count {
            let range = chunk * Self.chunkByteCount..<(chunk + 1) * Self.chunkByteCount
            root.chunks[chunk].checksum = CRC32C.checksum(Array(bytes[range]))
        }
        return try files(with: root)
    }

    /// Returns the files of the store with these pages and another checkpoint record.
    package func files(with root: CheckpointRecord) throws -> [String: [UInt8]] {
        let volume = MemoryVolume(contents: others.merging([path: bytes]) { $1 })
        var writer = try PageFileWriter(volume, root.pageFile, isNamed: true)
        defer { writer.close() }
        _ = try writer.finish(root)
        return volume.contents
    }
}
