package import CambiumModel

/// The touch index of a store: for each object, the transactions that changed it. See Docs/Formats/TOUCHES.md.
///
/// The parts of an index belong to the log: their heads and the tree of a checkpoint were compared.
package struct TouchIndex: Sendable {
    private let volume: any Volume
    /// The parts, in the order of their transactions. At least one.
    package let parts: [TouchPart]

    package var first: TransactionNumber { parts[0].first }
    package var last: TransactionNumber { parts[parts.count - 1].last }
    /// The transactions that changed the schema, in ascending order.
    package var schemas: [TransactionNumber] { parts.flatMap(\.schemas) }

    /// Reads the heads of the longest index that belongs to the log. Returns `nil` if there is no such index.
    ///
    /// Complexity: O(files + blocks).
    package static func read(_ reader: LogReader) throws(CambiumError) -> TouchIndex? {
        let (volume, store) = (reader.volume, reader.settings.store)
        let ranges = try Self.ranges(volume)
        for range in ranges {
            guard let newest = try TouchPart.read(volume, store: store, range),
                let tree = try Self.tree(volume, store: store, newest.last), newest.treeRoot == tree
            else { continue }
            var parts = [newest]
            while parts[0].previous != TouchPart.noHash, let before = try Self.part(before: parts[0], ranges, volume, store) {
                parts.insert(before, at: 0)
            }
            if parts[0].previous == TouchPart.noHash { return TouchIndex(volume: volume, parts: parts) }
        }
        return nil
    }

    private static func part(
        before part: TouchPart, _ ranges: [ClosedRange<TransactionNumber>], _ volume: any Volume, _ store: [UInt8]
    ) throws(CambiumError) -> TouchPart? {
        for range in ranges where range.upperBound.next == part.first {
            if let before = try TouchPart.read(volume, store: store, range), before.hash == part.previous { return before }
        }
        return nil
    }

    /// Returns the root of the Merkle tree over the log up to the transaction of a checkpoint; `nil` if there is no such checkpoint, or if
    /// it has no tree.
    package static func tree(_ volume: any Volume, store: [UInt8], _ number: TransactionNumber) throws(CambiumError) -> [UInt8]? {
        do throws(CambiumError) {
            guard let tree = try PageFile.tree(volume, store: store, number), tree.leafCount == number.rawValue else { return nil }
            return tree.root.bytes
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    /// Returns the transactions of all parts, the latest and longest part first. Ignores files that do not have the name of a part.
    private static func ranges(_ volume: any Volume) throws(CambiumError) -> [ClosedRange<TransactionNumber>] {
        try volume.list(TouchPart.directory).compactMap(TouchPart.range).sorted {
            ($1.upperBound, $0.lowerBound) < ($0.upperBound, $1.lowerBound)
        }
    }

    /// Returns the transactions that changed an object, in ascending order. Returns `nil` if a part is corrupt, or was merged with others.
    package func transactions(of id: ObjectID) throws(CambiumError) -> [TransactionNumber]? {
        var numbers: [TransactionNumber] = []
        for part in parts {
            guard let own = try part.transactions(of: id, volume) else { return nil }
            numbers += own
        }
        return numbers
    }

    /// Writes a part, makes it durable, and removes all other files of the index except `kept`.
    package static func replace(_ volume: any Volume, _ part: (path: String, bytes: [UInt8]), keeping kept: [TouchPart])
        throws(CambiumError)
    {
        try volume.createDirectory(TouchPart.directory)
        try volume.replace(part.path, part.bytes)
        try volume.syncDirectory(TouchPart.directory)
        let paths = Set(kept.map(\.path) + [part.path])
        for name in try volume.list(TouchPart.directory) where !paths.contains(TouchPart.directory + "/" + name) {
            // The directory may hold files of others, such as the notes of an administrator.
            let isOwn = TouchPart.range(name) != nil || name.hasSuffix(LogFileName.replacementSuffix)
            if isOwn { try volume.remove(TouchPart.directory + "/" + name) }
        }
    }

    /// Removes all files of the index.
    package static func remove(_ volume: any Volume) throws(CambiumError) {
        for name in try volume.list(TouchPart.directory) where TouchPart.range(name) != nil {
            try volume.remove(TouchPart.directory + "/" + name)
        }
    }
}
