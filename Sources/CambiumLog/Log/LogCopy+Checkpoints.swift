internal import CambiumModel

/// Copies the checkpoints of a store after its log.
extension LogCopy {
    /// Copies checkpoints. Omits a checkpoint that cannot be opened, and a checkpoint whose position in the log is not in the copy.
    mutating func copyCheckpoints(_ roots: [TransactionNumber]) throws(CambiumError) {
        var copied = Set<String>()
        for number in roots {
            do throws(CambiumError) {
                let root = try PageFile.root(source.volume, store: source.settings.store, number)?.record
                guard let root else { continue }
                let pages = try PageFile(source.volume, store: source.settings.store, number, fanOutShift: Int(root.fanOutShift))
                // A writer may have replaced the record with one that names another position in the log.
                guard try has(pages.root) else { continue }
                try pages.checkAll()
                try copy(pages, &copied)
                rootCount += 1
            } catch { if error.code != .corrupted, error.code != .notFound { throw error } }
        }
    }

    /// Whether the log in the copy contains the position of a checkpoint. A writer marks the position with a joint (a frame without
    /// transactions). The copy lacks a joint that the writer appended after the end of the log was determined.
    private func has(_ root: CheckpointRecord) throws(CambiumError) -> Bool {
        let position = LogPrefix(root)
        if copied.segments.contains(position.transaction.next) {
            let path = LogFileName.path(position.transaction.next, .segment)
            do throws(CambiumError) {
                let header = try FrameReader(target, path: path).header
                return position.isChecksumLost || header.previousChecksum == position.position.checksum
            } catch {
                guard error.code == .corrupted else { throw error }  // Only the beginning of the segment was copied.
            }
        }
        guard let segment = copied.segments.last(where: { $0 <= position.transaction }) else { return false }
        var reader = try SegmentReader(target, path: LogFileName.path(segment, .segment))
        return try reader.begin(after: position)
    }

    /// Copies those chunks of a checkpoint that were not copied yet, and writes the checkpoint's record. The table of the checkpoint goes
    /// to the same chunks as in the source.
    private mutating func copy(_ pages: PageFile, _ copied: inout Set<String>) throws(CambiumError) {
        var writer = try PageFileWriter(target, pages.root.pageFile, isNamed: false)
        defer { writer.close() }
        let chunks = pages.root.chunks.indices.filter {
            pages.root.chunks[$0].hasPages && copied.insert("\(pages.root.pageFile) \($0)").inserted
        }
        let isPacked = { pages.root.chunks[$0].packedByteCount > 0 }
        _ = try writer.write(chunks.filter { !isPacked($0) }) { chunk, body in
            body(UnsafeRawBufferPointer(start: pages.chunk(chunk), count: PageFile.chunkByteCount))
        }
        for chunk in chunks where isPacked(chunk) { try writer.write(try pages.packed(chunk), as: chunk) }
        _ = try writer.finish(pages.root)
        byteCount += writer.byteCount
    }
}
