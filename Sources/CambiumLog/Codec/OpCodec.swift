import CambiumBytes
package import CambiumModel

/// The codec for ops and for payloads, which contain the ops of one transaction. FORMAT.md 4, "Ops". Decoding ops and encoding them again
/// yields the same bytes.
package enum OpCodec {
    /// Returns the canonical bytes of a transaction's ops.
    package static func encode(_ ops: [Op]) -> [UInt8] {
        var writer = ByteWriter(capacity: 64)
        for op in ops { encode(op, to: &writer) }
        return writer.bytes
    }

    /// Returns the length of the op that sets a schema, in bytes. Complexity: O(1).
    static func byteCount(ofSchema schema: SchemaCatalog) -> Int {
        var length = ByteWriter(capacity: 10)
        length.writeVarint(schema.json.count)
        return 1 + length.count + schema.json.count
    }

    /// Decodes the ops of a payload. Throws a `DecodingError` with the offset of the first bytes that no encoder would write.
    package static func decode(_ payload: ArraySlice<UInt8>) throws(DecodingError) -> [Op] {
        var reader = ByteReader(payload)
        var ops: [Op] = []
        while reader.remaining > 0 { ops.append(try decodeOp(&reader)) }
        return ops
    }

    /// Calls `body` with each op. Only one op at a time is in memory, because a few bytes can encode a block of many objects, which needs
    /// much memory.
    ///
    /// Throws as `decode` does, after `body` was called with the preceding ops. Also throws the errors of `body`.
    package static func forEach(in payload: ArraySlice<UInt8>, _ body: (Op) throws -> Void) throws {
        var reader = ByteReader(payload)
        while reader.remaining > 0 { try body(try decodeOp(&reader)) }
    }

    /// Appends the ops of a payload. Appends nothing and returns `false` if the payload has an op of a kind that may take much memory, or
    /// bytes that no encoder would write.
    static func decodeSmall(_ payload: ArraySlice<UInt8>, into ops: inout [Op]) -> Bool {
        let count = ops.count
        var reader = ByteReader(payload)
        do throws(DecodingError) {
            while reader.remaining > 0 {
                switch Format.OpKind(rawValue: payload[payload.startIndex + reader.offset] & 31) {
                case .insert, .set, .link, .linkAt, .unlink, .move, .delete, .mark, .label, .undo, .digest:
                    ops.append(try decodeOp(&reader))
                default: throw .invalid("an op of another kind", offset: reader.offset)
                }
            }
        } catch {
            ops.removeSubrange(count...)
            return false
        }
        return true
    }

    // MARK: One op

    /// Reads an op. Returns it if it is an upsert or a schema; passes over any other op, mostly without decoding it.
    static func readBlock(_ reader: inout ByteReader) throws(DecodingError) -> Op? {
        var rest = reader
        let byte = try rest.readByte()
        guard let kind = Format.OpKind(rawValue: byte & 31), byte >> 5 == Format.algorithm, try skip(kind, &rest) else {
            switch try decodeOp(&reader) {
            case .upsert(let block): return .upsert(block)
            case .schema(let catalog): return .schema(catalog)
            default: return nil
            }
        }
        reader = rest
        return nil
    }

    /// Passes over the fields of an op. Returns `false` for a kind that must be decoded.
    private static func skip(_ kind: Format.OpKind, _ reader: inout ByteReader) throws(DecodingError) -> Bool {
        func skipVarints(_ count: Int) throws(DecodingError) { for _ in 0..<count { _ = try reader.readVarint() } }
        switch kind {
        case .insert, .set:
            try skipVarints(kind == .insert ? 3 : 2)
            for _ in 0..<(try reader.readCount(max: reader.remaining, "assignments")) {
                try skipVarints(1)
                try ValueCodec.skipValue(&reader)
            }
        case .link, .unlink: try skipVarints(5)
        case .linkAt, .move: try skipVarints(6)
        case .delete:
            for _ in 0..<(try reader.readCount(max: reader.remaining, "objects")) { try skipVarints(2) }
        default: return false
        }
        return true
    }

    static func encode(_ op: Op, to writer: inout ByteWriter) {
        func begin(_ kind: Format.OpKind, algorithm: UInt8 = Format.algorithm) { writer.writeByte(kind.rawValue | algorithm << 5) }
        switch op {
        case .schema(let catalog):
            begin(.schema)
            writer.writeBlob(catalog.json)
        case .insert(let id, let entity, let assignments):
            begin(.insert)
            ValueCodec.encode(id, to: &writer)
            writer.writeVarint(UInt64(entity.rawValue))
            ValueCodec.encode(assignments, to: &writer)
        case .set(let id, let assignments):
            begin(.set)
            ValueCodec.encode(id, to: &writer)
            ValueCodec.encode(assignments, to: &writer)
        case .link(let id, let property, let target, let index):
            begin(index == nil ? .link : .linkAt)
            encodeLink(id, property, target, to: &writer)
            if let index { writer.writeVarint(index) }
        case .unlink(let id, let property, let target):
            begin(.unlink)
            encodeLink(id, property, target, to: &writer)
        case .move(let id, let property, let target, let index):
            begin(.move)
            encodeLink(id, property, target, to: &writer)
            writer.writeVarint(index)
        case .delete(let ids):
            begin(.delete)
            writer.writeVarint(ids.count)
            for id in ids { ValueCodec.encode(id, to: &writer) }
        case .upsert(let block):
            begin(.upsert)
            encode(block, to: &writer)
        case .relink(let block):
            begin(.relink)
            encode(block, to: &writer)
        case .clone(let clone):
            begin(.clone, algorithm: clone.algorithm.rawValue)
            encode(clone, to: &writer)
        case .mark(let id, let source, let isStub):
            begin(.mark)
            ValueCodec.encode(id, to: &writer)
            writer.writeVarint(source)
            writer.writeByte(isStub ? 1 : 0)
        case .undo(let undone):
            begin(.undo)
            encode(undone, to: &writer)
        case .label(let name, let number):
            begin(.label)
            writer.writeVarint(number.rawValue)
            writer.writeBlob(name.utf8)
        case .digest(let number, let digest):
            begin(.digest)
            writer.writeVarint(number.rawValue)
            writer.write(digest.low)
            writer.write(digest.high)
        }
    }

    private static func encodeLink(_ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, to writer: inout ByteWriter) {
        ValueCodec.encode(id, to: &writer)
        writer.writeVarint(UInt64(property.rawValue))
        ValueCodec.encode(target, to: &writer)
    }

    private static func decodeOp(_ reader: inout ByteReader) throws(DecodingError) -> Op {
        let offset = reader.offset
        let byte = try reader.readByte()
        guard let kind = Format.OpKind(rawValue: byte & 31) else { throw .invalid("an unknown op, \(byte & 31)", offset: offset) }
        let cloneAlgorithm = kind == .clone ? CloneOp.Algorithm(rawValue: byte >> 5) : nil
        guard cloneAlgorithm != nil || byte >> 5 == Format.algorithm else {
            throw .invalid("an unknown algorithm, \(byte >> 5)", offset: offset)
        }
        switch kind {
        case .schema: return .schema(SchemaCatalog(json: Array(try reader.readBlob("schema"))))
        case .insert:
            let id = try ValueCodec.decodeID(&reader)
            let entity = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
            return .insert(id, entity: entity, try ValueCodec.decodeAssignments(&reader))
        case .set: return .set(try ValueCodec.decodeID(&reader), try ValueCodec.decodeAssignments(&reader))
        case .link, .linkAt, .unlink, .move: return try decodeLink(kind, &reader)
        case .delete:
            let count = try reader.readCount(max: reader.remaining, "objects")
            var ids: [ObjectID] = []
            for _ in 0..<count { ids.append(try ValueCodec.decodeID(&reader)) }
            return .delete(ids)
        case .upsert: return .upsert(try decodeUpsert(&reader))
        case .relink: return .relink(try decodeRelink(&reader))
        case .clone: return .clone(try decodeClone(&reader, cloneAlgorithm ?? .exactTime))
        case .label:
            let number = TransactionNumber(rawValue: try reader.readVarint())
            let offset = reader.offset
            guard let name = String(validating: try reader.readBlob(max: TransactionLabel.byteCountMax, "label"), as: UTF8.self) else {
                throw .invalid("a label that is not UTF-8", offset: offset)
            }
            guard TransactionLabel.isValid(name) else { throw .invalid("a label that is not valid", offset: offset) }
            return .label(name, number)
        case .mark:
            let id = try ValueCodec.decodeID(&reader)
            let (source, offset) = (try reader.readVarint(), reader.offset)
            let isStub = try reader.readByte()
            guard isStub <= 1 else { throw .invalid("a stub mark that is neither 0 nor 1", offset: offset) }
            return .mark(id, source: source, isStub: isStub == 1)
        case .undo: return .undo(try decodeTransactions(&reader))
        case .digest:
            let number = TransactionNumber(rawValue: try reader.readVarint())
            let low = try reader.read(UInt64.self)
            return .digest(of: number, GraphDigest(high: try reader.read(UInt64.self), low: low))
        }
    }

    /// Writes ascending ranges of transactions: for each range, the gap to the end of the preceding range, and its count.
    private static func encode(_ ranges: [ClosedRange<TransactionNumber>], to writer: inout ByteWriter) {
        writer.writeVarint(ranges.count)
        var end: UInt64 = 0
        for range in ranges {
            writer.writeVarint(range.lowerBound.rawValue - end)
            writer.writeVarint(range.upperBound.rawValue - range.lowerBound.rawValue + 1)
            end = range.upperBound.rawValue + 1
        }
    }

    private static func decodeTransactions(_ reader: inout ByteReader) throws(DecodingError) -> [ClosedRange<TransactionNumber>] {
        let count = try reader.readCount(max: reader.remaining / 2, "ranges of transactions")
        var ranges: [ClosedRange<TransactionNumber>] = []
        var end: UInt64 = 0
        for _ in 0..<count {
            let offset = reader.offset
            let (gap, length) = (try reader.readVarint(), try reader.readVarint())
            let (first, isGapTooLong) = end.addingReportingOverflow(gap)
            let (next, isTooLong) = first.addingReportingOverflow(length)
            guard gap > 0, length > 0, !isGapTooLong, !isTooLong else { throw .invalid("an empty range of transactions", offset: offset) }
            ranges.append(TransactionNumber(rawValue: first)...TransactionNumber(rawValue: next - 1))
            end = next
        }
        return ranges
    }

    private static func decodeLink(_ kind: Format.OpKind, _ reader: inout ByteReader) throws(DecodingError) -> Op {
        let id = try ValueCodec.decodeID(&reader)
        let property = PropertyNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        let target = try ValueCodec.decodeID(&reader)
        switch kind {
        case .linkAt: return .link(id, property, target: target, index: try reader.readCount(max: Int(UInt32.max), "index"))
        case .unlink: return .unlink(id, property, target: target)
        case .move: return .move(id, property, target: target, index: try reader.readCount(max: Int(UInt32.max), "index"))
        default: return .link(id, property, target: target, index: nil)
        }
    }

    // MARK: Blocks

    private static func encode(_ block: UpsertBlock, to writer: inout ByteWriter) {
        writer.writeVarint(UInt64(block.entity.rawValue))
        writer.writeByte(block.kind.rawValue)
        ColumnCodec.encode(block.serials, to: &writer)
        for columns in [block.identity, block.columns] {
            writer.writeVarint(columns.count)
            for column in columns { ColumnCodec.encode(column, count: block.serials.count, to: &writer) }
        }
    }

    private static func decodeUpsert(_ reader: inout ByteReader) throws(DecodingError) -> UpsertBlock {
        let entity = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        let offset = reader.offset
        guard let kind = UpsertBlock.Kind(rawValue: try reader.readByte()) else {
            throw .invalid("an unknown kind of upsert", offset: offset)
        }
        let serials = try ColumnCodec.decodeSerials(&reader)
        let columnCountMax = Format.elementCountMax / max(serials.count, 1)
        let identity = try decodeColumns(serials.count, max: columnCountMax, &reader)
        let columns = try decodeColumns(serials.count, max: columnCountMax - identity.count, &reader)
        return UpsertBlock(entity: entity, kind: kind, serials: serials, identity: identity, columns: columns)
    }

    /// Decodes columns with `count` values each.
    ///
    /// - Parameter max: the maximum number of columns. The limit bounds the memory of the columns: a column without values takes only three
    ///   bytes of the log, but far more memory.
    private static func decodeColumns(_ count: Int, max: Int, _ reader: inout ByteReader) throws(DecodingError) -> [AttributeColumn] {
        let columnCount = try reader.readCount(max: min(reader.remaining, max, 65_536), "columns")
        var columns: [AttributeColumn] = []
        for _ in 0..<columnCount { columns.append(try ColumnCodec.decodeColumn(count: count, &reader)) }
        return columns
    }

    private static func encode(_ block: LinkBlock, to writer: inout ByteWriter) {
        writer.writeVarint(UInt64(block.root.rawValue))
        writer.writeVarint(UInt64(block.property.rawValue))
        ColumnCodec.encode(block.serials, to: &writer)
        func write(_ kind: Format.RelinkKind) { writer.writeByte(kind.rawValue) }
        func write(_ counts: [UInt32]) { IntegerList.encode(counts.map { UInt64($0) }, width: 4, to: &writer) }
        func write(_ serials: [UInt64]) { IntegerList.encode(serials, width: 8, to: &writer) }
        switch block.content {
        case .toOne(let targets):
            write(.toOne)
            write(targets)
        case .unordered(let removedCounts, let removed, let addedCounts, let added):
            write(.unordered)
            write(removedCounts)
            write(removed)
            write(addedCounts)
            write(added)
        case .ordered(let keptCounts, let suffixCounts, let suffixes):
            write(.ordered)
            write(keptCounts)
            write(suffixCounts)
            write(suffixes)
        }
    }

    private static func decodeRelink(_ reader: inout ByteReader) throws(DecodingError) -> LinkBlock {
        let root = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        let property = PropertyNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        let serials = try ColumnCodec.decodeSerials(&reader)
        let offset = reader.offset
        let content: LinkBlock.Content
        switch Format.RelinkKind(rawValue: try reader.readByte()) {
        case .toOne: content = .toOne(try IntegerList.decode(serials.count, width: 8, from: &reader))
        case .unordered:
            let (removedCounts, removed) = try decodeLists(serials.count, &reader)
            let (addedCounts, added) = try decodeLists(serials.count, &reader)
            content = .unordered(removedCounts: removedCounts, removed: removed, addedCounts: addedCounts, added: added)
        case .ordered:
            let kept = try IntegerList.decode(serials.count, width: 4, from: &reader).map { UInt32(truncatingIfNeeded: $0) }
            let (suffixCounts, suffixes) = try decodeLists(serials.count, &reader)
            content = .ordered(keptCounts: kept, suffixCounts: suffixCounts, suffixes: suffixes)
        case nil: throw .invalid("an unknown kind of relink", offset: offset)
        }
        return LinkBlock(root: root, property: property, serials: serials, content: content)
    }

    private static func decodeLists(_ count: Int, _ reader: inout ByteReader) throws(DecodingError) -> ([UInt32], [UInt64]) {
        let counts = try IntegerList.decode(count, width: 4, from: &reader).map { UInt32(truncatingIfNeeded: $0) }
        let total = counts.reduce(0) { $0 + Int($1) }
        guard total <= Format.elementCountMax else { throw .limitExceeded("members of a block", offset: reader.offset) }
        return (counts, try IntegerList.decode(total, width: 8, from: &reader))
    }
}
