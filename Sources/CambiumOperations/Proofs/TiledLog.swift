internal import CambiumLog
import CambiumModel
internal import CambiumProofs

/// The Merkle tree over the log of a store, up to a transaction, which is read from tiles.
struct TiledLog {
    let size: UInt64
    let root: TreeHash
    private var tree: TileTree<CambiumError>

    /// Reads the tree over the log, and writes the tiles that are missing.
    ///
    /// Throws `.corrupted` if the log is corrupt, or contradicts the tree of a checkpoint or of HEAD. Throws `.notFound` if it has fewer
    /// than `size` transactions, and `.conflict` if published tiles belong to another log. Complexity: O(bytes of the log from the joint
    /// before the first transaction that is in no full tile).
    ///
    /// - Parameters:
    ///   - size: the number of transactions; `nil` for all that are durable.
    ///   - commitments: the commitments to payloads that were already computed.
    init(
        _ reader: LogReader, _ files: TileFiles, size: UInt64? = nil, commitments: [TransactionNumber: [UInt8]] = [:]
    ) throws {
        let fullCount = try files.fullCount()
        let known = size.map { min(fullCount, $0 >> 8) } ?? fullCount
        do {
            try self.init(reader, files, after: known << 8, upTo: size, commitments)
            try check(reader, files)
        } catch let error as CambiumError where known > 0 && [.corrupted, .conflict, .notFound].contains(error.code) && !files.hasEntries {
            // The cache may be of another log that had the same directory, or be corrupt.
            try self.init(reader, files, after: 0, upTo: size, commitments)
            try check(reader, files)
        }
    }

    private init(
        _ reader: LogReader, _ files: TileFiles, after start: UInt64, upTo last: UInt64?, _ commitments: [TransactionNumber: [UInt8]]
    ) throws {
        var builder = try TileBuilder(size: start) { tile throws(CambiumError) in try Self.partial(tile, files, reader) }
        var entries: [UInt8] = []
        let first = TransactionNumber(rawValue: start + 1)
        func add(_ record: LogRecord, _ content: [UInt8]) throws {
            if files.hasEntries {
                entries += [UInt8(content.count >> 8), UInt8(content.count & 0xFF)]
                entries += content
                if record.number.rawValue % UInt64(Tile.widthMax) == 0 {
                    try files.write(Tile(.entries, index: record.number.rawValue >> 8 - 1), entries)
                    entries = []
                }
            }
            try builder.append(.leaf(content)) { try files.write($0, $1) }
        }
        if last.map({ $0 > start }) ?? true {
            var place: SegmentPlace?
            let through = last.map { TransactionNumber(rawValue: $0) }
            _ = try reader.scanAhead(
                from: first, through: through, after: nil, at: &place, preparing: commitments.isEmpty ? .leafContents : []
            ) { batch in
                for (place, record) in batch.records.enumerated() where record.number >= first {
                    if commitments.isEmpty {
                        try add(record, batch.leafContents[place])
                    } else {
                        try add(record, record.envelope + (commitments[record.number] ?? record.commitment()))
                    }
                }
            }
        }
        let size = builder.size
        guard size > 0 else { throw LogReader.withoutTransaction(reader.volume) }
        if let last, size != last {
            throw CambiumError(.notFound, "The log has \(size) transactions, not \(last). Check whether this is the right store.")
        }
        let bundle = Tile(.entries, index: size >> 8, width: Int(size & 255))
        if !entries.isEmpty, try !files.has(bundle, entries) { try files.write(bundle, entries) }
        var partial: [Tile: [UInt8]] = [:]
        builder.finish { partial[$0] = $1 }
        for (tile, bytes) in partial where files.hasEntries || tile.kind != .hashes(level: 0) {
            if try !files.has(tile, bytes) { try files.write(tile, bytes) }
        }
        let rest = partial
        tree = TileTree(size: size) { tile throws(CambiumError) in
            if let bytes = rest[tile] { return bytes }
            return try Self.full(tile, files, reader)
        }
        self.size = size
        root = try tree.root()
    }

    /// Returns a partial tile: the one that was written, or the roots of the full tiles below it.
    private static func partial(_ tile: Tile, _ files: TileFiles, _ reader: LogReader) throws(CambiumError) -> [UInt8] {
        if let bytes = try files.bytes(tile) { return bytes }
        guard case .hashes(let level) = tile.kind, level > 0 else {
            preconditionFailure("A tree of full tiles has no partial tile of leaves.")
        }
        var bytes: [UInt8] = []
        for index in 0..<UInt64(tile.width) {
            let below = Tile(.hashes(level: level - 1), index: tile.index << 8 + index)
            bytes += Tile.root(of: try full(below, files, reader)).bytes
        }
        return bytes
    }

    /// Returns a full tile. If the cache lacks it, makes it again: from the tiles below it, or from the log.
    private static func full(_ tile: Tile, _ files: TileFiles, _ reader: LogReader) throws(CambiumError) -> [UInt8] {
        if let bytes = try files.bytes(tile) { return bytes }
        guard case .hashes(let level) = tile.kind, tile.width == Tile.widthMax, !files.hasEntries else {
            throw CambiumError(
                .corrupted, "The file \(tile.path) of the tree is missing or corrupt. Remove the tiles, and write them again.")
        }
        var bytes: [UInt8] = []
        if level == 0 {
            bytes = try leaves(from: tile.index << 8 + 1, reader)
        } else {
            for index in 0..<UInt64(Tile.widthMax) {
                bytes += Tile.root(of: try full(Tile(.hashes(level: level - 1), index: tile.index << 8 + index), files, reader)).bytes
            }
        }
        try files.write(tile, bytes)
        return bytes
    }

    /// Returns the hashes of as many transactions as a full tile has.
    private static func leaves(from number: UInt64, _ reader: LogReader) throws(CambiumError) -> [UInt8] {
        let (first, last) = (TransactionNumber(rawValue: number), TransactionNumber(rawValue: number + UInt64(Tile.widthMax) - 1))
        var bytes: [UInt8] = []
        do {
            var place: SegmentPlace?
            _ = try reader.scanAhead(from: first, through: last, after: nil, at: &place, preparing: .leafContents) { batch in
                for (place, record) in batch.records.enumerated() where (first...last).contains(record.number) {
                    bytes += TreeHash.leaf(batch.leafContents[place]).bytes
                }
            }
        } catch {
            throw error as? CambiumError ?? CambiumError(.ioFailure, "The log cannot be read.", underlying: error)
        }
        guard bytes.count == Tile.widthMax * TreeHash.byteCount else { throw LogReader.withoutTransaction(reader.volume) }
        return bytes
    }

    /// Returns the error for a folder that has the tiles of another log.
    static func otherLog(_ files: TileFiles) -> CambiumError {
        CambiumError(.conflict, "The folder '\(files.name)' has the tiles of another log. Write the tiles to an empty folder.")
    }

    /// Compares the tree with those of HEAD and of the newest checkpoint.
    private mutating func check(_ reader: LogReader, _ files: TileFiles) throws(CambiumError) {
        var known: [(size: UInt64, root: [UInt8])] = []
        if let head = reader.headTree { known.append((head.transaction.rawValue, head.root)) }
        if let newest = try CheckpointRecord.list(reader.volume).first(where: { $0.rawValue <= size }),
            let tree = try PageFile.tree(reader.volume, store: reader.settings.store, newest)
        {
            known.append((tree.leafCount, tree.root.bytes))
        }
        for (size, root) in known where size <= self.size {
            if try tree.root(ofFirst: size).bytes == root { continue }
            // The log was compared with its trees before tiles are published, so tiles that differ are of another log.
            if files.hasEntries { throw Self.otherLog(files) }
            throw CambiumError(
                .corrupted, "One of the transactions 1 to \(size) has changed, or the tiles belong to another log. Run 'cambium verify'.")
        }
    }

    /// Makes the proof that a leaf is in the tree. Requires an index below the size.
    mutating func inclusion(of index: UInt64) throws(CambiumError) -> InclusionProof { try tree.inclusion(of: index) }

    /// Makes the proof that the tree begins with the tree of `oldSize` leaves. Requires an old size of at most the size.
    mutating func consistency(from oldSize: UInt64) throws(CambiumError) -> ConsistencyProof { try tree.consistency(from: oldSize) }

    /// Returns the root of the tree of the first transactions. Throws `.notFound` if the log has fewer.
    mutating func root(ofFirst count: UInt64) throws(CambiumError) -> TreeHash {
        guard count <= size else {
            throw CambiumError(.notFound, "The log has \(size) transactions, not \(count). Check whether this is the right store.")
        }
        return try tree.root(ofFirst: count)
    }
}
