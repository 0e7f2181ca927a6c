package import CambiumJSON

extension AttributeType {
    /// Returns the stored form of a JSON value. The form is never `.text`, because a `JSONValue` does not keep the bytes from which it was
    /// read.
    ///
    /// - Parameter scratch: Receives the stored bytes if the result is `.scratch`. The method overwrites the previous content of `scratch`.
    package func scalarForm(_ value: JSONValue, scratch: inout [UInt8]) throws(ConversionError) -> ScalarForm {
        if value == .null { return .null }
        if self == .json { return try scalarForm(copying: Array(value.text.utf8), scratch: &scratch) }
        switch (self, value) {
        case (.bool, .bool(let flag)): return .fixed(flag ? 1 : 0, 0)
        case (.int16, .number(let text)), (.int32, .number(let text)), (.int64, .number(let text)), (.float, .number(let text)),
            (.double, .number(let text)), (.decimal, .number(let text)):
            return try scalarForm(copying: Array(text.utf8), scratch: &scratch)
        case (.string, .string(let text)), (.data, .string(let text)), (.date, .string(let text)), (.uuid, .string(let text)),
            (.uri, .string(let text)):
            return try scalarForm(copying: Array(text.utf8), scratch: &scratch)
        default: throw .wrongKind(self, found: Excerpt.described(value))
        }
    }

    /// Returns the stored form of `text`. The caller need not keep `text`: if the form consists of the bytes of `text`, the method stores
    /// them in `scratch`.
    package func scalarForm(copying text: [UInt8], scratch: inout [UInt8]) throws(ConversionError) -> ScalarForm {
        let form = try text.withUnsafeBytes { bytes -> Result<ScalarForm, ConversionError> in
            do throws(ConversionError) {
                return .success(try scalarForm(text: bytes, scratch: &scratch))
            } catch {
                return .failure(error)
            }
        }.get()
        guard case .text = form else { return form }
        scratch = text
        return .scratch
    }
}
