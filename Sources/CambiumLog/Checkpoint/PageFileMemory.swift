import CambiumBytes
internal import CambiumModel

/// Memory that is mapped from a file of pages. The kernel writes the bytes to the file, and evicts them from memory when the memory is
/// needed elsewhere.
///
/// One range of addresses is reserved for the file: its window, in which chunk `c` lies at `c` x 65,536. So the number of mappings does not
/// grow with the number of chunks in use.
///
/// SAFETY: the file has disk space for a chunk before any caller gets the chunk's address. Without disk space, the kernel would end a
/// process that writes to the mapping. The window stays mapped as long as this object exists.
///
/// SENDABLE: only one thread at a time uses this object.
package final class PageFileMemory: @unchecked Sendable {
    private let volume: any Volume
    /// The number in the name of the file of pages; `nil` for a file without a name, which disappears with the process.
    private let pageFile: UInt64?
    /// The lock of the store; `nil` for a file without a name, and while the store is being opened.
    package var lock: (any VolumeLock)?
    private var file: (any VolumeFile)?
    private var window: FileMapping?
    private var isWindowRefused = false
    /// The chunks that got disk space when the file of pages last grew.
    private var ahead = 0..<0
    /// Chunks before this number get their disk space one by one. Later chunks are new, and get disk space in advance.
    private var aheadEnd: Int

    /// The maximum number of new chunks that get disk space together when the file grows: 8 MiB. A small file grows to at most twice its
    /// size at once.
    private static let aheadCountMax = 128

    /// - Parameters:
    ///   - pageFile: the number of the file in which checkpoints are stored; `nil` for pages that are never stored.
    ///   - chunkCount: the number of chunks in the file. Disk space for these chunks is allocated one by one.
    package init(_ volume: any Volume, _ pageFile: UInt64?, chunkCount: Int = 0) {
        self.volume = volume
        self.pageFile = pageFile
        aheadEnd = chunkCount
    }

    deinit { file?.close() }

    /// Returns the memory of a chunk, or `nil` if the disk is full, or if the file cannot be mapped up to this chunk.
    package func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer? {
        guard let window = openedWindow(), (chunk + 1) * PageFile.chunkByteCount <= window.byteCount else { return nil }
        if !ahead.contains(chunk), !takeSpace(from: chunk) { return nil }
        return window.base + chunk * PageFile.chunkByteCount
    }

    /// Preallocates disk space for a chunk. If the chunk is new, also preallocates space for the following chunks. Returns `false` on
    /// failure.
    private func takeSpace(from chunk: Int) -> Bool {
        if chunk < aheadEnd { return takeSpace(chunk..<chunk + 1) }
        let chunks = chunk..<chunk + max(1, min(chunk, Self.aheadCountMax))
        guard takeSpace(chunks) else { return takeSpace(chunk..<chunk + 1) }
        (ahead, aheadEnd) = (chunks, chunks.upperBound)
        return true
    }

    private func takeSpace(_ chunks: Range<Int>) -> Bool {
        do throws(CambiumError) {
            guard let file = try opened() else { return false }
            try file.preallocate(offset: chunks.lowerBound * PageFile.chunkByteCount, byteCount: chunks.count * PageFile.chunkByteCount)
            return true
        } catch {
            return false  // The caller then uses memory that does not belong to the file.
        }
    }

    /// Replaces the memory at `base` with a mapping of a chunk of the file. Returns `false` if the disk is full or the mapping fails. In
    /// that case the memory stays unchanged.
    package func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool {
        takeSpace(chunk..<chunk + 1) && replace(base, chunks: chunk..<chunk + 1)
    }

    /// Replaces the memory at `base` with a mapping of chunks of the file. Returns `false` if the mapping fails. In that case the memory
    /// stays unchanged.
    package func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool {
        guard let file = try? opened() else { return false }  // The memory stays unchanged.
        return file.replace(base, offset: chunks.lowerBound * PageFile.chunkByteCount, byteCount: chunks.count * PageFile.chunkByteCount)
    }

    /// Records that these chunks have no disk space until they are stored or mapped again. Returns a closure that releases the disk space,
    /// or `nil` if the file has no space to release.
    ///
    /// Any thread can call the closure. The caller must ensure that no thread stores or maps the chunks at the same time. If the file
    /// system cannot release the space, the file keeps it.
    package func discard(_ chunks: Range<Int>) -> (@Sendable () -> Void)? {
        // A file without a name is created at its first use. Before that, there is no disk space to release.
        if chunks.isEmpty || (pageFile == nil && file == nil) { return nil }
        if ahead.overlaps(chunks) { ahead = 0..<0 }
        // The closure may run much later, and would then release space that was preallocated for these chunks in the meantime. So no space
        // is preallocated for them: each chunk gets its disk space when it is used again.
        aheadEnd = max(aheadEnd, chunks.upperBound)
        guard let file = try? opened() else { return nil }  // A file that does not exist has no disk space.
        return {
            try? file.discard(offset: chunks.lowerBound * PageFile.chunkByteCount, byteCount: chunks.count * PageFile.chunkByteCount)
        }
    }

    /// Returns the window of the file, and maps it at the first call. A process with a limit of memory gets no window, because the window
    /// would take the addresses that the rest of the process needs. Each chunk is then mapped in place of its memory (`place`). Returns
    /// `nil` if the file cannot be opened.
    private func openedWindow() -> FileMapping? {
        if window != nil || isWindowRefused { return window }
        if ProcessMemory.isLimited {
            isWindowRefused = true
            return nil
        }
        // The process may have too many open files at this moment. So a later call tries again to open the file.
        guard let file = try? opened() else { return nil }
        var byteCount = Format.Lease.chunkCountMax * PageFile.chunkByteCount
        while window == nil, byteCount >= Self.windowByteCountMin {
            window = try? file.mapWindow(byteCount: byteCount)  // If this fails, a smaller window may still fit.
            byteCount /= 4
        }
        isWindowRefused = window == nil
        return window
    }

    private static let windowByteCountMin = 256 << 20

    /// Returns the file, and opens it at the first call. Returns `nil` if the volume has no files without a name, or if another directory
    /// is in the place of the store's directory.
    private func opened() throws(CambiumError) -> (any VolumeFile)? {
        if let file { return file }
        if let pageFile {
            // The file is opened at its first use, which may be long after the opening of the store. If a copy of the store has taken the
            // place of its directory since then, the path leads to the pages of the copy.
            if let lock, !lock.isInPlace { return nil }
            file = try volume.openOrCreate(PageFile.path(pageFile))
        } else {
            file = try volume.openNameless()
        }
        return file
    }
}
