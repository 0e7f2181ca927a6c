package import CambiumLog
import CambiumModel

/// Compaction.
extension Store {
    /// Retires the part of the log that a retention does not keep. A checkpoint replaces the retired transactions. Only the author, time
    /// and message of each retired transaction remain, and a hash of its ops. The changes of the retired transactions, and the graphs
    /// before the checkpoint, can no longer be shown. Writers continue at the same time.
    ///
    /// First packs the pages (moves rows together, so that pages become free) and makes a checkpoint, regardless of the retention. If the
    /// newest transaction already has a checkpoint, and packing has changed pages, the new checkpoint replaces the existing one. Packing
    /// and checkpoints commit no transaction.
    ///
    /// Nothing is retired before the checkpoint has been compared with a replay of the log. Throws `.notFound` if the moment of the
    /// retention does not exist, or is later than the newest transaction. Throws `.invalidInput` for an invalid retention. In these cases,
    /// nothing was written. Throws `.corrupted` if the comparison fails, `.ioFailure` if a disk operation fails, and `.misuse` inside the
    /// closure of a write. Complexity: O(bytes of the log + bytes of the graph).
    ///
    /// - Parameters:
    ///   - retention: The part of the log to keep.
    ///   - archive: The directory that receives copies of the segments (files of the log) before they are retired. The copies are durable
    ///     before a segment is retired. The directory does not exist yet, is empty, or contains retired segments of this store.
    ///     `Store.backUp` can combine the store and this directory into a store with the whole history. Throws `.conflict` if the directory
    ///     is the archive of another store. Throws `.cannotCreate` if the directory contains something else, or is in `log` or `roots` of
    ///     the store. Throws `.locked` if another process is adding to the directory. In these cases, nothing was retired. See
    ///     Docs/Operate/ARCHIVE.md.
    ///   - effect: `.preview` only reports which transactions could be retired with the existing checkpoints. It changes nothing.
    @discardableResult
    public func compact(_ retention: Retention, archive: String? = nil, effect: Compaction.Effect = .retire) throws -> Compaction {
        let isDryRun = effect == .preview
        guard let archive else { return try compact(retention, into: nil, isDryRun: isDryRun) }
        let volume = try Self.archiveVolume(archive, of: writer.volume)
        if isDryRun { return try compact(retention, into: volume, isDryRun: true) }
        return try volume.withDirectory { try compact(retention, into: volume, isDryRun: false) }
    }

    /// Reports what a compaction of the store at a path could retire, as `compact` does with the effect `.preview`. Takes no lock and
    /// writes nothing; another process may write to the store at the same time.
    ///
    /// Throws as `compact` does. Also throws `.notFound` if there is no store, and `.corrupted` if the log of the store is corrupt.
    package static func previewCompaction(of path: String, _ retention: Retention, archive: String? = nil) throws -> Compaction {
        let reader = try LogReader(SystemVolume(root: path))
        let newest = try EarlierView(reader, at: .latest, memory: .standard)
        let volume = try archive.map { try archiveVolume($0, of: reader.volume) }
        let anchor = try CompactionAnchor(retention, in: reader.volume, newest: (newest.graph.transaction, newest.time))
        let target = try volume.map { try SegmentArchive(adding: $0, of: reader.settings.store) }
        return try CompactionPreview(reader: reader, archive: target).compaction(upTo: anchor)
    }

    /// Returns the directory of an archive. Throws `.cannotCreate` if the path cannot name a directory, or if it leads into the log or the
    /// checkpoints of the store.
    private static func archiveVolume(_ path: String, of store: (any Volume)?) throws -> SystemVolume {
        // The path is absolute, because later processes name the archive in errors, and may have another working directory.
        let volume = SystemVolume(root: path.isEmpty ? "" : SystemVolume.absolute(path))
        try volume.checkIsPlace()
        // Verification would report an archive in these directories as a foreign file of the store.
        if let store = store as? SystemVolume {
            for directory in [LogDirectory.name, CheckpointRecord.directory] {
                try volume.checkIsOutside(of: SystemVolume(root: "\(store.root)/\(directory)"))
            }
        }
        return volume
    }

    package func compact(_ retention: Retention, into archive: (any Volume)?, isDryRun: Bool) throws -> Compaction {
        try writer.checkOutsideOfWrites("compact")
        guard let checkpoints, let past, let sealing = commits.sealing else {
            throw CambiumError(.invalidInput, "A store in memory has no log to compact. Use a store on disk.")
        }
        return try Compactor(scheduler: checkpoints, upkeep: upkeep, sealing: sealing, past: past)
            .compact(retention, archive: archive, isDryRun: isDryRun)
    }
}
