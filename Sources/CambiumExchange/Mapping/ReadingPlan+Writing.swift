internal import CambiumJSON
import CambiumModel

extension ReadingPlan.Conversion {
    /// The conversion of attributes for which a mapping has no rule.
    static let plain = ReadingPlan.Conversion(functions: [], dates: nil, numbers: nil)

    /// Applies the functions of the mapping to a JSON value, reads the result in the mapping's date or number format, and returns the
    /// attribute's value.
    func value(_ json: JSONValue, _ type: AttributeType) throws(ConversionError) -> Value {
        try converted(try functions.apply(json), type)
    }

    /// Reads a JSON value in the mapping's date or number format, and returns the attribute's value. The caller has already applied the
    /// functions of the mapping.
    func converted(_ json: JSONValue, _ type: AttributeType) throws(ConversionError) -> Value {
        var scratch: [UInt8] = []
        let form = try type.scalarForm(json, self, scratch: &scratch)
        return Value(form, UnsafeRawBufferPointer(start: nil, count: 0), scratch, type)
    }

    /// Returns a date in the first format that reads back as the same date, and a number in the number format. For any other value, or if
    /// no format fits, returns `plain`: the JSON that an export without a mapping writes for the value.
    func json(_ value: Value, _ plain: JSONValue) -> JSONValue {
        if let dates, case .date(let date) = value { return dates.json(date.timeIntervalSinceReferenceDate) ?? plain }
        if let numbers, case .number(let text) = plain { return .string(numbers.text(text)) }
        return plain
    }
}

extension Value {
    /// The value as JSON, in the form that exports write.
    var json: JSONValue {
        switch self {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .string(let text), .uri(let text): return .string(text)
        case .int, .float, .double, .decimal: return .number(text)
        case .data, .date, .uuid: return .string(text)
        // Stored JSON was parsed before it was stored, so parsing it again succeeds.
        case .json(let text): return (try? JSONValue(parsing: text.utf8)) ?? .null
        }
    }
}
