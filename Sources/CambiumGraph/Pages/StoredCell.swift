import CambiumModel

/// A checked value of an op in its stored form, before it is written to a column.
enum StoredCell {
    case null
    case fixed(UInt64, UInt64)
    case bytes([UInt8])
    /// A text. Its bytes are not copied before they are stored.
    case text(String)

    /// Throws `.invalidInput` if the value does not fit the attribute's type, and `.limitExceeded` if the value is too long.
    init(_ value: Value, _ attribute: Attribute) throws(CambiumError) {
        if value.isNull {
            self = .null
            return
        }
        if attribute.type == .string, case .string(let text) = value {
            try Self.checkLength(text.utf8.count, attribute)
            self = .text(text)
            return
        }
        guard let form = StoredForm(value, type: attribute.type) else {
            let type = attribute.type
            throw CambiumError(.invalidInput, "'\(attribute.name)' is of type \(type.rawValue), \(Self.mismatch(value, type)).")
        }
        if case .bytes(let stored) = form { try Self.checkLength(stored.count, attribute) }
        var check = StoredValueCheck(attribute.type)
        if let flaw = check.flaw(form) {
            throw CambiumError(.invalidInput, "The value given for '\(attribute.name)' \(flaw).")
        }
        switch form {
        case .fixed(let low, let high): self = .fixed(low, high)
        case .bytes(let stored): self = .bytes(stored)
        }
    }

    /// Returns the end of the message about a value of the wrong type: the reason, and the case of `Value` that the caller must pass.
    private static func mismatch(_ value: Value, _ type: AttributeType) -> String {
        let kind = Mirror(reflecting: value).children.first?.label ?? "null"
        switch type {
        case .int16, .int32, .int64:
            if case .int(let number) = value { return "whose range does not include \(number). Pass a number in this range" }
            return "but the given value is of the kind .\(kind). Pass .int"
        default: return "but the given value is of the kind .\(kind). Pass .\(type.rawValue)"
        }
    }

    /// Copies a value of a column.
    init(copying cell: Cell) {
        switch cell.kind {
        case .null: self = .null
        case .fixed: self = .fixed(cell.low, cell.high)
        case .bytes: self = .bytes([UInt8](cell.bytes))
        }
    }

    private static func checkLength(_ byteCount: Int, _ attribute: Attribute) throws(CambiumError) {
        guard byteCount > Blob.byteCountMax else { return }
        throw CambiumError(
            .limitExceeded,
            "A value has at most \(Blob.byteCountMax) bytes, but the value for '\(attribute.name)' has \(byteCount). Pass a shorter value.")
    }

    @inline(__always) var isNull: Bool { if case .null = self { true } else { false } }

    @inline(__always)
    func withCell<R>(_ body: (Cell) -> R) -> R {
        switch self {
        case .null: body(.null)
        case .fixed(let low, let high): body(.fixed(low, high))
        case .bytes(let bytes): bytes.withUnsafeBytes { body(.bytes($0)) }
        case .text(let text): text.utf8Span.span.bytes.withUnsafeBytes { body(.bytes($0)) }
        }
    }
}

/// A value that an op stores, and the column that it is stored in.
struct AssignedCell {
    let slot: Int
    let cell: StoredCell
}
