internal import CambiumJSON
import CambiumModel

/// Reads CSV texts as values. With a mapping, the type of a text is known only when the row is read.
extension RowReader {
    /// Returns whether `text` means null. An empty text means null, unless the type is string or data, because their values may be empty.
    func isNull(_ text: UnsafeRawBufferPointer, _ type: AttributeType) -> Bool {
        text.isEmpty && type != .string && type != .data
    }

    /// Returns the stored form of `text`. The text is read in the same way as in a column without a mapping.
    mutating func form(ofText text: UnsafeRawBufferPointer, _ type: AttributeType) throws(ConversionError) -> ScalarForm {
        if isNull(text, type) { return .null }
        switch type {
        case .int16, .int32, .int64, .float, .double, .decimal:
            guard let number = CSVNumber.json(text) else { throw .malformed(type, String(decoding: text, as: UTF8.self)) }
            return try type.scalarForm(copying: Array(number.utf8), scratch: &scratch)
        case .bool:
            let word = String(decoding: text.prefix(6), as: UTF8.self).lowercased()
            return try type.scalarForm(copying: Array(word.utf8), scratch: &scratch)
        default: return try type.scalarForm(text: text, scratch: &scratch)
        }
    }

    /// Returns the stored form of `text`, which the mapping computed. Reads the text in the same way as `form(ofText:_:)`.
    mutating func form(ofCopied text: String, _ type: AttributeType) throws(ConversionError) -> ScalarForm {
        let bytes = Array(text.utf8)
        let form = try bytes.span.bytes.withUnsafeBytes { bytes throws(ConversionError) in try self.form(ofText: bytes, type) }
        guard case .text = form else { return form }
        scratch = bytes
        return .scratch
    }

    /// Reads the members of a to-many relationship from `text`, which lists them.
    mutating func members(of text: UnsafeRawBufferPointer, _ link: Int, _ entity: RowEntity, _ tokens: JSONTokens) {
        for element in CSVList.elements(Array(text)) {
            member(.string(String(decoding: element, as: UTF8.self)), link, entity, tokens)
        }
    }
}
