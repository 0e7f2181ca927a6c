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

    /// Writes chunks, which nothing that is stored may have, and returns their checksums.
    ///
    /// - Parameters:
    ///   - chunks: ascending.
    ///   - inFile: those of them that the file has already, because their memory is the file's.
    ///   - withBytes: calls its closure with the bytes of a chunk.
    public mutating func write(
        _ chunks: [Int], inFile: Set<Int> = [], withBytes: (_ chunk: Int, _ body: (UnsafeRawBufferPointer) -> Void) -> Void
    ) throws(CambiumError) -> [UInt32] {
        var checksums: [UInt32] = []
        var run: [UInt8] = []
        var first = 0
        for (place, chunk) in chunks.enumerated() {
            let isWritten = !inFile.contains(chunk)
            if run.isEmpty { first = chunk }
            withBytes(chunk) { bytes in
                checksums.append(CRC32C.checksum(bytes))
                if isWritten { run += bytes }
            }
            let isFull = run.count == Self.runCountMax * PageFile.chunkByteCount
            if !isFull, isWritten, place + 1 < chunks.count, chunks[place + 1] == chunk + 1, !inFile.contains(chunk + 1) { continue }
            if run.isEmpty { continue }
            try file.write(run, at: first * PageFile.chunkByteCount)
            byteCount += run.count
            run.removeAll(keepingCapacity: true)
        }
        return checksums
    }

    /// Makes what was written durable.
    public func sync() throws(CambiumError) { try file.sync() }

    /// Makes what was written durable, and then the root.
    ///
    /// - Returns: the bytes of the root's record; nil where the transaction has a root that somebody reads, which stays then.
    public mutating func finish(_ root: RootRecord) throws(CambiumError) -> Int? {
        try sync()
        guard let recordByteCount = try root.write(to: volume) else { return nil }
        byteCount += recordByteCount
        return recordByteCount
    }

    // MARK: Dropping

    /// Removes all roots; who has one open keeps it.
    public static func removeRoots(_ volume: any Volume) throws(CambiumError) {
        let names = try volume.list(RootRecord.directory)
        if names.isEmpty { return }
        for name in names { try volume.remove(RootRecord.directory + "/" + name) }
        try volume.syncDirectory(RootRecord.directory)
    }

    /// Removes the records whose writing was interrupted. Only while none is being written.
    public static func removeInterrupted(_ volume: any Volume) throws(CambiumError) {
        for name in try volume.list(RootRecord.directory) where name.hasSuffix(RootRecord.suffix + LogFileName.replacementSuffix) {
            try volume.remove(RootRecord.directory + "/" + name)
        }
    }

    /// Removes the files of pages that no root names; who has one mapped keeps it.
    public static func removeFiles(_ volume: any Volume, except named: Set<UInt64>) throws(CambiumError) {
        let paths = Set(named.map(PageFile.path))
        for name in try volume.list("") where PageFile.isName(name) && !paths.contains(name) { try volume.remove(name) }
    }
}
