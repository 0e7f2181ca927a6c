internal import CambiumJSON
import CambiumModel

extension ReadingPlan.Conversion {
    /// Whether the conversion has a format for dates or for numbers.
    var hasFormat: Bool { dates != nil || numbers != nil }

    /// Reads a text or number in the date formats or the number format of the mapping, and returns the stored form of the result. Returns
    /// `nil` if the mapping has no format for the value; the caller then reads the value without a format.
    ///
    /// - Parameter scratch: takes the stored bytes if the result is `.scratch`. The method overwrites the earlier content of `scratch`.
    func form(
        _ bytes: UnsafeRawBufferPointer, _ isText: Bool, _ isNumber: Bool, _ type: AttributeType, scratch: inout [UInt8]
    ) throws(ConversionError) -> ScalarForm? {
        guard isText || isNumber else { return nil }
        if let dates {
            guard let seconds = dates.seconds(bytes, isNumber: isNumber) else {
                throw .unfit("no date format of the mapping matches \(Excerpt.quoted(String(decoding: bytes, as: UTF8.self)))")
            }
            return .fixed((seconds + 0).bitPattern, 0)
        }
        guard isText, let numbers else { return nil }
        guard let plain = numbers.plain(bytes) else {
            let found = Excerpt.quoted(String(decoding: bytes, as: UTF8.self))
            throw .unfit("expected \(type.wanted) in the format of the mapping (\(numbers.marks)), but found \(found)")
        }
        return try type.scalarForm(copying: plain, scratch: &scratch)
    }
}

extension AttributeType {
    /// Reads a JSON value in the date formats or the number format of a mapping, and returns the stored form of the result. The caller has
    /// already applied the functions of the mapping to the value.
    func scalarForm(
        _ value: JSONValue, _ conversion: ReadingPlan.Conversion?, scratch: inout [UInt8]
    ) throws(ConversionError) -> ScalarForm {
        guard let conversion else { return try scalarForm(value, scratch: &scratch) }
        let (text, isText): (String, Bool)
        switch value {
        case .string(let own): (text, isText) = (own, true)
        case .number(let own): (text, isText) = (own, false)
        default: return try scalarForm(value, scratch: &scratch)
        }
        let form = try Array(text.utf8).withUnsafeBytes { bytes -> Result<ScalarForm?, ConversionError> in
            Result { () throws(ConversionError) in try conversion.form(bytes, isText, !isText, self, scratch: &scratch) }
        }.get()
        if let form { return form }
        return try scalarForm(value, scratch: &scratch)
    }
}

extension [ValueFunction] {
    /// Applies these functions to a value, in order.
    func apply(_ value: JSONValue) throws(ConversionError) -> JSONValue {
        var value = value
        for function in self {
            do throws(ValueFunction.Mismatch) {
                value = try function.apply(value)
            } catch {
                throw .unfit(error.message)
            }
        }
        return value
    }
}
