/// A tile of a Merkle tree: up to 256 neighboring hashes of a level that is a multiple of 8 (C2SP tlog-tiles).
package struct Tile: Hashable, Sendable {
    /// The content of tiles of one kind.
    package enum Kind: Hashable, Sendable {
        /// Hashes of complete subtrees of 256^level leaves.
        case hashes(level: Int)
        /// The contents of leaves, each after its length in 2 bytes.
        case entries
    }

    package let kind: Kind
    package let index: UInt64
    /// The number of hashes or leaves, 1 to 256.
    package let width: Int

    package static let widthMax = 256
    /// The largest number of bytes of an entry.
    package static let entryByteCountMax = 0xFFFF

    package init(_ kind: Kind, index: UInt64, width: Int = widthMax) { (self.kind, self.index, self.width) = (kind, index, width) }

    /// The path of the tile below the prefix of a log, such as `tile/0/x001/x234/067.p/5`.
    package var path: String {
        var text = Self.digits(index % 1000)
        var rest = index / 1000
        while rest > 0 {
            text = "x\(Self.digits(rest % 1000))/\(text)"
            rest /= 1000
        }
        let folder = if case .hashes(let level) = kind { String(level) } else { "entries" }
        return "tile/\(folder)/\(text)" + (width < Self.widthMax ? ".p/\(width)" : "")
    }

    private static func digits(_ number: UInt64) -> String {
        let text = String(number)
        return String(repeating: "0", count: 3 - text.count) + text
    }

    /// Returns the root of the hashes in a full tile.
    package static func root(of full: [UInt8]) -> TreeHash { completeRoot(full[...]) }

    /// Returns the number of hashes in a level of a tree.
    package static func count(level: Int, size: UInt64) -> UInt64 { 8 * level < 64 ? size >> UInt64(8 * level) : 0 }
}

/// A Merkle tree that is read from tiles.
///
/// The tiles are outside data. The caller compares the root with a root that it trusts.
package struct TileTree<E: Error> {
    package let size: UInt64
    private let read: (Tile) throws(E) -> [UInt8]
    private var tiles: [Tile: [UInt8]] = [:]

    /// - Parameter read: returns the bytes of a tile, 32 for each hash.
    package init(size: UInt64, _ read: @escaping (Tile) throws(E) -> [UInt8]) { (self.size, self.read) = (size, read) }

    /// Returns the bytes of the tile that contains a hash of a level.
    private mutating func bytes(level: Int, holding place: UInt64) throws(E) -> [UInt8] {
        let (index, count) = (place >> 8, Tile.count(level: level, size: size))
        let tile = Tile(.hashes(level: level), index: index, width: Int(min(count - index << 8, UInt64(Tile.widthMax))))
        if let bytes = tiles[tile] { return bytes }
        let bytes = try read(tile)
        precondition(bytes.count == tile.width * TreeHash.byteCount, "A tile has 32 bytes for each hash.")
        tiles[tile] = bytes
        return bytes
    }

    /// Returns the hash of a complete subtree. Complexity: O(1) tiles and at most 255 hashes.
    package mutating func hash(_ subtree: Subtree) throws(E) -> TreeHash {
        let (level, rest) = (subtree.level / 8, UInt64(subtree.level % 8))
        let place = subtree.index << rest
        let bytes = try bytes(level: level, holding: place)
        let first = Int(place & 255) * TreeHash.byteCount
        return Self.root(bytes[first..<first + TreeHash.byteCount << Int(rest)])
    }

    /// Returns the root of the tree of the first leaves. Requires at most as many as the tree has.
    package mutating func root(ofFirst count: UInt64) throws(E) -> TreeHash {
        try MerkleProof.root(0..<count) { subtree throws(E) in try hash(subtree) }
    }

    /// Returns the root of the whole tree.
    package mutating func root() throws(E) -> TreeHash {
        try root(ofFirst: size)
    }

    /// Makes the proof that a leaf is in the tree. Requires an index below the size.
    package mutating func inclusion(of index: UInt64) throws(E) -> InclusionProof {
        try .make(index: index, size: size) { subtree throws(E) in try hash(subtree) }
    }

    /// Makes the proof that the tree begins with the tree of `oldSize` leaves. Requires an old size of at most the size.
    package mutating func consistency(from oldSize: UInt64) throws(E) -> ConsistencyProof {
        try .make(oldSize: oldSize, size: size) { subtree throws(E) in try hash(subtree) }
    }

    /// Returns the root of a complete tree over hashes, 32 bytes for each.
    fileprivate static func root(_ hashes: ArraySlice<UInt8>) -> TreeHash { completeRoot(hashes) }
}

/// Returns the root of a complete tree over 2^n hashes, 32 bytes for each.
private func completeRoot(_ hashes: ArraySlice<UInt8>) -> TreeHash {
    var level = stride(from: hashes.startIndex, to: hashes.endIndex, by: TreeHash.byteCount).map {
        TreeHash(unchecked: hashes[$0..<$0 + TreeHash.byteCount])
    }
    while level.count > 1 { level = (0..<level.count / 2).map { .node(level[2 * $0], level[2 * $0 + 1]) } }
    return level[0]
}

/// Makes the tiles of a Merkle tree, leaf by leaf. It keeps the partial tiles in memory: at most 8 KiB for each level.
package struct TileBuilder {
    package private(set) var size: UInt64
    /// The hashes of the partial tile of each level.
    private var partial: [[UInt8]] = []

    package init() { size = 0 }

    /// Continues a tree of `size` leaves.
    ///
    /// - Parameter read: returns the bytes of a partial tile.
    package init<E: Error>(size: UInt64, _ read: (Tile) throws(E) -> [UInt8]) throws(E) {
        self.size = size
        var level = 0
        while Tile.count(level: level, size: size) > 0 {
            let count = Tile.count(level: level, size: size)
            let width = Int(count & 255)
            partial.append(width == 0 ? [] : try read(Tile(.hashes(level: level), index: count >> 8, width: width)))
            level += 1
        }
    }

    /// Appends a leaf.
    ///
    /// - Parameter write: receives each tile that is now full, the lowest level first.
    package mutating func append<E: Error>(_ leaf: TreeHash, _ write: (Tile, [UInt8]) throws(E) -> Void) throws(E) {
        var (hash, level) = (leaf.bytes, 0)
        size += 1
        while true {
            if partial.count == level { partial.append([]) }
            partial[level] += hash
            if partial[level].count < Tile.widthMax * TreeHash.byteCount { return }
            let full = partial[level]
            partial[level] = []
            try write(Tile(.hashes(level: level), index: Tile.count(level: level, size: size) >> 8 - 1), full)
            hash = completeRoot(full[...]).bytes
            level += 1
        }
    }

    /// Writes the partial tiles.
    package func finish<E: Error>(_ write: (Tile, [UInt8]) throws(E) -> Void) throws(E) {
        for (level, bytes) in partial.enumerated() where !bytes.isEmpty {
            let index = Tile.count(level: level, size: size) >> 8
            try write(Tile(.hashes(level: level), index: index, width: bytes.count / TreeHash.byteCount), bytes)
        }
    }
}
