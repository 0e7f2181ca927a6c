import CambiumBytes
internal import CambiumLog
internal import CambiumModel

/// The state of a `FaultyVolume`.
struct FaultyDisk: Sendable {
    var files: [FaultyContent] = []
    /// The index of each file in `files`, by path: as the process sees the directories, and as they are durable.
    private(set) var live: [String: Int] = [:]
    private var durable: [String: Int] = [:]
    /// Changes of directories that are not yet durable. Each change maps a path to the index of a file, or to `nil` if it removes the path.
    private var pending: [[String: Int?]] = []

    private(set) var operationCount = 0
    var crashOperation: Int?
    var failure: (operation: Int, code: Int32)?
    private(set) var readCount = 0
    var readFailure: (read: Int, code: Int32)?
    private(set) var hasFailed = false

    init(_ contents: [String: [UInt8]] = [:]) {
        for (path, bytes) in contents {
            live[path] = files.count
            files.append(FaultyContent(bytes))
        }
        durable = live
    }

    var liveContents: [String: [UInt8]] { live.mapValues { files[$0].live } }

    /// Counts an operation. Throws if this operation must fail.
    mutating func begin() throws(CambiumError) {
        defer { operationCount += 1 }
        if let crashOperation, operationCount >= crashOperation {
            hasFailed = true
            throw CambiumError(.ioFailure, "The process has died.")
        }
        if let failure, failure.operation == operationCount {
            hasFailed = true
            throw CambiumError(.ioFailure, "The disk refused the operation.", underlying: SystemError(code: failure.code))
        }
    }

    /// Counts a call that changes nothing. Throws if this call must fail.
    mutating func beginRead() throws(CambiumError) {
        defer { readCount += 1 }
        guard let readFailure, readFailure.read == readCount else { return }
        hasFailed = true
        throw CambiumError(.ioFailure, "The simulated disk failed to read.", underlying: SystemError(code: readFailure.code))
    }

    mutating func recover() {
        crashOperation = nil
        failure = nil
        readFailure = nil
        hasFailed = false
    }

    mutating func create(_ path: String) -> Int {
        files.append(FaultyContent([]))
        change([path: files.count - 1])
        return files.count - 1
    }

    mutating func change(_ entries: [String: Int?]) {
        for (path, number) in entries { live[path] = number }
        pending.append(entries)
    }

    mutating func syncDirectory(_ directory: String) {
        var rest: [[String: Int?]] = []
        for change in pending {
            if change.keys.contains(where: { Self.parent($0) == directory }) {
                for (path, number) in change { durable[path] = number }
            } else {
                rest.append(change)
            }
        }
        pending = rest
    }

    private static func parent(_ path: String) -> String {
        path.split(separator: "/").dropLast().joined(separator: "/")
    }

    /// Returns the files that a power failure may leave.
    func image(_ random: inout SplitMix64) -> [String: [UInt8]] {
        var entries = durable
        for change in pending where Bool.random(using: &random) {
            for (path, number) in change { entries[path] = number }
        }
        // The order is fixed, so that a seed always produces the same image.
        var image: [String: [UInt8]] = [:]
        for path in entries.keys.sorted() { image[path] = entries[path].map { files[$0].image(&random) } }
        return image
    }
}

/// The bytes of a file, and its changes that are not yet durable.
struct FaultyContent: Sendable {
    private enum Change {
        case write([UInt8], offset: Int)
        case truncate(Int)
    }

    private(set) var live: [UInt8]
    private var durable: [UInt8]
    private var pending: [Change] = []
    /// The parts of the file that the process has mapped. They are removed when the process releases the mappings.
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

    /// Returns memory that is a part of the file. Extends the file if it ends before the end of that part.
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

    /// Records the pages that the process wrote in memory as writes that are not yet durable.
    mutating func absorb() {
        mappings.removeAll { $0.mapping == nil }
        for part in mappings {
            for (offset, page) in part.changes() {
                note(page, at: offset)
                // The process may be writing to this part, so its memory stays unchanged. The other mappings receive the page.
                for other in mappings where other !== part { other.take(page, at: offset) }
            }
        }
    }

    mutating func sync() {
        absorb()
        for change in pending { Self.apply(change, to: &durable) }
        pending = []
    }

    /// Simulates a failed sync: some of the changes become durable, and no later sync retries the others.
    mutating func forget(_ random: inout SplitMix64) {
        absorb()
        durable = image(&random)
        pending = []
    }

    func image(_ random: inout SplitMix64) -> [UInt8] {
        var bytes = durable
        for change in pending {
            switch (change, Int.random(in: 0..<4, using: &random)) {
            case (_, 0): break
            case (.write(let written, let offset), 3) where offset + written.count > bytes.count:
                // The file gets its new length, but not the new bytes.
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
/// SENDABLE: the mapping belongs to the simulated process, which the test that owns the volume runs.
private final class MappedPart: @unchecked Sendable {
    private let offset: Int
    /// The memory at the last comparison. Empty if the process only reads the mapping.
    private var seen: [UInt8]
    private(set) weak var mapping: FileMapping?
    /// The mapping, until the process receives it.
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

    /// Passes the memory to the process.
    var memory: FileMapping {
        defer { made = nil }
        guard let made else { preconditionFailure("A mapping must be handed over only once.") }
        return made
    }

    /// Returns the pages that were written since the last call.
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

    /// Copies bytes that were written to the file without the mapping.
    func take(_ bytes: [UInt8], at place: Int) {
        guard let mapping else { return }
        let (start, end) = (max(place, offset), min(place + bytes.count, offset + mapping.byteCount))
        for index in stride(from: start, to: end, by: 1) {
            mapping.bytes[index - offset] = bytes[index - place]
            if !seen.isEmpty { seen[index - offset] = bytes[index - place] }
        }
    }
}
