import CambiumBytes
internal import CambiumModel

/// Memory that is mapped from a file of pages. The kernel writes the bytes that are stored there to the file, and removes them from memory
/// when other code needs it.
///
/// One range of addresses is reserved for the file: its window, in which chunk `c` lies at `c` x 65,536. So the number of mappings does not
/// grow with the number of chunks that are used, however often.
///
/// SAFETY: the file has disk space for a chunk before any caller gets its address, because the kernel ends a process that writes to a
/// mapping without space. The window stays mapped as long as this object exists.
///
/// SENDABLE: only one thread at a time uses it.
package final class PageFileMemory: @unchecked Sendable {
    private let volume: any Volume
    /// The number in the file's name; `nil` for a file without a name, which ends with the process.
    private let pageFile: UInt64?
    private var file: (any VolumeFile)?
    private var window: FileMapping?
    private var isWindowRefused = false
    /// The chunks whose disk space was preallocated.
    private var ahead = 0..<0
    private var aheadEnd: Int

    /// New chunks at the end of the file get disk space together: as many as the file has already, up to 8 MiB.
    private static let aheadCountMax = 128

    /// - Parameters:
    ///   - pageFile: the file that checkpoints are stored in; `nil` for pages that are never stored.
    ///   - chunkCount: the number of chunks in the file. The chunks before that end get disk space one by one.
    package init(_ volume: any Volume, _ pageFile: UInt64?, chunkCount: Int = 0) {
        self.volume = volume
        self.pageFile = pageFile
        aheadEnd = chunkCount
    }

    deinit { file?.close() }

    /// Returns the memory of a chunk, or `nil` if the disk is full or the volume's files cannot be mapped.
    package func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer? {
        guard let window = openedWindow(), (chunk + 1) * PageFile.chunkByteCount <= window.byteCount else { return nil }
        if !ahead.contains(chunk), !takeSpace(from: chunk) { return nil }
        return window.base + chunk * PageFile.chunkByteCount
    }

    /// Preallocates disk space for a chunk, and also for the following chunks if it is a new chunk.
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
            return false  // The caller uses memory that is not the file's.
        }
    }

    /// Maps a chunk of the file in place of memory. Returns false if the disk is full, or if the file cannot take the place of the memory.
    /// Then the memory stays as it is.
    package func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool {
        takeSpace(chunk..<chunk + 1) && replace(base, chunks: chunk..<chunk + 1)
    }

    /// Maps chunks of the file in place of memory. Returns false if the file cannot take the place of the memory. Then the memory stays as
    /// it is.
    package func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool {
        guard let file = try? opened() else { return false }  // Then the memory stays as it is.
        return file.replace(base, offset: chunks.lowerBound * PageFile.chunkByteCount, byteCount: chunks.count * PageFile.chunkByteCount)
    }

    /// Records that chunks have no disk space until they are stored or mapped again. Returns a closure that releases the space, or `nil` if
    /// there is no space to release. Any thread may call the closure, while no thread stores or maps the chunks. If the disk cannot release
    /// the space, the file keeps it.
    package func discard(_ chunks: Range<Int>) -> (@Sendable () -> Void)? {
        // A file without a name that was not opened has no disk space.
        if chunks.isEmpty || (pageFile == nil && file == nil) { return nil }
        if ahead.overlaps(chunks) { ahead = 0..<0 }
        // The caller may release the space later. So these chunks are not among those that get space in advance.
        aheadEnd = max(aheadEnd, chunks.upperBound)
        guard let file = try? opened() else { return nil }  // A file that does not exist has no disk space.
        return {
            try? file.discard(offset: chunks.lowerBound * PageFile.chunkByteCount, byteCount: chunks.count * PageFile.chunkByteCount)
        }
    }

    /// Returns the window of the file, and makes it at the first call. A process whose address space is limited gets a smaller window, or
    /// no window.
    private func openedWindow() -> FileMapping? {
        if window != nil || isWindowRefused { return window }
        var byteCount = Format.Lease.chunkCountMax * PageFile.chunkByteCount
        while window == nil, byteCount >= Self.windowByteCountMin {
            window = try? opened()?.mapWindow(byteCount: byteCount)  // A smaller one may fit.
            byteCount /= 4
        }
        isWindowRefused = window == nil
        return window
    }

    private static let windowByteCountMin = 256 << 20

    private func opened() throws(CambiumError) -> (any VolumeFile)? {
        if let file { return file }
        if let pageFile {
            let path = PageFile.path(pageFile)
            file = try volume.open(path, try volume.exists(path) ? .update : .create)
        } else {
            file = try volume.openNameless()
        }
        return file
    }
}
