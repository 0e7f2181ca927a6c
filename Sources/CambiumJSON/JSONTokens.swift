internal import CSimdJSON

/// The values of a parsed document, in document order, as numbers of tokens: 0 is the document's value.
///
/// SAFETY: valid as long as neither the source moves nor its parser parses something else; nobody keeps one longer than the
/// call in which it was made.
public struct JSONTokens {
    public enum Kind: UInt8, Sendable {
        case null = 0
        case `false` = 1
        case `true` = 2
        case number = 3
        case string = 4
        case array = 5
        case object = 6
    }

    private let tokens: UnsafePointer<csimdjson_token>
    private let source: UnsafeRawPointer?
    private let strings: UnsafeRawPointer?
    public let count: Int

    init(tokens: UnsafeRawBufferPointer, source: UnsafeRawBufferPointer, strings: UnsafeRawPointer?) {
        guard let base = tokens.baseAddress else { preconditionFailure("A parsed document has at least one token.") }
        self.tokens = base.assumingMemoryBound(to: csimdjson_token.self)
        count = tokens.count / MemoryLayout<csimdjson_token>.stride
        self.source = source.baseAddress
        self.strings = strings
    }

    public func kind(_ token: Int) -> Kind { Kind(rawValue: UInt8(truncatingIfNeeded: tokens[token].kind)) ?? .null }

    /// How many elements an array, or members an object, has.
    public func memberCount(_ token: Int) -> Int { Int(tokens[token].count) }

    /// The token behind a value and all that is in it: the next element or key.
    public func next(_ token: Int) -> Int { Int(tokens[token].next) }

    /// The bytes of a string, unescaped, or the text of a number.
    public func bytes(_ token: Int) -> UnsafeRawBufferPointer {
        let token = tokens[token]
        let base = token.kind >> 8 == 0 ? source : strings
        guard let base else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: base + Int(token.offset), count: Int(token.count))
    }

    public func string(_ token: Int) -> String { String(decoding: bytes(token), as: UTF8.self) }

    /// Calls `body` with the key and the value of each member of an object, until it returns false.
    @inline(__always)
    public func forEachMember(_ object: Int, _ body: (_ key: Int, _ value: Int) throws -> Void) rethrows {
        var key = object + 1
        let end = next(object)
        while key < end {
            try body(key, key + 1)
            key = next(key + 1)
        }
    }

    @inline(__always)
    public func forEachElement(_ array: Int, _ body: (_ element: Int) throws -> Void) rethrows {
        var element = array + 1
        let end = next(array)
        while element < end {
            try body(element)
            element = next(element)
        }
    }
}
