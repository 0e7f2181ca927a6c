import CambiumBytes
internal import CambiumModel

/// The table of a checkpoint: the schema's op, and an entry for each chunk (64 KiB of pages). The table is in the checkpoint record if
/// there is enough space. Otherwise, it is in separate chunks of the file of pages, which only this checkpoint uses.
/// Docs/Formats/CHECKPOINTS.md
/// describes the bytes.
enum CheckpointTable {
    /// A part of a table that does not fit into the checkpoint record: bytes at the start of a chunk in the file of pages.
    struct Part: Equatable {
        let chunk: Int
        let byteCount: Int
        let checksum: UInt32

        static let byteCount = 12

        init(chunk: Int, _ bytes: [UInt8]) {
            self.chunk = chunk
            byteCount = bytes.count
            checksum = CRC32C.checksum(bytes)
        }

        /// Decodes the chunk, the length and the checksum of a part. Throws if there is no such chunk, or if the length exceeds the size of
        /// a chunk.
        init(_ reader: inout ByteReader, chunkCount: Int) throws(DecodingError) {
            (chunk, byteCount) = (Int(try reader.read(UInt32.self)), Int(try reader.read(UInt32.self)))
            checksum = try reader.read(UInt32.self)
            guard chunk > 0, chunk < chunkCount, byteCount <= PageFile.chunkByteCount else {
                throw .invalid("a part of the table whose chunk or length is out of range", offset: reader.offset - Self.byteCount)
            }
        }

        func write(to writer: inout ByteWriter) {
            writer.write(UInt32(chunk))
            writer.write(UInt32(byteCount))
            writer.write(checksum)
        }
    }

    /// Returns the number of bytes that precede the table in its first part. These bytes state how many parts follow, and contain the chunk
    /// number, the length and the checksum of each of these parts.
    private static func headByteCount(partCount: Int) -> Int { 4 + (partCount - 1) * Part.byteCount }

    static func byteCount(schemaByteCount: Int, chunkCount: Int, isPacked: Bool) -> Int {
        schemaByteCount + chunkCount * (isPacked ? Format.Root.packedEntryByteCount : Format.Root.chunkEntryByteCount)
    }

    static func encode(schemaOp: [UInt8], _ chunks: [CheckpointRecord.Chunk], isPacked: Bool) -> [UInt8] {
        var writer = ByteWriter(
            capacity: byteCount(schemaByteCount: schemaOp.count, chunkCount: chunks.count, isPacked: isPacked))
        writer.write(schemaOp)
        for chunk in chunks {
            writer.write(chunk.live)
            writer.write(chunk.checksum)
            if isPacked { writer.write(chunk.packedByteCount) }
        }
        return writer.bytes
    }

    /// Decodes a table. Throws if the bytes do not consist of a schema and entries for chunks. Also throws if the entries do not mark
    /// exactly the chunks in `owned` as parts of the table.
    static func decode(
        _ bytes: ArraySlice<UInt8>, schemaByteCount: Int, chunkCount: Int, isPacked: Bool, owned: [Int]
    ) throws(DecodingError) -> (schema: SchemaCatalog, chunks: [CheckpointRecord.Chunk]) {
        var reader = ByteReader(bytes)
        guard case .schema(let schema)? = try OpCodec.decode(try reader.readBytes(schemaByteCount)).first else {
            throw .invalid("a table without a schema", offset: 0)
        }
        var chunks: [CheckpointRecord.Chunk] = []
        chunks.reserveCapacity(chunkCount)
        var ownedCount = 0
        for _ in 0..<chunkCount {
            let chunk = CheckpointRecord.Chunk(
                live: try reader.read(UInt16.self), checksum: try reader.read(UInt32.self),
                packedByteCount: isPacked ? try reader.read(UInt16.self) : 0)
            guard chunk.packedByteCount <= Format.Root.packedByteCountMax else {
                throw .invalid("a compressed chunk that is too long", offset: reader.offset)
            }
            if chunk.hasTable { ownedCount += 1 }
            chunks.append(chunk)
        }
        try reader.finish()
        // `owned` is ascending, so it contains no chunk twice. Equal counts therefore prove that `owned` lacks none of the marked chunks.
        guard ownedCount == owned.count, owned.allSatisfy({ chunks[$0] == .table }) else {
            throw .invalid("a table whose entries mark chunks other than those that contain it", offset: reader.offset)
        }
        return (schema, chunks)
    }

    // MARK: Parts

    /// Returns the number of chunks that a table takes.
    ///
    /// - Parameter partByteCountMax: The number of bytes that a part of the table may use in its chunk.
    static func partCount(byteCount: Int, partByteCountMax: Int) -> Int {
        var count = 1
        while max(0, partByteCountMax - headByteCount(partCount: count)) + (count - 1) * partByteCountMax < byteCount { count += 1 }
        return count
    }

    /// Divides a table into parts, one for each chunk, and returns the parts in the order of the chunks.
    ///
    /// - Parameter chunks: at least as many chunks as `partCount` returns, in ascending order.
    static func parts(of table: [UInt8], in chunks: [Int], partByteCountMax: Int) -> [(chunk: Int, bytes: [UInt8])] {
        var rest = table[...]
        func take(_ count: Int) -> ArraySlice<UInt8> {
            let part = rest.prefix(count)
            rest = rest.dropFirst(count)
            return part
        }
        let first = take(max(0, partByteCountMax - headByteCount(partCount: chunks.count)))
        let others = chunks.dropFirst().map { (chunk: $0, bytes: Array(take(partByteCountMax))) }
        precondition(rest.isEmpty, "The chunks of a table have space for all of it.")
        var head = ByteWriter(capacity: headByteCount(partCount: chunks.count) + first.count)
        head.write(UInt32(others.count))
        for other in others { Part(chunk: other.chunk, other.bytes).write(to: &head) }
        head.write(Array(first))
        return [(chunks[0], head.bytes)] + others
    }

    /// Reads a table from chunks. Returns the bytes of the table and the numbers of these chunks. Throws a `DecodingError` if the bytes are
    /// not a table, and the errors of `read`.
    ///
    /// - Parameters:
    ///   - byteCount: the length of the table.
    ///   - read: reads the beginning of a chunk; returns fewer bytes if the file is shorter.
    static func read(
        _ head: Part, byteCount: Int, chunkCount: Int, _ read: (_ chunk: Int, _ byteCount: Int) throws(CambiumError) -> [UInt8]
    ) throws -> (bytes: [UInt8], chunks: [Int]) {
        func bytes(of part: Part) throws -> [UInt8] {
            let bytes = try read(part.chunk, part.byteCount)
            guard bytes.count == part.byteCount, CRC32C.checksum(bytes) == part.checksum else {
                throw DecodingError.invalid("a part of the table that differs from what was stored in chunk \(part.chunk)", offset: 0)
            }
            return bytes
        }
        var reader = ByteReader(try bytes(of: head))
        let count = Int(try reader.read(UInt32.self))
        guard count * Part.byteCount <= reader.remaining else { throw DecodingError.truncated(offset: head.byteCount) }
        var parts = [head]
        for _ in 0..<count {
            let part = try Part(&reader, chunkCount: chunkCount)
            guard part.chunk > parts[parts.count - 1].chunk else {
                throw DecodingError.invalid("chunks of a table that are not in ascending order", offset: reader.offset)
            }
            parts.append(part)
        }
        // If the lengths of the parts do not add up to the length in the record, no part is read.
        guard parts.dropFirst().reduce(reader.remaining, { $0 + $1.byteCount }) == byteCount else {
            throw DecodingError.invalid("a table of the wrong length", offset: reader.offset)
        }
        var table = Array(try reader.readBytes(reader.remaining))
        for part in parts.dropFirst() { table += try bytes(of: part) }
        return (table, parts.map(\.chunk))
    }
}
