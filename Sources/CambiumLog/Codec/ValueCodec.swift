import CambiumBytes
internal import CambiumModel
import FoundationEssentials

/// The codec for object ids, values and assignments (a property and its new value). FORMAT.md 4.
enum ValueCodec {
    static func encode(_ id: ObjectID, to writer: inout ByteWriter) {
        writer.writeVarint(UInt64(id.root.rawValue))
        writer.writeVarint(id.serial)
    }

    static func decodeID(_ reader: inout ByteReader) throws(DecodingError) -> ObjectID {
        let root = EntityNumber(rawValue: try decodeNumber(&reader))
        let offset = reader.offset
        let serial = try reader.readVarint()
        guard serial <= ObjectID.serialMax else { throw .invalid("a serial of \(serial), which is out of range", offset: offset) }
        return ObjectID(root: root, serial: serial)
    }

    /// Decodes the number of an entity or a property.
    static func decodeNumber(_ reader: inout ByteReader) throws(DecodingError) -> UInt16 {
        let offset = reader.offset
        guard let number = UInt16(exactly: try reader.readVarint()) else { throw .invalid("a number of more than 16 bits", offset: offset) }
        return number
    }

    static func encode(_ assignments: [Assignment], to writer: inout ByteWriter) {
        writer.writeVarint(assignments.count)
        for assignment in assignments {
            writer.writeVarint(UInt64(assignment.property.rawValue))
            encode(assignment.value, to: &writer)
        }
    }

    static func decodeAssignments(_ reader: inout ByteReader) throws(DecodingError) -> [Assignment] {
        let count = try reader.readCount(max: reader.remaining, "assignments")
        var assignments: [Assignment] = []
        assignments.reserveCapacity(count)
        for _ in 0..<count {
            let property = PropertyNumber(rawValue: try decodeNumber(&reader))
            assignments.append(Assignment(property, try decodeValue(&reader)))
        }
        return assignments
    }

    // MARK: Values

    private static func tag(_ value: Value) -> Format.ValueTag {
        switch value {
        case .null: .null
        case .bool(let flag): flag ? .true : .false
        case .int: .int
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .string: .string
        case .data: .data
        case .date: .date
        case .uuid: .uuid
        case .uri: .uri
        case .json: .json
        }
    }

    static func encode(_ value: Value, to writer: inout ByteWriter) {
        writer.writeByte(tag(value).rawValue)
        switch value {
        case .null, .bool: break
        case .int(let number): writer.writeZigzag(number)
        case .float(let number): writer.write(number.bitPattern)
        case .double(let number): writer.write(number.bitPattern)
        case .decimal(let number): writer.writeBlob(number.storedBytes)
        case .string(let text), .uri(let text), .json(let text): encode(text, to: &writer)
        case .data(let bytes): writer.writeBlob(bytes)
        case .date(let date): writer.write(date.timeIntervalSinceReferenceDate.bitPattern)
        case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { writer.write($0) }
        }
    }

    static func encode(_ text: String, to writer: inout ByteWriter) {
        var text = text
        text.withUTF8 { utf8 in
            writer.writeVarint(utf8.count)
            writer.write(UnsafeRawBufferPointer(utf8))
        }
    }

    /// Decodes a text of at most `max` bytes.
    static func decodeText(_ reader: inout ByteReader, max: Int = .max) throws(DecodingError) -> String {
        let offset = reader.offset
        let bytes = try reader.readBlob(max: max, "text")
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalid("text that is not UTF-8", offset: offset) }
        return text
    }

    static func skipValue(_ reader: inout ByteReader) throws(DecodingError) {
        let offset = reader.offset
        guard let tag = Format.ValueTag(rawValue: try reader.readByte()) else { throw .invalid("an unknown kind of value", offset: offset) }
        switch tag {
        case .null, .false, .true: break
        case .int: _ = try reader.readVarint()
        case .float: _ = try reader.read(UInt32.self)
        case .double, .date: _ = try reader.read(UInt64.self)
        case .uuid: _ = try reader.readBytes(16)
        case .decimal, .string, .data, .uri, .json: _ = try reader.readBlob("value")
        }
    }

    static func decodeValue(_ reader: inout ByteReader) throws(DecodingError) -> Value {
        let offset = reader.offset
        guard let tag = Format.ValueTag(rawValue: try reader.readByte()) else { throw .invalid("an unknown kind of value", offset: offset) }
        switch tag {
        case .null: return .null
        case .false: return .bool(false)
        case .true: return .bool(true)
        case .int: return .int(try reader.readZigzag())
        case .float:
            let number = Float(bitPattern: try reader.read(UInt32.self))
            guard number.isFinite else { throw .invalid("a number that is not finite", offset: offset) }
            return .float(number)
        case .double:
            let number = Double(bitPattern: try reader.read(UInt64.self))
            guard number.isFinite else { throw .invalid("a number that is not finite", offset: offset) }
            return .double(number)
        case .string: return .string(try decodeText(&reader))
        case .data: return .data(Array(try reader.readBlob("data")))
        case .uri: return .uri(try decodeText(&reader))
        case .json: return .json(try decodeText(&reader))
        case .date:
            let bits = try reader.read(UInt64.self)
            guard StoredForm.isDate(bits) else { throw .invalid("a date outside the years 1 to 9999", offset: offset) }
            return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits)))
        case .uuid:
            let form = StoredForm.fixed(try reader.read(UInt64.self), try reader.read(UInt64.self))
            return Value(stored: form, type: .uuid) ?? .null
        case .decimal:
            guard let number = DecimalNumber(storedBytes: try reader.readBlob("decimal")) else {
                throw .invalid("bytes that are not a decimal number", offset: offset)
            }
            return .decimal(number)
        }
    }
}
