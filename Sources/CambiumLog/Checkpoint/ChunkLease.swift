import CambiumBytes
package import CambiumModel

/// A lease: a file next to the checkpoint records. It lists the chunks (64 KiB of pages) that graphs still map after their store was
/// closed, so that later writers do not write to these chunks. A `ChunkLease` holds a shared lock on the file as long as the object exists.
///
/// The lock ends with the process, so a lease that no process has locked has no effect. The file is not synced, because a power failure
/// ends all processes anyway. Docs/Formats/CHECKPOINTS.md describes the bytes.
package final class ChunkLease: Sendable {
    static let suffix = ".lease"
    /// The number of bytes that the hexadecimal digits in the name of a lease represent.
    private static let nameByteCount = 8

    private let volume: any Volume
    private let path: String
    private let share: any VolumeLock

    /// Creates a lease. The caller must hold the lock of the store, so that no writer reads the leases before this lease has its shared
    /// lock.
    ///
    /// Throws `.ioFailure` and `.cannotCreate` if a disk operation fails. In that case there is no lease. Complexity: O(chunks).
    ///
    /// - Parameters:
    ///   - name: the number in the name of the file. If another lease has this number, the new lease gets the next number that no lease
    ///     has.
    ///   - chunks: for each file of pages, the chunks that are mapped, in ascending order.
    package init(_ volume: any Volume, store: [UInt8], name: UInt64, chunks: [UInt64: [Int]]) throws(CambiumError) {
        // The name may be taken: the environment of a test may supply the same random number whenever the store is opened.
        var name = name
        while try volume.exists(Self.path(name)) { name &+= 1 }
        path = Self.path(name)
        self.volume = volume
        try volume.createDirectory(CheckpointRecord.directory)
        let file = try volume.open(path, .create)
        do throws(CambiumError) {
            defer { file.close() }
            try file.write(LeaseRecord(chunks: chunks).encode(store: store), at: 0)
            share = try volume.share(path)
        } catch {
            try? volume.remove(path)  // If this fails, the file has no lock, so the next writer removes it.
            throw error
        }
    }

    deinit {
        // No other process removes a locked lease, so the path still leads to the file of this object.
        try? volume.remove(path)  // If this fails, the next writer removes the file, which then has no lock.
        share.unlock()
    }

    private static func path(_ name: UInt64) -> String {
        CheckpointRecord.directory + "/" + HexText.encode(withUnsafeBytes(of: name.bigEndian) { Array($0) }) + suffix
    }

    static func isName(_ name: String) -> Bool {
        name.hasSuffix(suffix) && HexText.decode(String(name.dropLast(suffix.utf8.count)))?.count == nameByteCount
    }
}

/// The leases that were in use when this process took the lock of the store. A lease is a file with the chunks of graphs that are still in
/// use after their store was closed. No lease is added later, because this process holds the lock.
package struct ChunkLeases: Sendable {
    /// The content of each lease, by the path of its file; `nil` for a lease that fails verification.
    private var records: [String: LeaseRecord?] = [:]

    /// Reads the leases on which a process holds a shared lock, and removes all other leases. The caller must hold the lock of the store.
    ///
    /// Throws `.ioFailure` if a disk operation fails. Complexity: O(bytes of the leases).
    package init(of volume: any Volume, store: [UInt8]) throws(CambiumError) {
        for name in try volume.list(CheckpointRecord.directory) where ChunkLease.isName(name) {
            let path = CheckpointRecord.directory + "/" + name
            if try Self.removeEnded(path, from: volume) { continue }
            do throws(CambiumError) {
                records[path] = .some(try LeaseRecord.read(volume, path, store: store))
            } catch {
                // The process that held this lease has removed the file since the directory was listed.
                guard error.code == .notFound else { throw error }
            }
        }
    }

    /// Whether the chunks of all leases are known. If not, no process may write to an existing file of pages, because readers may be using
    /// any of its chunks.
    package var areReadable: Bool { records.values.allSatisfy { $0 != nil } }

    /// Returns the chunks of a file of pages that at least one lease lists.
    package func chunks(of pageFile: UInt64) -> Set<Int> {
        records.values.reduce(into: []) { $0.formUnion($1?.chunks[pageFile] ?? []) }
    }

    /// Forgets the leases that have ended, and removes their files. Throws as `init` does.
    package mutating func removeEnded(from volume: any Volume) throws(CambiumError) {
        for path in records.keys.sorted() where try Self.removeEnded(path, from: volume) { records[path] = nil }
    }

    private static func removeEnded(_ path: String, from volume: any Volume) throws(CambiumError) -> Bool {
        do throws(CambiumError) {
            return try volume.removeUnlessShared(path)
        } catch {
            // The process that held this lease has removed the file.
            guard error.code == .notFound else { throw error }
            return true
        }
    }
}

/// The content of a lease: the chunks that graphs still map.
struct LeaseRecord: Sendable, Equatable {
    /// For each file of pages, the chunks that are mapped, in ascending order.
    var chunks: [UInt64: [Int]]

    func encode(store: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(Format.Lease.magic)
        writer.write(Format.version)
        writer.write(store)
        writer.write(UInt32(chunks.count))
        for (pageFile, chunks) in chunks.sorted(by: { $0.key < $1.key }) {
            let runs = Self.runs(chunks)
            writer.write(pageFile)
            writer.write(UInt32(runs.count))
            for run in runs {
                writer.write(UInt32(run.lowerBound))
                writer.write(UInt32(run.count))
            }
        }
        writer.write(CRC32C.checksum(writer.bytes))
        return writer.bytes
    }

    private static func runs(_ chunks: [Int]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        for chunk in chunks {
            if let last = runs.last, last.upperBound == chunk {
                runs[runs.count - 1] = last.lowerBound..<chunk + 1
            } else {
                runs.append(chunk..<chunk + 1)
            }
        }
        return runs
    }

    /// Reads a lease. Returns `nil` if the file is not a valid lease of this store.
    static func read(_ volume: any Volume, _ path: String, store: [UInt8]) throws(CambiumError) -> LeaseRecord? {
        let file = try volume.open(path, .read)
        defer { file.close() }
        let bytes = try file.read(at: 0, count: min(try file.byteCount(), Format.Lease.byteCountMax))
        do throws(DecodingError) { return try decode(bytes, store: store) } catch { return nil }
    }

    /// Decodes a lease. Throws if the bytes are not a lease of this store.
    static func decode(_ bytes: [UInt8], store: [UInt8]) throws(DecodingError) -> LeaseRecord {
        guard bytes.count >= Format.Lease.magic.count + 4 else { throw .truncated(offset: bytes.count) }
        guard ByteReader.peek(bytes, at: bytes.count - 4) == CRC32C.checksum(Array(bytes.dropLast(4))) else {
            throw .invalid("a checksum that does not match", offset: bytes.count - 4)
        }
        var reader = ByteReader(bytes.dropLast(4))
        guard try reader.readBytes(8).elementsEqual(Format.Lease.magic) else { throw .invalid("bytes that are not a lease", offset: 0) }
        guard try reader.read(UInt16.self) == Format.version else {
            throw .invalid("a format that this program cannot read", offset: 8)
        }
        guard try reader.readBytes(16).elementsEqual(store) else { throw .invalid("the lease of another store", offset: 10) }
        var record = LeaseRecord(chunks: [:])
        let pageFileCount = try reader.read(UInt32.self)
        guard pageFileCount <= Format.Lease.pageFileCountMax else {
            throw .limitExceeded("a lease of \(pageFileCount) files of pages", offset: reader.offset - 4)
        }
        for _ in 0..<pageFileCount {
            let pageFile = try reader.read(UInt64.self)
            var chunks: [Int] = []
            for _ in 0..<(try reader.read(UInt32.self)) {
                let (first, count) = (Int(try reader.read(UInt32.self)), Int(try reader.read(UInt32.self)))
                let end = first + count
                guard first >= chunks.last.map({ $0 + 1 }) ?? 0, count > 0, end <= Format.Lease.chunkCountMax else {
                    throw .invalid("chunks that are out of order or out of range", offset: reader.offset)
                }
                chunks += first..<end
            }
            record.chunks[pageFile] = chunks
        }
        try reader.finish()
        return record
    }
}
