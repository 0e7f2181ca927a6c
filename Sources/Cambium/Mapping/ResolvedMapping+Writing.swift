import CambiumJSON
import CambiumModel

extension ResolvedMapping.Conversion {
    /// Of attributes about which a mapping says nothing.
    static let plain = ResolvedMapping.Conversion(functions: [], dates: nil, numbers: nil)

    /// The value that functions and formats make of JSON.
    func value(_ json: JSONValue, _ type: AttributeType) throws(ConversionError) -> Value {
        try converted(try functions.apply(json), type)
    }

    /// The value that formats make of JSON to which the functions were applied.
    func converted(_ json: JSONValue, _ type: AttributeType) throws(ConversionError) -> Value {
        var scratch: [UInt8] = []
        let form = try type.scalarForm(json, self, scratch: &scratch)
        return Value(form, UnsafeRawBufferPointer(start: nil, count: 0), scratch, type)
    }

    /// A value in the first format that reads it; as it is where there is none.
    func json(_ value: Value, _ plain: JSONValue) -> JSONValue {
        if let dates, case .date(let date) = value { return dates.json(date.timeIntervalSinceReferenceDate) ?? plain }
        if let numbers, case .number(let text) = plain { return .string(numbers.text(text)) }
        return plain
    }
}

extension Value {
    /// The value as JSON, as objects are written.
    var json: JSONValue {
        switch self {
        case .null: return .null
        case .bool(let flag): return .bool(flag)
        case .string(let text), .uri(let text): return .string(text)
        case .int, .float, .double, .decimal: return .number(text)
        case .data, .date, .uuid: return .string(text)
        // What is stored was parsed before.
        case .json(let text): return (try? JSONValue(parsing: text.utf8)) ?? .null
        }
    }
}
