internal import CambiumBytes
internal import CambiumLog
import CambiumModel
internal import CambiumProofs

/// The tiles of a tree as files of a directory, in the layout of C2SP tlog-tiles.
///
/// A tile that is missing, or that fails its checksum, counts as not written.
final class TileFiles {
    /// The use of the files.
    enum Use {
        /// A cache in the directory of a store. Each file ends with a checksum. If the directory cannot be written, the tiles are kept in
        /// memory.
        case cache
        /// Files for a web server, with the entries. A failure to write them is an error.
        case published
    }

    private let volume: any Volume
    private let use: Use
    /// The tiles that could not be written to the cache.
    private var unwritten: [Tile: [UInt8]] = [:]
    private var directories: Set<String> = []
    /// The number of files that were written.
    private(set) var writtenCount = 0

    /// The directory of the cache in a store.
    static let cacheFolder = "tree"

    init(_ volume: any Volume, _ use: Use) { (self.volume, self.use) = (volume, use) }

    var name: String { volume.name }

    var hasEntries: Bool { use == .published }

    private func path(_ tile: Tile) -> String { use == .cache ? Self.cacheFolder + tile.path.dropFirst(4) : tile.path }

    /// Returns the bytes of a tile of hashes, or `nil` if it was not written.
    func bytes(_ tile: Tile) throws(CambiumError) -> [UInt8]? { try bytes(tile, count: tile.width * TreeHash.byteCount) }

    /// Returns whether a tile was written with these bytes.
    func has(_ tile: Tile, _ bytes: [UInt8]) throws(CambiumError) -> Bool { try self.bytes(tile, count: bytes.count) == bytes }

    private func bytes(_ tile: Tile, count wanted: Int) throws(CambiumError) -> [UInt8]? {
        if let bytes = unwritten[tile] { return bytes }
        let path = path(tile)
        guard try volume.kind(of: path) == .regularFile else { return nil }
        let file = try volume.open(path, .read)
        defer { file.close() }
        var bytes = try file.read(at: 0, count: wanted + 5)
        if use == .cache {
            guard bytes.count == wanted + 4 else { return nil }
            let checksum = bytes[wanted...].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            bytes.removeLast(4)
            guard bytes.withUnsafeBytes({ CRC32C.checksum($0) }) == checksum else { return nil }
        }
        return bytes.count == wanted ? bytes : nil
    }

    /// Returns the number of leading tiles of level 0 that are full and written. Complexity: O(log tiles) files.
    func fullCount() throws(CambiumError) -> UInt64 {
        func isWritten(_ index: UInt64) throws(CambiumError) -> Bool { try volume.exists(path(Tile(.hashes(level: 0), index: index))) }
        var (low, high) = (UInt64(0), UInt64(1))
        while try isWritten(high - 1) { (low, high) = (high, high * 2) }
        return try (low..<high).prefixEnd(while: isWritten)
    }

    /// Writes a file. A file of this name that exists has the same content, unless it is of another log.
    func write(_ tile: Tile, _ bytes: [UInt8]) throws(CambiumError) {
        switch use {
        case .published: try put(bytes, path(tile))
        case .cache:
            let checksum = bytes.withUnsafeBytes { CRC32C.checksum($0) }
            let end = (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * UInt32($0))) }
            do throws(CambiumError) {
                try put(bytes + end, path(tile))
            } catch {
                // The directory may be read-only. The cache only saves time.
                unwritten[tile] = bytes
            }
        }
    }

    /// Returns the tree of the published checkpoint; `nil` if there is no checkpoint that can be read.
    func checkpointHead() throws(CambiumError) -> TreeHead? {
        guard try volume.kind(of: "checkpoint") == .regularFile else { return nil }
        let file = try volume.open("checkpoint", .read)
        defer { file.close() }
        let bytes = try file.read(at: 0, count: SignedNote.byteCountMax)
        do throws(CambiumError) {
            return try TreeHead(SignedNote(parsing: bytes))
        } catch {
            return nil  // The caller replaces such a file.
        }
    }

    /// Writes a file that replaces the one before.
    func put(_ bytes: [UInt8], _ path: String) throws(CambiumError) {
        if let slash = path.lastIndex(of: "/"), directories.insert(String(path[..<slash])).inserted {
            try volume.createDirectory(String(path[..<slash]))
        }
        // Another process may write the same file at the same time.
        let newPath = "\(path).\(UInt32.random(in: 0...UInt32.max)).new"
        do throws(CambiumError) {
            let file = try volume.open(newPath, .create)
            defer { file.close() }
            try file.write(bytes, at: 0)
            file.beginSync(at: 0, count: bytes.count)
        } catch {
            try? volume.remove(newPath)  // The first error is the one to report.
            throw error
        }
        try volume.rename(newPath, to: path)
        writtenCount += 1
    }
}
