import CambiumBytes
package import CambiumModel

/// A supplier of memory for chunks (64 KiB of pages) that cannot be mapped from their file, for example because the file contains them
/// compressed.
package protocol ChunkDestination: AnyObject, Sendable {
    /// Returns the address of 65,536 bytes of memory, which stays valid as long as this object exists. Only one thread at a time may call
    /// this method.
    func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer
}

/// The pages of a stored graph, as its checkpoint record describes them. Each chunk is compared with its checksum when a reader first
/// requests it.
///
/// SAFETY: the mapping, and the memory that a chunk was read into, stay valid as long as this object exists. While this object holds a
/// shared lock on the record, no process writes to chunks that the checkpoint owns.
///
/// SENDABLE: the record and the mapping do not change, and the chunks that were read are protected by a lock.
package final class PageFile: @unchecked Sendable {
    /// A file that a process creates when it finds a corrupt stored graph. While the file exists, each stored graph is checked completely
    /// before it is used.
    static let damageMark = CheckpointRecord.directory + "/DAMAGED"
    package static let chunkByteCount = 65_536

    package let root: CheckpointRecord
    /// Whether all chunks were compared with their checksums when this file was opened, because the graph is small or the caller requested
    /// the comparison.
    package let isCheckedCompletely: Bool
    let volume: any Volume
    let path: String
    private let share: any VolumeLock
    private let file: any VolumeFile
    private let mapping: FileMapping?
    private let readAhead = Guarded(ReadAhead())
    private let destination: (any ChunkDestination)?
    /// The memory of chunks that are compressed, or that lie in a file that cannot be mapped.
    private let read = Guarded<[Int: UnsafeMutableRawPointer]>([:])

    static let prefix = "pages-"

    /// Opens the stored graph of a transaction. Throws `.corrupted` if this program cannot read the stored graph, and `.notFound` if the
    /// stored graph no longer exists.
    ///
    /// - Parameters:
    ///   - checkedByteCountMax: if the graph has at most this number of bytes, all of its chunks are compared with their checksums
    ///     immediately.
    ///   - destination: the memory for chunks that are compressed or cannot be mapped; if it is `nil`, this object allocates that memory.
    package init(
        _ volume: any Volume, store: [UInt8], _ transaction: TransactionNumber, fanOutShift: Int,
        checkedByteCountMax: Int = LogTuning.standard.checkedByteCountMax, destination: (any ChunkDestination)? = nil
    ) throws(CambiumError) {
        let record = CheckpointRecord.path(transaction)
        self.volume = volume
        self.destination = destination
        let (share, recorded, file) = try Self.opened(volume, record, store: store)
        (self.share, self.file) = (share, file)
        path = Self.path(recorded.record.pageFile)
        guard recorded.record.transaction == transaction, Int(recorded.record.fanOutShift) == fanOutShift else {
            throw CambiumError.corruptCheckpoint(
                "The checkpoint does not match its file name, or its pages have a layout that this program does not use.", file: record)
        }
        root = try recorded.resolved { chunk, byteCount throws(CambiumError) in
            try file.read(at: chunk * Self.chunkByteCount, count: byteCount)
        }
        let end = (root.chunks.lastIndex { $0.isOwned } ?? -1) + 1
        guard try file.byteCount() >= end * Self.chunkByteCount else {
            throw CambiumError.corruptCheckpoint("The file ends before the last page of checkpoint \(transaction).", file: path)
        }
        mapping = end > 0 ? try file.map(byteCount: end * Self.chunkByteCount) : nil
        let chunkCount = root.chunks.count { $0.hasPages }
        isCheckedCompletely = chunkCount <= checkedByteCountMax / Self.chunkByteCount
        if isCheckedCompletely { try checkAll() }
    }

    deinit {
        if destination == nil { read.withLock { for pointer in $0.values { pointer.deallocate() } } }
        file.close()
    }

    /// Returns whether the pages of this checkpoint and of another checkpoint are in the same file. If so, a chunk of both checkpoints has
    /// the same bytes in both, because no process writes to a chunk that a graph maps.
    package func isSameFile(as other: PageFile) -> Bool {
        root.store == other.root.store && root.pageFile == other.root.pageFile && file.isSame(as: other.file)
    }

    /// Releases the shared lock on the record, so that the record can be removed. Only a writer of the store may call this method, because
    /// only a writer knows which chunks are in use.
    package func releaseShare() { share.unlock() }

    // MARK: Chunks

    /// Compares every chunk with its checksum. Throws `.corrupted` for the first chunk that differs from the stored bytes.
    package func checkAll() throws(CambiumError) {
        for chunk in root.chunks.indices where root.chunks[chunk].hasPages {
            if root.chunks[chunk].packedByteCount > 0 {
                try check(chunk, try unpacked(chunk))
            } else {
                try check(chunk, try address(chunk))
            }
        }
    }

    /// Returns the address of a chunk, after comparing its bytes with the checksum. If the bytes do not match the checksum, requests that
    /// all stored graphs are checked completely when the store is next opened. Then ends the process, as `CorruptPages` describes.
    package func chunk(_ index: Int) -> UnsafeMutableRawPointer {
        do throws(CambiumError) {
            guard index < root.chunks.count, root.chunks[index].hasPages else {
                throw flaw("a page refers to chunk \(index), which the checkpoint does not have")
            }
            beginReading(index)
            let base = try address(index)
            // A compressed chunk was checked when it was decompressed.
            if root.chunks[index].packedByteCount == 0 { try check(index, base) }
            return base
        } catch {
            end(error)
        }
    }

    private func check(_ index: Int, _ base: UnsafeMutableRawPointer) throws(CambiumError) {
        let bytes = UnsafeRawBufferPointer(start: base, count: Self.chunkByteCount)
        if CRC32C.checksum(bytes) != root.chunks[index].checksum { throw damage(index) }
    }

    private func check(_ index: Int, _ bytes: [UInt8]) throws(CambiumError) {
        if CRC32C.checksum(bytes) != root.chunks[index].checksum { throw damage(index) }
    }

    /// Returns the bytes of a compressed chunk, as they are in the file.
    func packed(_ index: Int) throws(CambiumError) -> [UInt8] {
        try file.read(at: index * Self.chunkByteCount, count: Int(root.chunks[index].packedByteCount))
    }

    private func unpacked(_ index: Int) throws(CambiumError) -> [UInt8] {
        let packed = try packed(index)
        guard let bytes = packed.withUnsafeBytes({ LZ4.decompress($0, byteCount: Self.chunkByteCount) }) else { throw damage(index) }
        return bytes
    }

    /// Asks the kernel to read a chunk. If callers touch chunks in ascending order, also requests the following chunks. Without this
    /// request, the kernel would also read the bytes around each touched page. A query that needs ten chunks could then wait for megabytes
    /// of the file.
    private func beginReading(_ index: Int) {
        guard let mapping, let chunks = readAhead.withLock({ $0.chunks(for: index) }) else { return }
        let end = min(chunks.upperBound, mapping.byteCount / Self.chunkByteCount)
        guard chunks.lowerBound < end else { return }
        if !root.isPacked {
            let (offset, byteCount) = (chunks.lowerBound * Self.chunkByteCount, (end - chunks.lowerBound) * Self.chunkByteCount)
            return mapping.beginReading(offset: offset, byteCount: byteCount)
        }
        for chunk in chunks.lowerBound..<end where root.chunks[chunk].hasPages {
            let packedByteCount = Int(root.chunks[chunk].packedByteCount)
            mapping.beginReading(
                offset: chunk * Self.chunkByteCount, byteCount: packedByteCount > 0 ? packedByteCount : Self.chunkByteCount)
        }
    }

    private func address(_ index: Int) throws(CambiumError) -> UnsafeMutableRawPointer {
        let isPacked = root.chunks[index].packedByteCount > 0
        if let mapping, !isPacked { return mapping.base + index * Self.chunkByteCount }
        return try read.withLock { read throws(CambiumError) in
            if let pointer = read[index] { return pointer }
            let bytes = isPacked ? try unpacked(index) : try file.read(at: index * Self.chunkByteCount, count: Self.chunkByteCount)
            if isPacked { try check(index, bytes) }
            let pointer = destination?.memory(ofChunk: index) ?? .allocate(byteCount: 3 * Self.chunkByteCount, alignment: 4096)
            // A page that was not proven to be valid may state a size that extends beyond the chunk. So the memory beyond the chunk must be
            // readable, too.
            pointer.initializeMemory(as: UInt8.self, repeating: 0, count: (destination == nil ? 3 : 1) * Self.chunkByteCount)
            bytes.withUnsafeBytes { pointer.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(pointer), byteCount: $0.count) }
            read[index] = pointer
            return pointer
        }
    }
}

/// A policy that chooses the chunks (64 KiB of pages) to request from the kernel when a caller touches one chunk. If callers touch chunks
/// in ascending order, the policy also chooses the chunks that follow.
private struct ReadAhead {
    private var next = 0
    /// The number of the chunk after the last one that was requested from the kernel.
    private var end = 0

    private static let chunkCount = 32

    /// Returns the chunks to request from the kernel, or `nil` if they have already been requested.
    mutating func chunks(for index: Int) -> Range<Int>? {
        let isInOrder = index == next
        next = index + 1
        if !isInOrder {
            end = next
            return index..<end
        }
        if index + Self.chunkCount / 2 < end { return nil }
        let start = max(index, end)
        end = index + Self.chunkCount
        return start..<end
    }
}

extension PageFile {
    /// Takes a shared lock on a record, decodes the record, and opens its file of pages.
    ///
    /// Throws `.notFound` if there is no record. Throws `.corrupted` if the record fails verification, or if its file of pages is missing.
    static func opened(
        _ volume: any Volume, _ record: String, store: [UInt8]
    ) throws(CambiumError) -> (share: any VolumeLock, recorded: RecordedCheckpoint, file: any VolumeFile) {
        while true {
            let (share, bytes) = try shared(volume, record)
            let recorded: RecordedCheckpoint
            do throws(DecodingError) {
                recorded = try RecordedCheckpoint(bytes, store: store)
            } catch {
                throw CambiumError.corruptCheckpoint("The checkpoint is corrupt (\(error)).", file: record)
            }
            let pages = path(recorded.record.pageFile)
            do throws(CambiumError) {
                return (share, recorded, try volume.open(pages, .read))
            } catch {
                guard error.code == .notFound else { throw error }
                // A writer may have dropped the record, or replaced it with a record that names another file. If the record is unchanged,
                // its file is lost.
                guard try Self.bytes(volume, record) == bytes else { continue }
                throw CambiumError.corruptCheckpoint("The file with the pages of checkpoint '\(record)' is missing.", file: pages)
            }
        }
    }

    /// Takes a shared lock on a record, and returns the bytes of the locked file. If a writer replaces the record before the lock is taken,
    /// the lock does not protect the chunks of the opened record. In that case, this function begins again.
    private static func shared(_ volume: any Volume, _ record: String) throws(CambiumError) -> (share: any VolumeLock, bytes: [UInt8]) {
        while true {
            let file = try volume.open(record, .read)
            defer { file.close() }
            let share = try volume.share(record)
            if try volume.names(record, file) { return (share, try bytes(of: file)) }
        }
    }
}
