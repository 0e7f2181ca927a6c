import CambiumBytes
internal import CambiumModel

/// The content of the file CREATING: the names of the files that are written while a store is created. If the creation is interrupted, a
/// later attempt to create a store removes only these files. FORMAT.md 1, "CREATING".
struct CreationMark: Equatable {
    static let fileName = "CREATING"
    static let byteCountMax = 64 << 20

    /// The files that are written while the store is created, as paths in the store's directory.
    private(set) var names: Set<String> = []
    /// Whether the mark states that the store is complete and durable.
    private(set) var isFinished = false
    /// The checksum of the last entry, or of the header if there is no entry. The checksum of the next entry continues this checksum.
    private var checksum: UInt32 = 0

    /// The content of a file that has the name of a mark.
    enum Content: Equatable {
        case mark(CreationMark)
        /// The first write of a mark did not reach the disk completely. The process had written no other file at that time.
        case torn
        /// The file is not a mark.
        case foreign
    }

    private init() {}

    // MARK: Writing

    /// Returns a mark that contains no file names, and its bytes.
    static func begin(store: [UInt8]) -> (mark: CreationMark, bytes: [UInt8]) {
        var writer = ByteWriter(capacity: Format.CreationMark.headerByteCount)
        writer.write(start)
        writer.write(store)
        var mark = CreationMark()
        mark.checksum = CRC32C.checksum(writer.bytes)
        writer.write(mark.checksum)
        return (mark, writer.bytes)
    }

    /// Adds the name of a file to the mark. Returns the bytes of the entry, which the caller writes.
    mutating func add(_ name: String) -> [UInt8] {
        names.insert(name)
        return entry(name)
    }

    /// Marks the store as complete. Returns the bytes of the entry that states the completion.
    mutating func finish() -> [UInt8] {
        isFinished = true
        return entry("")
    }

    private mutating func entry(_ name: String) -> [UInt8] {
        var writer = ByteWriter()
        writer.writeBlob(Array(name.utf8))
        checksum = Self.checksum(writer.bytes, after: checksum)
        writer.write(checksum)
        return writer.bytes
    }

    private static func checksum(_ entry: [UInt8], after checksum: UInt32) -> UInt32 {
        var writer = ByteWriter(capacity: entry.count + 4)
        writer.write(checksum)
        writer.write(entry)
        return CRC32C.checksum(writer.bytes)
    }

    private static let start: [UInt8] = {
        var writer = ByteWriter()
        writer.write(Format.CreationMark.magic)
        writer.write(Format.version)
        return writer.bytes
    }()

    // MARK: Reading

    static func decode(_ bytes: [UInt8]) -> Content {
        do throws(DecodingError) {
            var reader = ByteReader(bytes)
            let start = try reader.readBytes(Self.start.count)
            _ = try reader.readBytes(Format.CreationMark.storeByteCount)
            var mark = CreationMark()
            mark.checksum = CRC32C.checksum(Array(bytes.prefix(reader.offset)))
            guard start.elementsEqual(Self.start), try reader.read(UInt32.self) == mark.checksum else { return beginning(bytes) }
            while mark.readEntry(&reader) {}
            return mark.names.allSatisfy(isName) ? .mark(mark) : .foreign
        } catch { return beginning(bytes) }
    }

    /// Decides whether bytes without a valid header are a torn mark. All marks begin with the same bytes. In a torn mark, each of these
    /// bytes is either right, or zero because its write did not reach the disk.
    private static func beginning(_ bytes: [UInt8]) -> Content {
        zip(bytes, start).allSatisfy { $0 == $1 || $0 == 0 } ? .torn : .foreign
    }

    /// Reads the next entry. Returns `false` at the end, and at the first entry that fails verification.
    private mutating func readEntry(_ reader: inout ByteReader) -> Bool {
        var next = reader
        do throws(DecodingError) {
            let name = Array(try next.readBlob(max: Format.CreationMark.nameByteCountMax, "bytes of a name"))
            var entry = ByteWriter()
            entry.writeBlob(name)
            let checksum = Self.checksum(entry.bytes, after: checksum)
            guard !isFinished, try next.read(UInt32.self) == checksum, let text = String(validating: name, as: UTF8.self) else {
                return false
            }
            if text.isEmpty { isFinished = true } else { names.insert(text) }
            self.checksum = checksum
        } catch { return false }
        reader = next
        return true
    }

    /// Whether a process that creates a store can write a file with this path. A mark that lists any other path was not written by such a
    /// process.
    static func isName(_ path: String) -> Bool {
        let suffix = LogFileName.replacementSuffix
        let base = path.hasSuffix(suffix) ? String(path.dropLast(suffix.utf8.count)) : path
        let parts = base.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 1 {
            return [StoreSettings.fileName, Head.fileName, ArchiveNote.fileName].contains(base) || PageFile.isName(base)
        }
        guard parts.count == 2 else { return false }
        if parts[0] == LogDirectory.name { return LogFileName.parse(parts[1]) != nil }
        guard parts[0] == CheckpointRecord.directory else { return false }
        return CheckpointRecord.isName(parts[1]) || ChunkLease.isName(parts[1]) || base == PageFile.damageMark
    }
}
