import CambiumBytes
package import CambiumModel

/// The content of the file ARCHIVE in a store: the path of the archive to which compaction copied the transactions before it removed their
/// ops. FORMAT.md 1.
///
/// The note only helps users to find a moment that is no longer in the store; nothing else depends on it.
package struct ArchiveNote: Equatable, Sendable {
    static let fileName = "ARCHIVE"
    private static let byteCountMax = 65_536

    /// The path of the archive.
    package let archive: String
    /// The last retired transaction at the time when the note was written. If compaction has retired later transactions since, the archive
    /// may lack them.
    package let end: TransactionNumber

    package init(_ archive: String, upTo end: TransactionNumber) {
        self.archive = archive
        self.end = end
    }

    /// Writes the note of a store. The caller holds the store's lock.
    package func write(to volume: any Volume, store: [UInt8]) throws(CambiumError) {
        try volume.replace(Self.fileName, encode(store))
        try volume.syncDirectory("")
    }

    /// Reads the note of a store. Returns `nil` if there is no note, or if the note fails verification.
    static func read(_ volume: any Volume, store: [UInt8]) throws(CambiumError) -> ArchiveNote? {
        // A link or a directory in place of the note is ignored, because nothing depends on the note.
        guard try volume.kind(of: fileName) == .regularFile else { return nil }
        let file = try volume.open(fileName, .read)
        defer { file.close() }
        return decode(try file.read(at: 0, count: byteCountMax), store)
    }

    func encode(_ store: [UInt8]) -> [UInt8] {
        var writer = ByteWriter(capacity: 128)
        writer.write(Format.ArchiveNote.magic)
        writer.write(Format.version)
        writer.write(store)
        writer.write(end.rawValue)
        writer.writeVarint(archive.utf8.count)
        writer.write(Array(archive.utf8))
        writer.write(CRC32C.checksum(writer.bytes))
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8], _ store: [UInt8]) -> ArchiveNote? {
        guard bytes.count >= 4, ByteReader.peek(bytes, at: bytes.count - 4) == CRC32C.checksum(Array(bytes.dropLast(4))) else { return nil }
        var reader = ByteReader(bytes.dropLast(4))
        do throws(DecodingError) {
            guard try reader.readBytes(8).elementsEqual(Format.ArchiveNote.magic), try reader.read(UInt16.self) == Format.version,
                try reader.readBytes(16).elementsEqual(store)
            else { return nil }
            let end = TransactionNumber(rawValue: try reader.read(UInt64.self))
            let count = try reader.readCount(max: byteCountMax, "bytes of a path")
            let archive = String(decoding: try reader.readBytes(count), as: UTF8.self)
            try reader.finish()
            return ArchiveNote(archive, upTo: end)
        } catch { return nil }
    }
}
