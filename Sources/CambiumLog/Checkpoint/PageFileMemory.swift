import CambiumBytes
import CambiumModel

/// Memory that is a file of pages: what is written there the system writes to the file, and takes out of memory when others need it.
///
/// SAFETY: the room on disk is taken before memory is mapped to it, because the system ends a process that writes to a mapping without
/// room; what was mapped stays mapped as long as this does.
///
/// SENDABLE: one thread at a time uses it.
public final class PageFileMemory: @unchecked Sendable {
    private let volume: any Volume
    /// Nil for a file without a name, which ends with the process.
    private let pageFile: UInt64?
    private var file: (any VolumeFile)?
    /// Chunks that were mapped by themselves.
    private var mappings: [Int: FileMapping] = [:]
    /// What several chunks are in, of which none may be unmapped while another is in use.
    private var aheadMappings: [FileMapping] = []
    /// Chunks that were mapped ahead of their use, and where.
    private var ahead: (chunks: Range<Int>, mapping: FileMapping)?
    private var aheadEnd: Int

    /// Chunks behind all that there were are mapped together, as many as there were, up to 8 MiB.
    private static let aheadCountMax = 128

    /// - Parameters:
    ///   - pageFile: the one that checkpoints are stored in; nil for pages that are never stored.
    ///   - chunkCount: how many it has. Between those that are used again there are some that roots have: they are mapped one by one.
    public init(_ volume: any Volume, _ pageFile: UInt64?, chunkCount: Int = 0) {
        self.volume = volume
        self.pageFile = pageFile
        aheadEnd = chunkCount
    }

    deinit { file?.close() }

    /// Nil where the disk has no room, or the volume no files that can be mapped.
    public func memory(ofChunk chunk: Int) -> UnsafeMutableRawPointer? {
        if let ahead, ahead.chunks.contains(chunk) {
            return ahead.mapping.base + (chunk - ahead.chunks.lowerBound) * PageFile.chunkByteCount
        }
        let isNew = chunk >= aheadEnd
        let chunks = chunk..<chunk + (isNew ? max(1, min(chunk, Self.aheadCountMax)) : 1)
        if isNew, let mapping = map(chunks) {
            aheadMappings.append(mapping)
            ahead = (chunks, mapping)
            aheadEnd = chunks.upperBound
            return mapping.base
        }
        guard let mapping = map(chunk..<chunk + 1) else { return nil }
        mappings[chunk] = mapping
        return mapping.base
    }

    /// False where the file has no room, or cannot take the place of the memory, which stays as it is then.
    public func place(_ chunk: Int, at base: UnsafeMutableRawPointer) -> Bool {
        let offset = chunk * PageFile.chunkByteCount
        do throws(CambiumError) {
            guard let file = try opened() else { return false }
            try file.takeRoom(offset: offset, byteCount: PageFile.chunkByteCount)
            return file.replace(base, offset: offset, byteCount: PageFile.chunkByteCount)
        } catch {
            return false  // Then memory is what it was.
        }
    }

    /// False where the file cannot take the place of the memory, which stays as it is then.
    public func replace(_ base: UnsafeMutableRawPointer, chunks: Range<Int>) -> Bool {
        guard let file = try? opened() else { return false }  // Then memory is what it was.
        return file.replace(base, offset: chunks.lowerBound * PageFile.chunkByteCount, byteCount: chunks.count * PageFile.chunkByteCount)
    }

    /// Where the disk cannot give room back it keeps it.
    public func discard(_ chunks: Range<Int>) {
        // A file without a name that nothing was in yet has no room.
        if chunks.isEmpty || (pageFile == nil && file == nil) { return }
        // What was mapped ahead is mapped again before it is used: it may have no room.
        if let ahead, ahead.chunks.overlaps(chunks) { self.ahead = nil }
        try? opened()?.discard(offset: chunks.lowerBound * PageFile.chunkByteCount, byteCount: chunks.count * PageFile.chunkByteCount)
    }

    private func map(_ chunks: Range<Int>) -> FileMapping? {
        let (offset, byteCount) = (chunks.lowerBound * PageFile.chunkByteCount, chunks.count * PageFile.chunkByteCount)
        // Where there is no room the caller does without.
        return try? opened()?.mapForWriting(offset: offset, byteCount: byteCount)
    }

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
