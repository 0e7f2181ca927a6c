import CambiumBytes
import CambiumModel

/// The table of a root: the schema's op, and an entry for each chunk. It stands in the record if the record has room for it, and otherwise
/// in chunks of the file of pages that the root owns. Docs/CHECKPOINTS.md has the bytes.
enum RootTable {
    /// A piece of a table in a chunk, from the chunk's beginning on.
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

        /// Throws if no chunk has such a part.
        init(_ reader: inout ByteReader, chunkCount: Int) throws(DecodingError) {
            (chunk, byteCount) = (Int(try reader.read(UInt32.self)), Int(try reader.read(UInt32.self)))
            checksum = try reader.read(UInt32.self)
            guard chunk > 0, chunk < chunkCount, byteCount <= PageFile.chunkByteCount else {
                throw .invalid("a part of the table that no chunk has", offset: reader.offset - Self.byteCount)
            }
        }

        func write(to writer: inout ByteWriter) {
            writer.write(UInt32(chunk))
            writer.write(UInt32(byteCount))
            writer.write(checksum)
        }
    }

    /// The head of a table in chunks begins with the number of the other parts, and names them.
    private static func headByteCount(partCount: Int) -> Int { 4 + (partCount - 1) * Part.byteCount }

    static func byteCount(schemaByteCount: Int, chunkCount: Int, isPacked: Bool) -> Int {
        schemaByteCount + chunkCount * (isPacked ? Format.Root.packedEntryByteCount : Format.Root.chunkEntryByteCount)
    }

    static func encode(schemaOp: [UInt8], _ chunks: [RootRecord.Chunk], isPacked: Bool) -> [UInt8] {
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

    /// What `encode` wrote. Throws if it is not a schema and entries of chunks, of which those in `owned`, and no others, have the table.
    static func decode(
        _ bytes: ArraySlice<UInt8>, schemaByteCount: Int, chunkCount: Int, isPacked: Bool, owned: [Int]
    ) throws(DecodingError) -> (schema: SchemaCatalog, chunks: [RootRecord.Chunk]) {
        var reader = ByteReader(bytes)
        guard case .schema(let schema)? = try OpCodec.decode(try reader.readBytes(schemaByteCount)).first else {
            throw .invalid("no schema", offset: 0)
        }
        var chunks: [RootRecord.Chunk] = []
        chunks.reserveCapacity(chunkCount)
        var ownedCount = 0
        for _ in 0..<chunkCount {
            let chunk = RootRecord.Chunk(
                live: try reader.read(UInt16.self), checksum: try reader.read(UInt32.self),
                packedByteCount: isPacked ? try reader.read(UInt16.self) : 0)
            guard chunk.packedByteCount <= Format.Root.packedByteCountMax else {
                throw .invalid("a compressed chunk that is too long", offset: reader.offset)
            }
            if chunk.hasTable { ownedCount += 1 }
            chunks.append(chunk)
        }
        try reader.finish()
        // The chunks of the parts ascend, so none of them counts twice.
        guard ownedCount == owned.count, owned.allSatisfy({ chunks[$0] == .table }) else {
            throw .invalid("a table in other chunks than it says", offset: reader.offset)
        }
        return (schema, chunks)
    }

    // MARK: Parts

    /// How many chunks a table takes.
    ///
    /// - Parameter partByteCountMax: of a chunk, the bytes that are used.
    static func partCount(byteCount: Int, partByteCountMax: Int) -> Int {
        var count = 1
        while max(0, partByteCountMax - headByteCount(partCount: count)) + (count - 1) * partByteCountMax < byteCount { count += 1 }
        return count
    }

    /// The parts of a table in chunks, the head first.
    ///
    /// - Parameter chunks: ascending, at least as many as `partCount` says.
    static func parts(of table: [UInt8], in chunks: [Int], partByteCountMax: Int) -> [(chunk: Int, bytes: [UInt8])] {
        var rest = table[...]
        func take(_ count: Int) -> ArraySlice<UInt8> {
            let part = rest.prefix(count)
            rest = rest.dropFirst(count)
            return part
        }
        let first = take(max(0, partByteCountMax - headByteCount(partCount: chunks.count)))
        let others = chunks.dropFirst().map { (chunk: $0, bytes: Array(take(partByteCountMax))) }
        precondition(rest.isEmpty, "A table has as many chunks as it takes.")
        var head = ByteWriter(capacity: headByteCount(partCount: chunks.count) + first.count)
        head.write(UInt32(others.count))
        for other in others { Part(chunk: other.chunk, other.bytes).write(to: &head) }
        head.write(Array(first))
        return [(chunks[0], head.bytes)] + others
    }

    /// The bytes of a table in chunks, and these chunks. Throws a `DecodingError` if they are not a table, and the errors of `read`.
    ///
    /// - Parameters:
    ///   - byteCount: of the table.
    ///   - read: reads a chunk from its beginning on; fewer bytes if the file ends before.
    static func read(
        _ head: Part, byteCount: Int, chunkCount: Int, _ read: (_ chunk: Int, _ byteCount: Int) throws(CambiumError) -> [UInt8]
    ) throws -> (bytes: [UInt8], chunks: [Int]) {
        func bytes(of part: Part) throws -> [UInt8] {
            let bytes = try read(part.chunk, part.byteCount)
            guard bytes.count == part.byteCount, CRC32C.checksum(bytes) == part.checksum else {
                throw DecodingError.invalid("a table that is not what was stored in chunk \(part.chunk)", offset: 0)
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
                throw DecodingError.invalid("chunks of a table that do not ascend", offset: reader.offset)
            }
            parts.append(part)
        }
        // Nothing is read for a table that would be longer or shorter than the record says.
        guard parts.dropFirst().reduce(reader.remaining, { $0 + $1.byteCount }) == byteCount else {
            throw DecodingError.invalid("a table of another length", offset: reader.offset)
        }
        var table = Array(try reader.readBytes(reader.remaining))
        for part in parts.dropFirst() { table += try bytes(of: part) }
        return (table, parts.map(\.chunk))
    }
}
