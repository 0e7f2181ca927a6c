import CambiumBytes
internal import CambiumLog

/// The bytes of a file on a simulated disk, and the changes that are not yet durable.
struct FaultyContent: Sendable {
    private enum Change {
        case write([UInt8], offset: Int)
        case truncate(Int)
    }

    private(set) var live: [UInt8]
    private var durable: [UInt8]
    private var pending: [Change] = []
    /// The parts of the file that the process has mapped. A part is removed after the process has released its mapping.
    private var mappings: [MappedPart] = []

    init(_ bytes: [UInt8]) {
        live = bytes
        durable = bytes
    }

    mutating func write(_ bytes: [UInt8], at offset: Int) {
        for part in mappings { part.take(bytes, at: offset) }
        note(bytes, at: offset)
    }

    private mutating func note(_ bytes: [UInt8], at offset: Int) {
        Self.apply(.write(bytes, offset: offset), to: &live)
        pending.append(.write(bytes, offset: offset))
    }

    mutating func truncate(to byteCount: Int) {
        Self.apply(.truncate(byteCount), to: &live)
        pending.append(.truncate(byteCount))
    }

    /// Returns memory for a part of the file. The process can write to this memory. If the part exceeds the file, extends the file.
    mutating func map(offset: Int, byteCount: Int) -> FileMapping {
        let missing = offset + byteCount - live.count
        if missing > 0 { write([UInt8](repeating: 0, count: missing), at: live.count) }
        let part = MappedPart(offset: offset, byteCount: byteCount, live[offset..<offset + byteCount])
        mappings.append(part)
        return part.memory
    }

    /// Returns memory that shows the beginning of the file, including later changes. Bytes beyond the end of the file are zero.
    mutating func mapForReading(byteCount: Int) -> FileMapping {
        let part = MappedPart(offset: 0, byteCount: byteCount, live.prefix(byteCount), isReadOnly: true)
        mappings.append(part)
        return part.memory
    }

    /// Compares the mapped memory with its earlier content. Records each page that the process has changed as a write that is not yet
    /// durable.
    mutating func absorb() {
        mappings.removeAll { $0.mapping == nil }
        for part in mappings {
            for (offset, page) in part.changes() {
                note(page, at: offset)
                // Only the other mappings receive the page. The memory of this part stays unchanged, because the process may be writing to
                // it.
                for other in mappings where other !== part { other.take(page, at: offset) }
            }
        }
    }

    mutating func sync() {
        absorb()
        for change in pending { Self.apply(change, to: &durable) }
        pending = []
    }

    /// Simulates a failed sync. Some of the changes become durable, and no later sync writes the other changes.
    mutating func forget(_ random: inout SplitMix64) {
        absorb()
        durable = image(&random)
        pending = []
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
                Self.apply(.write([UInt8](repeating: 0, count: offset + written.count - bytes.count), offset: bytes.count), to: &bytes)
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
            if bytes.count < byteCount { bytes.append(contentsOf: repeatElement(0, count: byteCount - bytes.count)) }
        case .write(let written, let offset):
            if written.isEmpty { return }
            if bytes.count < offset { bytes.append(contentsOf: repeatElement(0, count: offset - bytes.count)) }
            bytes.replaceSubrange(offset..<min(offset + written.count, bytes.count), with: written)
        }
    }
}

/// A part of a file that the process has mapped.
///
/// SENDABLE: only the simulated process uses the mapping, and this process runs in the test that owns the volume.
private final class MappedPart: @unchecked Sendable {
    private let offset: Int
    /// The content of the memory at the last comparison. It is empty if the process only reads the mapping.
    private var seen: [UInt8]
    private(set) weak var mapping: FileMapping?
    /// The mapping, until the property `memory` is read; then `nil`, so that only the simulated process keeps the mapping alive.
    private var made: FileMapping?

    private static let pageByteCount = 4096

    init(offset: Int, byteCount: Int, _ bytes: ArraySlice<UInt8>, isReadOnly: Bool = false) {
        self.offset = offset
        seen = isReadOnly ? [] : Array(bytes)
        let mapping = FileMapping(byteCount: byteCount)
        mapping.bytes.copyBytes(from: bytes)
        self.mapping = mapping
        made = mapping
    }

    /// The mapping for the simulated process. This property can be read only once.
    var memory: FileMapping {
        defer { made = nil }
        guard let made else { preconditionFailure("A mapping must be handed over only once.") }
        return made
    }

    /// Returns the pages that the process has written since the last call.
    func changes() -> [(offset: Int, page: [UInt8])] {
        guard let mapping, !seen.isEmpty else { return [] }
        let changed = seen.withUnsafeBytes { seen in
            stride(from: 0, to: mapping.byteCount, by: Self.pageByteCount).filter { start in
                let pages = [UnsafeRawBufferPointer(mapping.bytes), seen].map { $0[start..<start + Self.pageByteCount] }
                return !ByteSearch.equals(UnsafeRawBufferPointer(rebasing: pages[0]), UnsafeRawBufferPointer(rebasing: pages[1]))
            }
        }
        return changed.map { start in
            let page = Array(mapping.bytes[start..<start + Self.pageByteCount])
            seen.replaceSubrange(start..<start + Self.pageByteCount, with: page)
            return (offset + start, page)
        }
    }

    /// Copies bytes into the mapped memory, because the process has written them to the file by a call, not through this mapping. `place`
    /// is the offset of the bytes in the file.
    func take(_ bytes: [UInt8], at place: Int) {
        guard let mapping else { return }
        let (start, end) = (max(place, offset), min(place + bytes.count, offset + mapping.byteCount))
        for index in stride(from: start, to: end, by: 1) {
            mapping.bytes[index - offset] = bytes[index - place]
            if !seen.isEmpty { seen[index - offset] = bytes[index - place] }
        }
    }
}
