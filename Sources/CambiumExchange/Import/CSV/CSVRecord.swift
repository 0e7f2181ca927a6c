internal import CambiumJSON
import CambiumModel

/// A record of a CSV file. The record can be written as a JSON object. A text that is not a value of its column's type stays a JSON string.
/// The reader of rows then reports the text as a value of the wrong type, as it does for JSON.
struct CSVRecord {
    /// The reason why a field cannot be written as JSON.
    struct Refusal: Error {
        let field: Int
        let message: String
    }

    let bytes: UnsafeRawBufferPointer
    let fields: [CSVRecordScan.Field]
    let columns: CSVColumns
    let parser: JSONParser

    func write(to writer: inout JSONWriter) throws(Refusal) { try write(columns.root, &writer) }

    /// Writes an object. The depth of the recursion is the nesting depth of the columns.
    private func write(_ object: CSVColumns.Object, _ writer: inout JSONWriter) throws(Refusal) {
        let entity = object.discriminatorColumn.flatMap {
            columns.entity(named: String(decoding: text(fields[$0]), as: UTF8.self), object)
        }
        writer.beginObject()
        for member in object.members {
            if isEmptyEntityName(member, of: object) { continue }
            if let entity, let owners = member.owners, !owners.contains(entity.number), isEmpty(member) { continue }
            writer.quotedKey(member.key)
            switch member.content {
            case .field(let index, let kind): try write(index, entity.flatMap { member.otherKinds[$0.number] } ?? kind, &writer)
            case .nested(let nested): if isEmpty(member) { writer.null() } else { try write(nested, &writer) }
            }
        }
        writer.endObject()
    }

    /// Whether the member is an empty field of the column `_entity`. CSV cannot omit a field of a row, so the row is read as if it had no
    /// such column. If a mapping names another column for the entity, the field in that column must not be empty.
    private func isEmptyEntityName(_ member: CSVColumns.Member, of object: CSVColumns.Object) -> Bool {
        guard case .field(let index, _) = member.content, index == object.discriminatorColumn else { return false }
        return fields[index].isEmpty && object.discriminator == Discriminator(key: Discriminator.exportedKey)
    }

    private func isEmpty(_ member: CSVColumns.Member) -> Bool {
        switch member.content {
        case .field(let index, _): fields[index].isEmpty && !fields[index].isQuoted
        case .nested(let nested): nested.members.allSatisfy(isEmpty)
        }
    }

    // MARK: Fields

    /// Returns the text of a field. Each doubled quote becomes one quote.
    private func text(_ field: CSVRecordScan.Field) -> [UInt8] {
        let raw = bytes[field.start..<field.end]
        if !field.isDoubled { return Array(raw) }
        var text: [UInt8] = []
        text.reserveCapacity(raw.count)
        var isSecond = false
        for byte in raw {
            isSecond = byte == UInt8(ascii: "\"") && !isSecond
            if !isSecond { text.append(byte) }
        }
        return text
    }

    private func write(_ index: Int, _ kind: CSVColumns.Kind, _ writer: inout JSONWriter) throws(Refusal) {
        let field = fields[index]
        if field.isEmpty, !(field.isQuoted && kind.hasEmptyText) { return writer.null() }
        if !field.isDoubled, case .attribute(let type) = kind, type != .json {
            return Self.write(UnsafeRawBufferPointer(rebasing: bytes[field.start..<field.end]), type, &writer)
        }
        let text = text(field)
        switch kind {
        case .attribute(.json), .json: try writeJSON(text, index, &writer)
        case .attribute(let type), .toOne(let type): text.withUnsafeBytes { Self.write($0, type, &writer) }
        case .text: text.withUnsafeBytes { writer.string(utf8: $0) }
        case .toMany(let type):
            if text.first == UInt8(ascii: "[") { return try writeJSON(text, index, &writer) }
            writer.beginArray()
            for element in CSVList.elements(text) { element.withUnsafeBytes { Self.write($0, type, &writer) } }
            writer.endArray()
        }
    }

    /// Writes a JSON text unchanged, after checking that it is a single value.
    private func writeJSON(_ text: [UInt8], _ index: Int, _ writer: inout JSONWriter) throws(Refusal) {
        do {
            try text.span.bytes.withUnsafeBytes { bytes throws(JSONError) in
                _ = try parser.parse(bytes)
                writer.raw(bytes)
            }
        } catch {
            throw Refusal(
                field: index, message: "the field \(Excerpt.quoted(String(decoding: text, as: UTF8.self))) is not JSON: \(error.message)")
        }
    }

    private static func write(_ text: UnsafeRawBufferPointer, _ type: AttributeType, _ writer: inout JSONWriter) {
        switch type {
        case .int16, .int32, .int64, .float, .double, .decimal:
            if let number = CSVNumber.json(text) { writer.raw(number) } else { writer.string(utf8: text) }
        case .bool:
            let word = String(decoding: text.prefix(6), as: UTF8.self).lowercased()
            if word == "true" || word == "false" { writer.bool(word == "true") } else { writer.string(utf8: text) }
        default: writer.string(utf8: text)
        }
    }
}

extension CSVColumns.Kind {
    /// Whether an empty text is a value of this kind. If so, quotes distinguish an empty text from null.
    fileprivate var hasEmptyText: Bool {
        switch self {
        case .attribute(let type), .toOne(let type): type == .string || type == .data
        case .toMany, .text: true
        case .json: false
        }
    }
}

/// Numbers in the form of JSON, without leading zeros.
enum CSVNumber {
    /// Returns a number in the form of JSON, or `nil` if the text is not a number.
    static func json(_ text: UnsafeRawBufferPointer) -> String? {
        var index = 0
        func digits() -> Int {
            let start = index
            while index < text.count, text[index] >= 0x30, text[index] <= 0x39 { index += 1 }
            return index - start
        }
        let isNegative = text.first == UInt8(ascii: "-")
        if isNegative { index = 1 }
        while index + 1 < text.count, text[index] == 0x30, text[index + 1] >= 0x30, text[index + 1] <= 0x39 { index += 1 }
        let start = index
        guard digits() > 0 else { return nil }
        if index < text.count, text[index] == UInt8(ascii: ".") {
            index += 1
            guard digits() > 0 else { return nil }
        }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") { index += 1 }
            guard digits() > 0 else { return nil }
        }
        guard index == text.count else { return nil }
        return (isNegative ? "-" : "") + String(decoding: text[start...], as: UTF8.self)
    }
}

/// The members of a to-many relationship in one field: texts with semicolons between them. Within a text, a backslash precedes each
/// semicolon, backslash and opening bracket.
enum CSVList {
    static func elements(_ text: [UInt8]) -> [[UInt8]] {
        var elements: [[UInt8]] = [[]]
        var isEscaped = false
        for byte in text {
            if isEscaped || (byte != UInt8(ascii: "\\") && byte != UInt8(ascii: ";")) {
                elements[elements.count - 1].append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: ";") {
                elements.append([])
            } else {
                isEscaped = true
            }
        }
        return elements
    }

    /// Returns the text of a field from which `elements(_:)` reads the given elements.
    static func text(_ elements: [[UInt8]]) -> [UInt8] {
        var text: [UInt8] = []
        for (index, element) in elements.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ";")) }
            for byte in element {
                if byte == UInt8(ascii: ";") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "[") { text.append(UInt8(ascii: "\\")) }
                text.append(byte)
            }
        }
        return text
    }
}
