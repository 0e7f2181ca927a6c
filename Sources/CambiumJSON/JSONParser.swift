internal import CSimdJSON

/// An error in a JSON text, with its position.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    /// The byte offset from the beginning of the text.
    public let offset: Int
    /// The line, counted from 1.
    public let line: Int
    /// The column in bytes, counted from 1.
    public let column: Int

    public var description: String { "line \(line), column \(column): \(message)" }
}

/// A parser for complete JSON documents (RFC 8259). It validates UTF-8, escapes, numbers and nesting, and refuses duplicate keys.
///
/// One parser can parse any number of documents, one after the other. The tokens of a document are valid until the next call to `parse`.
/// Only one thread at a time may use a parser. Complexity: O(bytes), and O(n log n) for the keys of an object with n members.
public final class JSONParser {
    /// The maximum depth to which arrays and objects may nest. A row may have 65 nested objects of up to two levels each, and inside them a
    /// JSON value of 512 levels. The remaining levels are for the paths of mappings.
    public static let depthMax = 700

    private let parser: OpaquePointer

    public init() {
        guard let parser = csimdjson_create() else {
            preconditionFailure("The process has no memory left for a JSON parser. Give the process more memory.")
        }
        self.parser = parser
    }

    deinit { csimdjson_destroy(parser) }

    /// Returns the tokens of the only document in `bytes`. The caller must neither move nor free the bytes while it uses the tokens.
    public func parse(_ bytes: UnsafeRawBufferPointer) throws(JSONError) -> JSONTokens {
        var tokens: UnsafePointer<csimdjson_token>?
        var count = 0
        var strings: UnsafePointer<UInt8>?
        var position = 0
        // SAFETY: the buffer is passed with its own length, and the shim reads nothing beyond it.
        let code = csimdjson_parse(
            parser, bytes.assumingMemoryBound(to: UInt8.self).baseAddress, bytes.count, UInt32(Self.depthMax), &tokens,
            &count, &strings, &position)
        guard Int(code) == CSIMDJSON_OK, let tokens else { throw Self.error(code, position, bytes) }
        return JSONTokens(
            tokens: UnsafeRawBufferPointer(start: tokens, count: count * MemoryLayout<csimdjson_token>.stride), source: bytes,
            strings: UnsafeRawPointer(strings))
    }

    private static func error(_ code: Int32, _ position: Int, _ bytes: UnsafeRawBufferPointer) -> JSONError {
        var line = 1
        var lineStart = 0
        for index in 0..<min(position, bytes.count) where bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        let isDuplicate = Int(code) == CSIMDJSON_DUPLICATE_KEY
        var message = isDuplicate ? "the object has the key \(key(bytes, position)) twice" : message(code)
        if Int(code) == CSIMDJSON_NO_COMMA, position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
            message += " before \(key(bytes, position))"
        }
        return JSONError(message: message, offset: position, line: line, column: position - lineStart + 1)
    }

    /// The maximum number of bytes of a key in a message.
    private static let shownKeyByteCountMax = 100

    /// Returns the key at a position in quotation marks, for a message. The key has no needless escapes, because the two equal keys of an
    /// object may be written with different escapes.
    private static func key(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> String {
        guard position < bytes.count else { return "" }
        var end = position + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        let written = bytes[position..<min(end + 1, bytes.count)]
        let key = (try? JSONValue(parsing: written)).map { Array($0.text.utf8) } ?? Array(written)
        if key.count <= shownKeyByteCountMax { return String(decoding: key, as: UTF8.self) }
        // If the limit splits a character, the message omits the character.
        let kept = key.prefix(shownKeyByteCountMax)
        let whole = kept.prefix(kept.lastIndex { $0 & 0xC0 != 0x80 }.map { $0 - kept.startIndex } ?? 0)
        return String(decoding: whole, as: UTF8.self) + "...\""
    }

    private static func message(_ code: Int32) -> String {
        switch Int(code) {
        case CSIMDJSON_EMPTY: "the document has no value"
        case CSIMDJSON_TOO_DEEP: "arrays and objects nest more than \(depthMax) levels deep"
        case CSIMDJSON_ESCAPE: "a string has an escape that JSON does not define"
        case CSIMDJSON_SURROGATE: "a string has a lone surrogate, half of a pair such as \\ud83d\\ude00; write both halves"
        case CSIMDJSON_CONTROL: "a string has a control character; write it as \\u00XX"
        case CSIMDJSON_UNCLOSED_STRING: "a string does not end; its closing quotation mark is missing"
        case CSIMDJSON_UTF8: "the text has bytes that are not UTF-8"
        case CSIMDJSON_BAD_NUMBER: "a number is malformed; write a number such as -12.5"
        case CSIMDJSON_BAD_LITERAL: "a word is not true, false or null; write text in double quotation marks"
        case CSIMDJSON_TRAILING: "more text follows the value"
        case CSIMDJSON_NO_KEY: "expected a key in double quotation marks"
        case CSIMDJSON_NO_COLON: "expected ':' after a key"
        case CSIMDJSON_NO_COMMA: "expected ',' or a closing bracket"
        case CSIMDJSON_UNCLOSED: "an array or an object does not end; its closing bracket is missing"
        case CSIMDJSON_MEMORY: "the process has too little memory for the document"
        default: "expected a value"
        }
    }
}
