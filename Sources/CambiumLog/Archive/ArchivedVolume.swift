public import CambiumModel

/// A store and its archive, read as the store was before anything of its log was retired. Nothing can be written through it.
public struct ArchivedVolume: Volume {
    private let store: any Volume
    private let archive: any Volume
    /// The files that the archive has in the place of the store's.
    private let paths: Set<String>

    public var name: String { store.name }

    /// Reads what the archive has of what was retired, and compares it with what the store has left of it.
    ///
    /// Throws `.notFound` where there is no store or no archive, or a segment is missing there; `.conflict` where the archive is another
    /// store's; `.damaged` where what it has is not what was retired. Complexity: O(bytes that were retired).
    public init(_ store: any Volume, archive: any Volume) throws {
        try self.init(store, SegmentArchive(reading: archive, of: StoreSettings.read(store).store))
    }

    /// Throws `.notFound` and `.damaged` as the other one.
    public init(_ store: any Volume, _ source: SegmentArchive) throws {
        let reader = try LogReader(store)
        let end = try reader.retiredEnd()
        let retired = try LogReader.segments(store, upTo: end)
        var paths = Set<String>()
        for (place, segment) in retired.enumerated() {
            let last = place + 1 < retired.count ? TransactionNumber(rawValue: retired[place + 1].rawValue - 1) : end
            paths.formUnion(try source.paths(inPlaceOf: segment, to: last, of: store))
        }
        (self.store, self.archive, self.paths) = (store, source.volume, paths)
    }

    public func open(_ path: String, _ mode: OpenMode) throws(CambiumError) -> any VolumeFile {
        guard mode == .read else { throw refusal }
        if paths.contains(path) { return try archive.open(path, .read) }
        let file = try store.open(path, .read)
        if path.hasPrefix(LogReader.directory + "/"), try Self.isRetired(file) {
            throw CambiumError(
                .ioFailure, "The store was compacted while it was read together with its archive; do it again.", place: .init(file: path))
        }
        return file
    }

    private static func isRetired(_ file: any VolumeFile) throws(CambiumError) -> Bool {
        let bytes = try file.read(at: 0, count: Format.Segment.headerByteCount)
        // A header that cannot be read is told by who reads the segment.
        return (try? SegmentHeader.decode(bytes, file: ""))?.header.kind == .retired
    }

    public func list(_ directory: String) throws(CambiumError) -> [String] {
        var names = Set(try store.list(directory))
        let prefix = directory + "/"
        names.formUnion(paths.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) })
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    public func exists(_ path: String) throws(CambiumError) -> Bool {
        if paths.contains(path) { return true }
        return try store.exists(path)
    }

    public func kind(of path: String) throws(CambiumError) -> FileKind? {
        try paths.contains(path) ? archive.kind(of: path) : store.kind(of: path)
    }

    public func share(_ path: String) throws(CambiumError) -> any VolumeLock { try store.share(path) }
    public func isShared(_ path: String) throws(CambiumError) -> Bool { try store.isShared(path) }
    public func openNameless() throws(CambiumError) -> (any VolumeFile)? { try store.openNameless() }
    public func roomByteCount(of path: String) throws(CambiumError) -> Int { try store.roomByteCount(of: path) }

    public func remove(_ path: String) throws(CambiumError) { throw refusal }
    public func rename(_ path: String, to newPath: String) throws(CambiumError) { throw refusal }
    public func createDirectory(_ path: String) throws(CambiumError) { throw refusal }
    public func syncDirectory(_ path: String) throws(CambiumError) { throw refusal }
    public func lock(_ path: String) throws(CambiumError) -> any VolumeLock { throw refusal }
    public func removeUnlessShared(_ path: String) throws(CambiumError) -> Bool { throw refusal }
    public func renameUnlessShared(_ path: String, to newPath: String) throws(CambiumError) -> Bool { throw refusal }

    private var refusal: CambiumError { CambiumError(.notWritable, "A store that is read with its archive cannot be written to.") }
}
