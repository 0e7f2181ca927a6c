package import CambiumModel

extension Attribute {
    /// Returns the value that a graph contains after `value` was stored in this attribute. Storing may change the representation: for
    /// example, a date of -0.0 seconds becomes 0.0.
    ///
    /// Throws `.invalidInput` if the value does not fit the type, and `.limitExceeded` if it is too long. Complexity: O(bytes of the
    /// value).
    package func stored(_ value: Value) throws(CambiumError) -> Value {
        _ = try StoredCell(value, self)
        guard let form = StoredForm(value, type: type) else { return .null }
        return Value(stored: form, type: type) ?? value
    }
}
