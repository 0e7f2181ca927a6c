import CambiumBytes
public import CambiumModel

/// Stores graphs: writes chunks into a file of pages, and the roots that name them.
public struct PageFileWriter {
    private let volume: any Volume
    private let file: any VolumeFile
    /// Bytes that were written.
    public private(set) var byteCount = 0

    /// Chunks that are neighbours in the file are written together, up to so many.
    private static let runCountMax = 16

    /// The directory of roots and the file of pages are made where they are not there yet.
    ///
    /// - Parameter isNamed: whether a root names the file, so that its own name is durable.
    public init(_ volume: any Volume, _ pageFile: UInt64, isNamed: Bool) throws(CambiumError) {
        self.volume = volume
        try volume.createDirectory(RootRecord.directory)
        let path = PageFile.path(pageFile)
        file = try volume.open(path, try volume.exists(path) ? .update : .create)
        if !isNamed { try volume.syncDirectory("") }
    }

    public func close() { file.close() }

    /// How a chunk gets into the file.
    public enum Storing: Sendable {
        /// Its memory is the file's, so it is there.
        case none
        case asItIs
        /// Where it gets smaller by it.
        case packed
    }

    /// What is known of a chunk in the file.
    public typealias StoredChunk = (checksum: UInt32, packedByteCount: UInt16)

    /// Writes chunks, which nothing that is stored may have.
    ///
    /// - Parameters:
    ///   - chunks: ascending.
    ///   - withBytes: calls its closure with the bytes of a chunk.
    public mutating func write(
        _ chunks: [Int], _ storing: (_ chunk: Int) -> Storing = { _ in .asItIs },
        withBytes: (_ chunk: Int, _ body: (UnsafeRawBufferPointer) -> Void) -> Void
    ) throws(CambiumError) -> [StoredChunk] {
        var stored: [StoredChunk] = []
        var run: (first: Int, bytes: [UInt8]) = (0, [])
        for chunk in chunks {
            if chunk != run.first + run.bytes.count / PageFile.chunkByteCount || run.bytes.count == Self.runByteCountMax {
                try write(&run)
                run.first = chunk
            }
            let storing = storing(chunk)
            var packed: [UInt8]?
            withBytes(chunk) { bytes in
                if case .packed = storing { packed = Self.pack(bytes) }
                if case .none = storing {} else if packed == nil { run.bytes += bytes }
                stored.append((CRC32C.checksum(bytes), UInt16(packed?.count ?? 0)))
            }
            if let packed {
                try write(&run)
                try write(packed, as: chunk)
            }
        }
        try write(&run)
        return stored
    }

    private static let runByteCountMax = runCountMax * PageFile.chunkByteCount

    private static func pack(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        LZ4.compress(bytes).flatMap { $0.count <= Format.Root.packedByteCountMax ? $0 : nil }
    }

    private mutating func write(_ run: inout (first: Int, bytes: [UInt8])) throws(CambiumError) {
        if run.bytes.isEmpty { return }
        try file.write(run.bytes, at: run.first * PageFile.chunkByteCount)
        byteCount += run.bytes.count
        run.bytes.removeAll(keepingCapacity: true)
    }

    /// Writes a chunk that is compressed, or has a part of a table. What its place has beyond that takes no room on disk.
    mutating func write(_ packed: [UInt8], as chunk: Int) throws(CambiumError) {
        let offset = chunk * PageFile.chunkByteCount
        if !packed.isEmpty { try file.write(packed, at: offset) }
        let end = (packed.count + Self.blockByteCount - 1) / Self.blockByteCount * Self.blockByteCount
        if end < PageFile.chunkByteCount { try file.discard(offset: offset + end, byteCount: PageFile.chunkByteCount - end) }
        // A file has whole chunks.
        if try file.byteCount() < offset + PageFile.chunkByteCount { try file.truncate(to: offset + PageFile.chunkByteCount) }
        byteCount += packed.count
    }

    /// In which the disk gives room.
    private static let blockByteCount = 4096

    /// Writes the root's table if its record has no room for it, makes what was written durable, and then the root, in the place of the
    /// one that the transaction has, if there is one.
    ///
    /// - Parameter tuning: how the table is stored.
    /// - Returns: the bytes of the root's record; nil where the transaction has a root that somebody reads, which stays then.
    public mutating func finish(_ root: RootRecord, tuning: LogTuning = .standard) throws(CambiumError) -> Int? {
        let encoded = root.encode(partByteCountMax: tuning.tablePartByteCountMax)
        for part in encoded.parts { try write(part.bytes, as: part.chunk) }
        try file.sync()
        let path = RootRecord.path(root.transaction)
        // In another file it leaves alone what is read.
        if try volume.exists(path), try isOfSameFile(path, as: root) {
            guard try volume.replaceUnlessShared(path, encoded.record) else { return nil }
        } else {
            try volume.replace(path, encoded.record)
        }
        try volume.syncDirectory(RootRecord.directory)
        byteCount += encoded.record.count
        return encoded.record.count
    }

    private func isOfSameFile(_ path: String, as root: RootRecord) throws(CambiumError) -> Bool {
        let bytes = try PageFile.bytes(volume, path)
        return try PageFile.recorded(bytes, store: root.store)?.record.pageFile == root.pageFile
    }

    // MARK: Dropping

    /// Removes the records, settings and notes whose writing was interrupted. Only while none is being written.
    public static func removeInterrupted(_ volume: any Volume) throws(CambiumError) {
        for name in try volume.list(RootRecord.directory) where name.hasSuffix(RootRecord.suffix + LogFileName.replacementSuffix) {
            try volume.remove(RootRecord.directory + "/" + name)
        }
        for path in [StoreSettings.fileName, ArchiveNote.fileName].map({ $0 + LogFileName.replacementSuffix }) {
            if try volume.kind(of: path) == .regularFile { try volume.remove(path) }
        }
    }

    /// Removes the files of pages that no root names; who has one mapped keeps it.
    public static func removeFiles(_ volume: any Volume, except named: Set<UInt64>) throws(CambiumError) {
        let paths = Set(named.map(PageFile.path))
        for name in try volume.list("") where PageFile.isName(name) && !paths.contains(name) { try volume.remove(name) }
    }
}
