import CambiumModel

/// A value in its stored form, owning its bytes: from an op to a column.
struct StoredCell {
    private let cell: Cell
    private let bytes: [UInt8]

    /// Throws `.invalidInput` where the value is not of the attribute's type.
    init(_ value: Value, _ attribute: Attribute) throws(CambiumError) {
        if value.isNull {
            cell = .null
            bytes = []
            return
        }
        guard let form = StoredForm(value, type: attribute.type) else {
            throw CambiumError(.invalidInput, "'\(attribute.name)' is \(attribute.type.rawValue), and the value given is not.")
        }
        switch form {
        case .fixed(let low, let high):
            guard attribute.type != .date || StoredForm.isDate(low) else {
                throw CambiumError(.invalidInput, "'\(attribute.name)' is a date of the years 1 to 9999, and the value given is not.")
            }
            cell = .fixed(low, high)
            bytes = []
        case .bytes(let stored):
            guard stored.count <= Blob.byteCountMax else {
                throw CambiumError(
                    .limitExceeded, "A value has at most \(Blob.byteCountMax) bytes; '\(attribute.name)' has \(stored.count).")
            }
            cell = Cell(kind: .bytes)
            bytes = stored
        }
    }

    func withCell<R>(_ body: (Cell) -> R) -> R {
        cell.kind == .bytes ? bytes.withUnsafeBytes { body(.bytes($0)) } : body(cell)
    }
}

extension Attribute {
    /// Calls `body` with a value in its stored form, its bytes where they are.
    ///
    /// Throws `.invalidInput` where the value is not of the attribute's type.
    func withCell(of value: Value, _ body: (Cell) -> Bool) throws(CambiumError) -> Bool {
        if type.byteCount != nil, case .fixed(let low, let high)? = StoredForm(value, type: type) { return body(.fixed(low, high)) }
        guard type == .string, case .string(let text) = value, text.utf8.count <= Blob.byteCountMax else {
            return try StoredCell(value, self).withCell(body)
        }
        return text.utf8Span.span.bytes.withUnsafeBytes { body(.bytes($0)) }
    }
}
