import CambiumBytes
internal import CambiumLog

/// The bytes of a file on a simulated disk, and the changes that are not yet durable.
struct FaultyContent: Sendable {
    private enum Change {
        case write([UInt8], offset: Int)
        case truncate(Int)
        /// Extends the file to a length, because disk space was preallocated.
        case extend(Int)
    }

    private(set) var live: [UInt8]
    private var durable: [UInt8]
    private var pending: [Change] = []
    /// The mappings that processes use. `absorb` removes a mapping after its process has released it.
    private var mappings: [SharedMapping] = []

    init(_ bytes: [UInt8]) {
        live = bytes
        durable = bytes
    }

    mutating func write(_ bytes: [UInt8], at offset: Int) {
        for mapping in mappings { mapping.take(bytes, at: offset) }
        make(.write(bytes, offset: offset))
    }

    mutating func truncate(to byteCount: Int) { make(.truncate(byteCount)) }

    /// Extends the file to a length. Does nothing if the file is at least that long.
    mutating func extend(to byteCount: Int) {
        if byteCount > live.count { make(.extend(byteCount)) }
    }

    private mutating func make(_ change: Change) {
        Self.apply(change, to: &live)
        pending.append(change)
    }

    /// Returns memory that shows the beginning of the file, including later changes. Bytes beyond the end of the file are zero.
    ///
    /// - Parameter isWindow: Whether the process may write to the memory. Such a write also changes the file.
    mutating func map(byteCount: Int, isWindow: Bool) -> FileMapping {
        absorb()
        let mapping = SharedMapping(memory: FileMapping(byteCount: byteCount), isWindow: isWindow)
        mapping.take(live, at: 0)
        mappings.append(mapping)
        return mapping.memory
    }

    /// Compares the windows (the mappings for writing) with the file. Records each page that a process has changed as a write that is not
    /// yet durable. Removes the mappings that were released.
    mutating func absorb() {
        for index in mappings.indices.reversed() {
            // The memory of a released mapping does not change after this check, so the comparison finds all of its changes.
            let isReleased = isKnownUniquelyReferenced(&mappings[index].memory)
            for page in mappings[index].changedPages(of: live) {
                let bytes = mappings[index].bytes(page)
                // The memory of this window stays unchanged, because the process may be writing to it.
                for other in mappings.indices where other != index { mappings[other].take(bytes, at: page.lowerBound) }
                make(.write(bytes, offset: page.lowerBound))
            }
            if isReleased { mappings.remove(at: index) }
        }
    }

    /// Separates the windows from the file, because their process has died. The file keeps the pages that the process wrote before its
    /// death.
    mutating func releaseWindows() {
        absorb()
        mappings.removeAll { $0.isWindow }
    }

    mutating func sync() {
        absorb()
        for change in pending { Self.apply(change, to: &durable) }
        pending = []
    }

    /// Simulates a failed sync. Some of the changes become durable, and no later sync writes the other changes. Preallocation is the
    /// exception: the length that it gave the file becomes durable with a later sync, because file systems store a length separately from
    /// the bytes.
    mutating func forget(_ random: inout SplitMix64) {
        absorb()
        durable = image(&random)
        pending = pending.filter { if case .extend = $0 { true } else { false } }
    }

    /// Returns bytes that the file may have after a power failure: each change that is not yet durable survives completely, in part, or not
    /// at all.
    func image(_ random: inout SplitMix64) -> [UInt8] {
        var bytes = durable
        for change in pending {
            switch (change, Int.random(in: 0..<4, using: &random)) {
            case (_, 0): break
            case (.write(let written, let offset), 3) where offset + written.count > bytes.count:
                // The file is extended, but the new bytes are zeros.
                Self.extend(&bytes, to: offset + written.count)
            case (.write(let written, let offset), 1):
                let start = Int.random(in: 0...written.count, using: &random)
                let end = Int.random(in: start...written.count, using: &random)
                Self.apply(.write(Array(written[start..<end]), offset: offset + start), to: &bytes)
            default: Self.apply(change, to: &bytes)
            }
        }
        return bytes
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .truncate(let byteCount):
            if bytes.count > byteCount { bytes.removeLast(bytes.count - byteCount) }
            extend(&bytes, to: byteCount)
        case .extend(let byteCount): extend(&bytes, to: byteCount)
        case .write(let written, let offset):
            if written.isEmpty { return }
            extend(&bytes, to: offset + written.count)
            bytes.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[offset...]).copyBytes(from: written) }
        }
    }

    /// Adds zeros up to a length. Does nothing if there are at least that many bytes.
    private static func extend(_ bytes: inout [UInt8], to byteCount: Int) {
        if byteCount > bytes.count { bytes += [UInt8](repeating: 0, count: byteCount - bytes.count) }
    }
}

/// A mapping of the beginning of a file into the memory of a process.
private struct SharedMapping {
    /// The memory of the mapping. The process holds a second reference to the memory until the process releases the mapping.
    var memory: FileMapping
    /// Whether the process may write to the memory. Such a write also changes the file.
    let isWindow: Bool

    private static let pageByteCount = 4096

    func bytes(_ range: Range<Int>) -> [UInt8] { Array(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory.bytes)[range])) }

    /// Returns the pages in which a window differs from its file: the pages that a process has written since the last comparison.
    func changedPages(of file: [UInt8]) -> [Range<Int>] {
        let end = isWindow ? min(file.count, memory.byteCount) : 0
        let own = UnsafeRawBufferPointer(memory.bytes)
        return file.withUnsafeBytes { file in
            func isEqual(_ range: Range<Int>) -> Bool {
                ByteSearch.equals(UnsafeRawBufferPointer(rebasing: own[range]), UnsafeRawBufferPointer(rebasing: file[range]))
            }
            if isEqual(0..<end) { return [] }
            return stride(from: 0, to: end, by: Self.pageByteCount).map { $0..<min($0 + Self.pageByteCount, end) }.filter { !isEqual($0) }
        }
    }

    /// Copies bytes that were written to the file at an offset.
    func take(_ bytes: [UInt8], at offset: Int) {
        let count = min(bytes.count, memory.byteCount - offset)
        if count > 0 { UnsafeMutableRawBufferPointer(rebasing: memory.bytes[offset...]).copyBytes(from: bytes.prefix(count)) }
    }
}
