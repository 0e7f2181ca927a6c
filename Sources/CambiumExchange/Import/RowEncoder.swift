import CambiumModel
import FoundationEssentials

/// Writes values of a program as the JSON rows that an import reads: dates with their fractions, data in base64.
package struct RowEncoder {
    private let encoder = JSONEncoder()

    package init() {
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(Value.date(date).text)
        }
    }

    /// Returns a row and the end of its line.
    package func line(_ row: some Encodable) throws -> [UInt8] {
        var bytes = Array(try encoder.encode(row))
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}

extension ImportSource {
    /// Returns values of a program as rows. Their coding keys are the keys of a row; a key that they do not encode is missing.
    ///
    ///     try store.importRows(person, from: [.rows(people)])
    ///
    /// Each value is encoded when the import reads it. An error of the encoding ends the import.
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
