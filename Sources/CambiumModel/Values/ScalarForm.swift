package import CambiumJSON
import Glibc

/// The stored form of a scalar that was just read. The form refers to the stored bytes, and does not contain a copy of them.
package enum ScalarForm: Sendable {
    case null
    case fixed(_ low: UInt64, _ high: UInt64)
    /// The bytes of the text that was read are the stored form.
    case text
    /// The stored bytes are in the caller's scratch buffer.
    case scratch
}

/// The reason why a text or JSON value is not a value of a type.
package enum ConversionError: Error, Hashable, Sendable {
    /// The value is of the wrong kind, such as a number instead of a text.
    case wrongKind(AttributeType, found: String)
    /// The value is of the right kind but is invalid, such as a date with a 13th month.
    case malformed(AttributeType, String)
    /// The value exceeds a limit, is not JSON, or is refused by a function or a format of a mapping, for the stated reason.
    case unfit(String)

    /// Returns the error for a text that must be JSON.
    static func notJSON(_ text: String, _ error: JSONError) -> Self {
        let line = error.line == 1 ? "" : "line \(error.line), "
        return .unfit("\(Excerpt.quoted(text)) is not JSON: \(error.message), at \(line)column \(error.column)")
    }

    package var message: String {
        switch self {
        case .wrongKind(let type, let found): "expected \(type.wanted), but found \(found)"
        case .unfit(let message): message
        case .malformed(.date, let text): "expected \(DateText.wanted(insteadOf: text)), but found \(Excerpt.quoted(text))"
        case .malformed(.data, let text): "expected \(Base64.wanted(insteadOf: text)), but found \(Excerpt.quoted(text))"
        case .malformed(.decimal, let text): "expected \(DecimalNumber.wanted(insteadOf: text)), but found \(Excerpt.quoted(text))"
        case .malformed(let type, let text): "expected \(type.wanted), but found \(Excerpt.quoted(text))"
        }
    }
}

extension AttributeType {
    /// A description of a valid value, for messages.
    package var wanted: String {
        switch self {
        case .bool: "true or false"
        case .int16: "a whole number from -32768 to 32767"
        case .int32: "a whole number of 32 bits"
        case .int64: "a whole number of 64 bits"
        case .float, .double: "a finite number"
        case .decimal: "a decimal number of up to 38 digits"
        case .string: "a string"
        case .data: "a string in base64"
        case .date: "a date such as \"2026-01-31T12:00:00Z\""
        case .uuid: "a UUID"
        case .uri: "a URI"
        case .json: "JSON"
        }
    }

    /// Returns the stored form of a JSON value.
    ///
    /// - Parameter scratch: Receives the stored bytes if the result is `.scratch`. The method overwrites the previous content of `scratch`.
    package func scalarForm(
        _ tokens: JSONTokens, _ token: Int, scratch: inout [UInt8]
    ) throws(ConversionError) -> ScalarForm {
        let kind = tokens.kind(token)
        if kind == .null { return .null }
        if self == .json {
            if tokens.nests(token, deeperThan: StoredValueCheck.jsonDepthMax) {
                throw .unfit("expected JSON whose arrays and objects nest at most \(StoredValueCheck.jsonDepthMax) levels deep")
            }
            var writer = JSONWriter(escapes: .required)
            writer.write(JSONValue(tokens, token))
            scratch = writer.bytes
            return .scratch
        }
        let isFitting =
            switch self {
            case .bool: kind == .true || kind == .false
            case .int16, .int32, .int64, .float, .double, .decimal: kind == .number
            default: kind == .string
            }
        guard isFitting else { throw .wrongKind(self, found: Excerpt.described(JSONValue(tokens, token))) }
        if self == .bool { return .fixed(kind == .true ? 1 : 0, 0) }
        return try scalarForm(text: tokens.bytes(token), scratch: &scratch)
    }

    /// Returns the stored form of a text. The text is a number, a date, a UUID, base64 or a string.
    package func scalarForm(
        text: UnsafeRawBufferPointer, scratch: inout [UInt8]
    ) throws(ConversionError) -> ScalarForm {
        switch self {
        case .string: return .text
        case .int16:
            if let value = NumberText.int64(text), let value = Int16(exactly: value) { return .fixed(UInt64(UInt16(bitPattern: value)), 0) }
        case .int32:
            if let value = NumberText.int64(text), let value = Int32(exactly: value) { return .fixed(UInt64(UInt32(bitPattern: value)), 0) }
        case .int64: if let value = NumberText.int64(text) { return .fixed(UInt64(bitPattern: value), 0) }
        case .double: if let value = NumberText.double(text), value.isFinite { return .fixed(value.bitPattern, 0) }
        case .float:
            if NumberText.isNumber(text), let value = Float(String(decoding: text, as: UTF8.self)), value.isFinite {
                return .fixed(UInt64(value.bitPattern), 0)
            }
        case .bool:
            if text.elementsEqual("true".utf8) { return .fixed(1, 0) }
            if text.elementsEqual("false".utf8) { return .fixed(0, 0) }
        case .date: if let seconds = DateText.seconds(text), DateText.range.contains(seconds) { return .fixed(seconds.bitPattern, 0) }
        case .uuid: if let (low, high) = Self.uuid(text) { return .fixed(low, high) }
        case .uri: if Self.isURI(text) { return .text }
        case .decimal:
            if let number = DecimalNumber(text) {
                scratch = number.storedBytes
                return .scratch
            }
        case .data:
            scratch.removeAll(keepingCapacity: true)
            if Base64.decode(text, to: &scratch) { return .scratch }
        case .json:
            let parser = JSONParser()
            defer { withExtendedLifetime(parser) {} }  // The parser owns the tokens.
            let tokens: JSONTokens
            do throws(JSONError) {
                tokens = try parser.parse(text)
            } catch {
                throw ConversionError.notJSON(String(decoding: text, as: UTF8.self), error)
            }
            return try scalarForm(tokens, 0, scratch: &scratch)
        }
        throw .malformed(self, String(decoding: text, as: UTF8.self))
    }

    /// Whether `text` can be a URI: it is not empty, and has neither spaces nor ASCII control characters. Complexity: O(bytes).
    static func isURI(_ text: some Collection<UInt8>) -> Bool { !text.isEmpty && text.allSatisfy { $0 > 0x20 && $0 != 0x7F } }

    private static func uuid(_ text: UnsafeRawBufferPointer) -> (UInt64, UInt64)? {
        guard text.count == 36 else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        var done: UInt64 = 0
        var index = 0
        while index < 36 {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                if text[index] != 0x2D { return nil }
                index += 1
                continue
            }
            let high = NumberText.hexDigit(text[index])
            let low = NumberText.hexDigit(text[index + 1])
            if high > 15 || low > 15 { return nil }
            let byte = UInt64(high << 4 | low)
            if done < 8 { words.0 |= byte << (8 * done) } else { words.1 |= byte << (8 * (done - 8)) }
            done += 1
            index += 2
        }
        return words
    }
}

/// Parses the texts of numbers.
enum NumberText {
    @inline(__always) static func hexDigit(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: 255
        }
    }

    /// Returns a whole number. Accepts a decimal point and a power of ten if the value is whole.
    static func int64(_ text: UnsafeRawBufferPointer) -> Int64? {
        guard let first = text.first else { return nil }
        let isNegative = first == UInt8(ascii: "-")
        let digits = text.count - (isNegative ? 1 : 0)
        if digits >= 1, digits <= 18 {
            var value: Int64 = 0
            var isPlain = true
            for index in text.count - digits..<text.count {
                let digit = text[index] &- 0x30
                if digit > 9 {
                    isPlain = false
                    break
                }
                value = value &* 10 &+ Int64(digit)
            }
            if isPlain { return isNegative ? -value : value }
        }
        guard let decimal = DecimalNumber(text), decimal.exponent >= 0, decimal.exponent <= 19 else { return nil }
        var magnitude = decimal.coefficient
        for _ in 0..<decimal.exponent {
            if magnitude > UInt128(UInt64.max) { return nil }
            magnitude *= 10
        }
        return Int64(exactly: decimal.isNegative ? -Int128(magnitude) : Int128(magnitude))
    }

    static func double(_ text: UnsafeRawBufferPointer) -> Double? {
        // A `Double` represents up to 15 digits, and the powers of ten up to the 22nd, exactly. So only the quotient is rounded.
        if text.count <= 16, let fast = fastDouble(text) { return fast }
        return isNumber(text) ? Double(String(decoding: text, as: UTF8.self)) : nil
    }

    /// Whether `text` is a number in JSON syntax, except that leading zeros are allowed. The check is necessary because `Double` also
    /// accepts hexadecimal numbers and words.
    static func isNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        var rest = text[...]
        func skipDigits() -> Bool {
            let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
            rest = rest[digits.endIndex...]
            return !digits.isEmpty
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        guard skipDigits() else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard skipDigits() else { return false }
        }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest = rest.dropFirst() }
            guard skipDigits() else { return false }
        }
        return rest.isEmpty
    }

    static func isNumber(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isNumber(UnsafeRawBufferPointer($0)) }
    }

    private static func fastDouble(_ text: UnsafeRawBufferPointer) -> Double? {
        var value = 0.0
        var digits = 0
        var scale = 1.0
        var hasPoint = false
        for (index, byte) in text.enumerated() {
            if byte >= 0x30, byte <= 0x39 {
                value = value * 10 + Double(byte - 0x30)
                digits += 1
                if hasPoint { scale *= 10 }
            } else if byte == UInt8(ascii: "."), !hasPoint, digits > 0 {
                hasPoint = true
            } else if byte != UInt8(ascii: "-") || index > 0 {
                return nil
            }
        }
        guard digits > 0, digits <= 15, !hasPoint || scale > 1 else { return nil }
        return text[0] == UInt8(ascii: "-") ? -(value / scale) : value / scale
    }
}

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
