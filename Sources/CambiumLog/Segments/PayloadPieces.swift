import CambiumBytes
package import CambiumModel

/// A piece of a payload: a part of a transaction's changes that can be shown without the others. FORMAT.md 5.
package struct PayloadPiece: Sendable {
    package enum Kind: UInt8, Sendable {
        /// One op, as the payload has it.
        case op = 0
        /// Some rows of an upsert op, one after the other.
        case rows = 1
        /// Names and types of attributes that a schema op defines.
        case names = 2
    }

    package let kind: Kind
    package let bytes: ArraySlice<UInt8>
    /// The lowest and the highest serial of the rows, as far as they are known without reading the bytes; `nil` for another piece. They are
    /// no part of the piece.
    package let serials: ClosedRange<UInt64>?

    package init(_ kind: Kind, _ bytes: ArraySlice<UInt8>, serials: ClosedRange<UInt64>? = nil) {
        (self.kind, self.bytes, self.serials) = (kind, bytes, serials)
    }

    /// A piece of rows or names ends with the entry with which it has this many bytes.
    static let byteCountMin = 512

    /// Calls `body` with the pieces of a part of a payload, which consists of whole ops. Bytes that are not ops are one piece.
    static func forEach(in part: ArraySlice<UInt8>, _ body: (PayloadPiece) throws -> Void) throws {
        var reader = ByteReader(part)
        while reader.remaining > 0 {
            let start = part.startIndex + reader.offset
            var block: Op?
            do throws(DecodingError) {
                block = try OpCodec.readBlock(&reader)
            } catch {
                return try body(PayloadPiece(.op, part[start...]))
            }
            switch block {
            case .upsert(let block): try forEachRows(of: block, body)
            case .schema(let catalog):
                try body(PayloadPiece(.op, part[start..<part.startIndex + reader.offset]))
                try forEachNames(of: catalog, body)
            default: try body(PayloadPiece(.op, part[start..<part.startIndex + reader.offset]))
            }
        }
    }

    private static func forEachRows(of block: UpsertBlock, _ body: (PayloadPiece) throws -> Void) throws {
        let columns = block.identity + block.columns
        var head = ByteWriter(capacity: 64)
        head.writeVarint(UInt64(block.entity.rawValue))
        head.writeByte(block.kind.rawValue)
        head.writeVarint(block.identity.count)
        head.writeVarint(block.columns.count)
        for column in columns {
            head.writeVarint(UInt64(column.property.rawValue))
            if case .fixed(let width, _) = column.content { head.writeByte(UInt8(width)) } else { head.writeByte(0) }
        }
        var piece = ByteWriter(capacity: 2 * byteCountMin)
        piece.write(head.bytes)
        var offsets = [Int](repeating: 0, count: columns.count)
        var index = 0
        var serials: ClosedRange<UInt64>?
        for run in block.serials.runs {
            for serial in run.first..<run.first + UInt64(run.count) {
                piece.writeVarint(serial)
                serials = min(serials?.lowerBound ?? serial, serial)...max(serials?.upperBound ?? serial, serial)
                for (place, column) in columns.enumerated() { column.write(index, &offsets[place], to: &piece) }
                index += 1
                if piece.count >= byteCountMin || index == block.serials.count {
                    try body(PayloadPiece(.rows, piece.bytes[...], serials: serials))
                    serials = nil
                    piece.removeAll(keepingAtMost: 1 << 16)
                    piece.write(head.bytes)
                }
            }
        }
    }

    /// Each attribute of each entity, inherited ones included, in the order of the schema.
    private static func forEachNames(of catalog: SchemaCatalog, _ body: (PayloadPiece) throws -> Void) throws {
        let schema: Schema
        // A schema that cannot be read has no names. A replay of the log reports it.
        do throws(CambiumError) { schema = try Schema(catalog: catalog) } catch { return }
        var piece = ByteWriter(capacity: 2 * byteCountMin)
        for entity in schema.entities {
            for attribute in entity.attributes where !attribute.isDerived {
                AttributeName(entity, attribute).write(to: &piece)
                if piece.count >= byteCountMin {
                    try body(PayloadPiece(.names, piece.bytes[...]))
                    piece.removeAll(keepingAtMost: 1 << 16)
                }
            }
        }
        if piece.count > 0 { try body(PayloadPiece(.names, piece.bytes[...])) }
    }
}

/// The names, numbers and type of an attribute of an entity, as a piece of a schema states them.
package struct AttributeName: Sendable, Equatable {
    package let root: EntityNumber
    package let entity: EntityNumber
    package let entityName: String
    package let property: PropertyNumber
    package let name: String
    package let type: AttributeType

    package init(_ entity: Entity, _ attribute: Attribute) {
        (root, self.entity, entityName) = (entity.root, entity.number, entity.name)
        (property, name, type) = (attribute.number, attribute.name, attribute.type)
    }

    fileprivate func write(to writer: inout ByteWriter) {
        writer.writeVarint(UInt64(root.rawValue))
        writer.writeVarint(UInt64(entity.rawValue))
        writer.writeBlob(entityName.utf8)
        writer.writeVarint(UInt64(property.rawValue))
        writer.writeBlob(name.utf8)
        writer.writeBlob(type.rawValue.utf8)
    }

    private init(_ reader: inout ByteReader) throws(DecodingError) {
        root = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        entity = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        entityName = try ValueCodec.decodeText(&reader)
        property = PropertyNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        name = try ValueCodec.decodeText(&reader)
        let offset = reader.offset
        guard let type = AttributeType(rawValue: try ValueCodec.decodeText(&reader)) else {
            throw .invalid("an unknown type of attributes", offset: offset)
        }
        self.type = type
    }

    /// Reads the names of a piece, which is outside data.
    package static func all(in piece: PayloadPiece) throws(DecodingError) -> [AttributeName] {
        guard piece.kind == .names else { return [] }
        var (reader, names) = (ByteReader(piece.bytes), [AttributeName]())
        while !reader.isAtEnd { names.append(try AttributeName(&reader)) }
        return names
    }
}

extension AttributeColumn {
    /// Writes the value of an object, after its presence.
    ///
    /// - Parameter offset: the number of bytes of the values before it, if the values have different lengths.
    fileprivate func write(_ index: Int, _ offset: inout Int, to writer: inout ByteWriter) {
        let isPresent = presence[index >> 6] >> UInt64(index & 63) & 1 == 1
        writer.writeByte(isPresent ? 1 : 0)
        switch content {
        case .fixed(let width, let bytes): if isPresent { writer.write(bytes[index * width..<(index + 1) * width]) }
        case .variable(let byteCounts, let bytes):
            let end = offset + Int(byteCounts[index])
            if isPresent { writer.writeBlob(bytes[offset..<end]) }
            offset = end
        }
    }
}

/// A value that an op assigns to an attribute of an object.
package struct AssignedValue: Sendable {
    package enum Content: Sendable {
        case value(Value)
        /// The bytes of a column, whose type the schema states. The width is 0 if the values differ in length.
        case stored(StoredForm, width: Int)
        case null
    }

    /// The root entity; `nil` in rows, which state the entity.
    package let root: EntityNumber?
    /// The entity; `nil` in an op that changes an object.
    package let entity: EntityNumber?
    package let serial: UInt64
    package let property: PropertyNumber
    package let content: Content

    /// Returns the assigned value. Returns `nil` if it is not one of the type.
    package func value(_ type: AttributeType) -> Value? {
        switch content {
        case .null: .null
        case .value(let value): value == .null || StoredForm(value, type: type) != nil ? value : nil
        case .stored(let form, let width): width == type.byteCount ?? 0 ? Value(stored: form, type: type) : nil
        }
    }

    /// Calls `body` with each value that a piece assigns, and with the number of its row from 0. The piece is outside data.
    package static func forEach(in piece: PayloadPiece, _ body: (_ row: Int, AssignedValue) -> Void) throws(DecodingError) {
        switch piece.kind {
        case .names: return
        case .rows: try forEachOfRows(piece.bytes, body)
        case .op:
            let ops = try OpCodec.decode(piece.bytes)
            guard ops.count == 1 else { throw .invalid("a piece that is not one op", offset: 0) }
            let (id, entity, assignments): (ObjectID, EntityNumber?, [Assignment])
            switch ops[0] {
            case .insert(let inserted, let number, let all): (id, entity, assignments) = (inserted, number, all)
            case .set(let changed, let all): (id, entity, assignments) = (changed, nil, all)
            default: return
            }
            for one in assignments {
                let content = one.value == .null ? Content.null : .value(one.value)
                body(0, AssignedValue(root: id.root, entity: entity, serial: id.serial, property: one.property, content: content))
            }
        }
    }

    private static func forEachOfRows(_ bytes: ArraySlice<UInt8>, _ body: (Int, AssignedValue) -> Void) throws(DecodingError) {
        var reader = ByteReader(bytes)
        let entity = EntityNumber(rawValue: try ValueCodec.decodeNumber(&reader))
        let offset = reader.offset
        guard try reader.readByte() <= 3 else { throw .invalid("an unknown kind of upsert", offset: offset) }
        let identityCount = try reader.readCount(max: reader.remaining, "columns")
        let count = identityCount + (try reader.readCount(max: reader.remaining, "columns"))
        var columns: [(property: PropertyNumber, width: Int)] = []
        for _ in 0..<count {
            let property = PropertyNumber(rawValue: try ValueCodec.decodeNumber(&reader))
            let width = Int(try reader.readByte())
            guard [0, 1, 2, 4, 8, 16].contains(width) else { throw .invalid("a width of \(width) bytes", offset: reader.offset) }
            columns.append((property, width))
        }
        var row = 0
        while !reader.isAtEnd {
            let serial = try reader.readVarint()
            for (place, column) in columns.enumerated() {
                let content = try content(column.width, &reader)
                // The columns of identity repeat values that the block does not set.
                if place < identityCount { continue }
                body(row, AssignedValue(root: nil, entity: entity, serial: serial, property: column.property, content: content))
            }
            row += 1
        }
    }

    private static func content(_ width: Int, _ reader: inout ByteReader) throws(DecodingError) -> Content {
        let offset = reader.offset
        let presence = try reader.readByte()
        guard presence <= 1 else { throw .invalid("a value that is neither present nor null", offset: offset) }
        if presence == 0 { return .null }
        if width == 0 { return .stored(.bytes(Array(try reader.readBlob("value"))), width: 0) }
        let bytes = try reader.readBytes(width)
        func word(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        return .stored(.fixed(word(bytes.prefix(8)), word(bytes.dropFirst(8))), width: width)
    }
}
