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

    func withCell(_ body: (Cell) -> Void) {
        if cell.kind == .bytes { bytes.withUnsafeBytes { body(.bytes($0)) } } else { body(cell) }
    }
}
