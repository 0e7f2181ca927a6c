import CambiumBytes
package import CambiumModel

/// A writer that stores graphs: it writes chunks (64 KiB of pages) to a file of pages, and writes the checkpoint records that refer to
/// them.
package struct PageFileWriter {
    private let volume: any Volume
    private let file: any VolumeFile
    /// The number of bytes that this writer has written to the file of pages and to records.
    package private(set) var byteCount = 0
    /// Whether `finish` failed although the record on the disk refers, or may refer, to the written chunks.
    package private(set) var mayBeNamed = false
    /// The error if syncing the file of pages failed; otherwise `nil`.
    package private(set) var syncFailure: CambiumError?

    /// The maximum number of neighboring chunks that are written together: 32 chunks of 64 KiB, the size of one huge page. Some kernels
    /// choose the size of a cached page by the offset and the length of a write. Such a kernel can cache these chunks in one huge page.
    private static let runCountMax = 32

    /// Opens the file of pages. Creates the file and the directory of checkpoint records if they do not exist.
    ///
    /// - Parameter isNamed: whether a checkpoint record refers to the file. If so, the directory entry of the file is already durable.
    package init(_ volume: any Volume, _ pageFile: UInt64, isNamed: Bool) throws(CambiumError) {
        self.volume = volume
        try volume.createDirectory(CheckpointRecord.directory)
        file = try volume.openOrCreate(PageFile.path(pageFile))
        if !isNamed { try volume.syncDirectory("") }
    }

    package func close() { file.close() }

    /// The way in which the writer stores a chunk in the file of pages.
    package enum Storing: Sendable {
        /// Nothing is written: the memory of the chunk is mapped from the file, so the file already contains the chunk.
        case none
        case asItIs
        /// The chunk is stored compressed if it then takes at most 48 KiB.
        case packed
    }

    /// The checksum of a chunk's bytes before compression, and the length of the compressed chunk. The length is 0 for a chunk that is not
    /// stored compressed.
    package typealias StoredChunk = (checksum: UInt32, packedByteCount: UInt16)

    /// Writes chunks. The caller must ensure that no checkpoint uses any of these chunks.
    ///
    /// - Parameters:
    ///   - chunks: the numbers of the chunks, in ascending order.
    ///   - withBytes: calls its closure with the bytes of a chunk.
    package mutating func write(
        _ chunks: [Int], _ storing: (_ chunk: Int) -> Storing = { _ in .asItIs },
        withBytes: (_ chunk: Int, _ body: (UnsafeRawBufferPointer) -> Void) -> Void
    ) throws(CambiumError) -> [StoredChunk] {
        var stored: [StoredChunk] = []
        var run: (first: Int, bytes: [UInt8]) = (0, [])
        for chunk in chunks {
            if chunk != run.first + run.bytes.count / PageFile.chunkByteCount || chunk % Self.runCountMax == 0 {
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

    private static func pack(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
        LZ4.compress(bytes).flatMap { $0.count <= Format.Root.packedByteCountMax ? $0 : nil }
    }

    private mutating func write(_ run: inout (first: Int, bytes: [UInt8])) throws(CambiumError) {
        if run.bytes.isEmpty { return }
        try file.write(run.bytes, at: run.first * PageFile.chunkByteCount)
        byteCount += run.bytes.count
        run.bytes.removeAll(keepingCapacity: true)
    }

    /// Writes a compressed chunk, or a part of the table of a checkpoint. The rest of the chunk in the file takes no disk space.
    mutating func write(_ packed: [UInt8], as chunk: Int) throws(CambiumError) {
        let offset = chunk * PageFile.chunkByteCount
        if !packed.isEmpty { try file.write(packed, at: offset) }
        // A file of pages must end at the end of a chunk. The writer writes the last byte of its chunk instead of setting the length.
        // Another thread may map later chunks at the same time, and setting the length could cut off these chunks.
        let last = offset + PageFile.chunkByteCount - 1
        if try file.byteCount() <= last { try file.write([0], at: last) }
        let end = (packed.count + Self.blockByteCount - 1) / Self.blockByteCount * Self.blockByteCount
        if end < PageFile.chunkByteCount { try file.discard(offset: offset + end, byteCount: PageFile.chunkByteCount - end) }
        byteCount += packed.count
    }

    /// Releases the disk space of chunks that were written for a checkpoint that failed. The caller must ensure that no checkpoint and no
    /// memory uses the chunks.
    package func discard(_ chunks: [Int]) {
        // If the file system cannot release the space, the file keeps it until the chunks are written again.
        for chunk in chunks { try? file.discard(offset: chunk * PageFile.chunkByteCount, byteCount: PageFile.chunkByteCount) }
    }

    /// The unit in which the disk allocates space.
    private static let blockByteCount = 4096

    /// Writes the table of a checkpoint if it does not fit into the record, and makes everything that was written durable. Then writes the
    /// record, which replaces an existing record of the same transaction.
    ///
    /// - Parameter tuning: determines how the table is stored.
    /// - Returns: the number of bytes of the record; `nil` if the existing record of the transaction stays. The existing record stays if it
    ///   refers to the same file as the new record, and if a reader has a shared lock on it.
    package mutating func finish(_ root: CheckpointRecord, tuning: LogTuning = .standard) throws(CambiumError) -> Int? {
        let encoded = root.encode(partByteCountMax: tuning.tablePartByteCountMax)
        for part in encoded.parts { try write(part.bytes, as: part.chunk) }
        do throws(CambiumError) { try file.sync() } catch {
            syncFailure = error
            throw error
        }
        let path = CheckpointRecord.path(root.transaction)
        do throws(CambiumError) {
            // If the existing record refers to another file of pages, its readers use no chunk of this writer's file. So the writer can
            // replace the record, even if another volume has a hard link to the record.
            if try volume.exists(path), try isOfSameFile(path, as: root) {
                guard try volume.replaceUnlessShared(path, encoded.record) else { return nil }
            } else {
                try volume.replace(path, encoded.record)
            }
            try volume.syncDirectory(CheckpointRecord.directory)
        } catch {
            mayBeNamed = mayBe(encoded.record, at: path)
            throw error
        }
        byteCount += encoded.record.count
        return encoded.record.count
    }

    /// Whether the file at a path may have the content `record`. Returns `true` if the file cannot be read.
    private func mayBe(_ record: [UInt8], at path: String) -> Bool {
        do throws(CambiumError) { return try PageFile.bytes(volume, path) == record } catch { return error.code != .notFound }
    }

    private func isOfSameFile(_ path: String, as root: CheckpointRecord) throws(CambiumError) -> Bool {
        let bytes = try PageFile.bytes(volume, path)
        return try PageFile.recorded(bytes, store: root.store)?.record.pageFile == root.pageFile
    }

    // MARK: Dropping

    /// Removes the incomplete new versions of checkpoint records, of the settings and of the archive note. An interrupted writer may have
    /// left them. The caller must ensure that no process is writing these files.
    ///
    /// Also removes the incomplete new version of `PageFile.damageMark`. If a reader is writing this version, the mark stays missing until
    /// the next reader of the corrupt chunk creates the mark.
    package static func removeInterrupted(_ volume: any Volume) throws(CambiumError) {
        let suffix = LogFileName.replacementSuffix
        for name in try volume.list(CheckpointRecord.directory)
        where name.hasSuffix(suffix) && CheckpointRecord.isName(String(name.dropLast(suffix.utf8.count))) {
            try volume.remove(CheckpointRecord.directory + "/" + name)
        }
        for path in [StoreFileName.settings, ArchiveNote.fileName].map({ $0 + LogFileName.replacementSuffix }) {
            if try volume.kind(of: path) == .regularFile { try volume.remove(path) }
        }
        let mark = PageFile.damageMark + LogFileName.replacementSuffix
        guard try volume.kind(of: mark) == .regularFile else { return }
        do throws(CambiumError) {
            try volume.remove(mark)
        } catch {
            // In the meantime, the reader may have completed the file and renamed it.
            guard error.code == .notFound else { throw error }
        }
    }

    /// Removes the files of pages to which no checkpoint record refers. A process that has mapped such a file can still use it.
    package static func removeFiles(_ volume: any Volume, except named: Set<UInt64>) throws(CambiumError) {
        let paths = Set(named.map(PageFile.path))
        for name in try volume.list("") where PageFile.isName(name) && !paths.contains(name) { try volume.remove(name) }
    }
}
