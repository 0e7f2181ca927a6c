internal import CambiumJSON

/// A check of whether stored bits or bytes are a value of an attribute's type. The check applies to values in ops, in the columns of blocks
/// and in pages. Section 4 of Docs/Formats/FORMAT.md, "Stored values", has the rule of each type. Constraints of the schema are not checked
/// here.
///
///     var check = StoredValueCheck(.double)
///     check.flaw(fixed: Double.nan.bitPattern, 0)  // "is not a finite number"
package struct StoredValueCheck {
    /// The maximum number of bytes of a value.
    package static let byteCountMax = 256 << 20
    /// The maximum depth to which the arrays and objects of a JSON value may nest.
    package static let jsonDepthMax = 512

    let type: AttributeType
    /// The JSON parser, which is created for the first JSON text.
    private var parser: JSONParser?

    package init(_ type: AttributeType) { self.type = type }

    // MARK: One value

    /// Returns a text that describes what is wrong with the bits of a value of fixed width, or `nil` if the bits are valid. The caller puts
    /// the name of the value before the text to form a sentence.
    @inline(__always)
    package func flaw(fixed low: UInt64, _ high: UInt64) -> String? { Self.isValid(type, low, high) ? nil : Self.flaw(type) }

    @inline(__always) static func isValid(_ type: AttributeType, _ low: UInt64, _ high: UInt64) -> Bool {
        switch type {
        case .uuid: true
        case .bool: low <= 1 && high == 0
        case .int16: low <= UInt64(UInt16.max) && high == 0
        case .int32: low <= UInt64(UInt32.max) && high == 0
        case .int64: high == 0
        case .float: low <= UInt64(UInt32.max) && high == 0 && low & floatExponent != floatExponent
        case .double: low & doubleExponent != doubleExponent && high == 0
        case .date: StoredForm.isDate(low) && high == 0
        case .decimal, .string, .data, .uri, .json: false
        }
    }

    static let floatExponent: UInt64 = 0x7F80_0000
    static let doubleExponent: UInt64 = 0x7FF0_0000_0000_0000

    /// Returns a text that describes what is wrong with the bytes of a value, or `nil` if the bytes are valid.
    package mutating func flaw(bytes: UnsafeRawBufferPointer) -> String? {
        if bytes.count > Self.byteCountMax { return "has more than \(Self.byteCountMax) bytes" }
        let isValid: Bool =
            switch type {
            case .data: true
            case .string, .uri: Self.encoding(bytes).isUTF8
            case .decimal: Self.isDecimal(bytes)
            case .json: isJSON(bytes)
            default: false
            }
        return isValid ? nil : Self.flaw(type)
    }

    package mutating func flaw(_ form: StoredForm) -> String? {
        switch form {
        case .fixed(let low, let high): flaw(fixed: low, high)
        case .bytes(let bytes): bytes.withUnsafeBytes { flaw(bytes: $0) }
        }
    }

    static func flaw(_ type: AttributeType) -> String {
        switch type {
        case .bool: "is neither true nor false"
        case .int16, .int32, .int64: "is not \(type.wanted)"
        case .float, .double: "is not a finite number"
        case .date: "is not a date in the years 1 to 9999"
        case .decimal: "is not a decimal number in its shortest form"
        case .string, .uri: "is not UTF-8"
        case .json: "is not one JSON value of at most \(jsonDepthMax) levels without spaces between its parts"
        case .data, .uuid: "does not fit its type"
        }
    }

    /// Whether the bytes are UTF-8, and whether all of them are ASCII.
    static func encoding(_ bytes: UnsafeRawBufferPointer) -> (isUTF8: Bool, isASCII: Bool) {
        do throws(UTF8.ValidationError) {
            // SAFETY: the bytes are bound to no type, and the span does not outlive the call that received the buffer.
            let text = try UTF8Span(validating: bytes.assumingMemoryBound(to: UInt8.self).span)
            return (true, text.isKnownASCII)
        } catch {
            return (false, false)  // The position of the flaw does not matter.
        }
    }

    /// Returns whether the bytes are a decimal number. The first branch accepts most numbers without a slow division of 128 bits. The
    /// coefficients of these numbers have at most 64 bits and do not end in zero.
    private static func isDecimal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if (3...10).contains(bytes.count), bytes[0] == 1 || bytes[0] == 2, bytes[2] != 0 {
            let coefficient = bytes[2...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            if coefficient % 10 != 0 { return true }
        }
        return DecimalNumber(storedBytes: bytes) != nil
    }

    // MARK: JSON

    private mutating func isJSON(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.isEmpty { return false }
        let parser = self.parser ?? JSONParser()
        self.parser = parser
        // The parser's error is dropped, because one sentence states the requirements for all JSON texts.
        guard let tokens = try? parser.parse(bytes), !tokens.nests(0, deeperThan: Self.jsonDepthMax) else { return false }
        return Self.isCompact(bytes)
    }

    /// Whether a JSON text has no space outside its strings.
    private static func isCompact(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.contains(where: { $0 <= 0x20 }) else { return true }
        var (isInString, isEscaped) = (false, false)
        for byte in text {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isInString.toggle()
            } else if isInString {
                isEscaped = byte == UInt8(ascii: "\\")
            } else if byte <= 0x20 {
                return false
            }
        }
        return true
    }
}
