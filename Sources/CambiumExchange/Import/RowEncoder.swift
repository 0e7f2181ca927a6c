import CambiumModel
import FoundationEssentials

/// Encodes the values of a program as JSON rows for an import. Dates keep their fractions, and data becomes base64.
package struct RowEncoder {
    private let encoder = JSONEncoder()

    package init() {
        encoder.dateEncodingStrategy = .exactText("Rows can contain only dates in the years 1 to 9999.")
    }

    /// Returns the JSON of a row, followed by a line end.
    package func line(_ row: some Encodable) throws -> [UInt8] {
        var bytes = Array(try encoder.encode(row))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}

extension JSONEncoder.DateEncodingStrategy {
    /// Encodes dates as texts that an import reads back exactly. If no text can represent a date exactly, throws
    /// `EncodingError.invalidValue` with the message `refusal`.
    package static func exactText(_ refusal: String) -> Self {
        .custom { date, encoder in
            guard let text = DateText.exactText(date.timeIntervalSinceReferenceDate) else {
                throw EncodingError.invalidValue(date, .init(codingPath: encoder.codingPath, debugDescription: refusal))
            }
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }
}

extension ImportSource {
    /// Returns the values of a program as rows. The coding keys of a value become the keys of its row. A key that the value does not encode
    /// is missing in the row.
    ///
    /// ```swift
    /// let report = try store.importRows(person, from: [.rows(people)])
    /// ```
    ///
    /// Each value is encoded when the import reads it. If the encoding throws, the import ends.
    public static func rows<Rows: Collection & Sendable>(_ rows: Rows, name: String = "rows") -> ImportSource
    where Rows.Element: Encodable {
        ImportSource(name: name, isRepeatable: true) {
            let encoder = RowEncoder()
            var next = rows.startIndex
            var line: ArraySlice<UInt8> = []
            return { buffer in
                var filled = 0
                while filled < buffer.count {
                    if line.isEmpty {
                        if next == rows.endIndex { break }
                        line = try encoder.line(rows[next])[...]
                        next = rows.index(after: next)
                    }
                    let count = min(line.count, buffer.count - filled)
                    UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]).copyBytes(from: line.prefix(count))
                    line = line.dropFirst(count)
                    filled += count
                }
                return filled
            }
        }
    }
}
