/// The values of a parsed document, in document order. Each value is identified by the number of its token. Token 0 is the document's
/// value.
///
/// SAFETY: the tokens are valid until the bytes of the document move, or until its parser parses another document. Each caller parses a
/// document and uses its tokens within one function.
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

    /// The size of a token, and the offsets of its fields, as in `csimdjson_token`. The constants are visible to other modules, so that the
    /// compiler can inline the accessors.
    @usableFromInline
    enum Layout {
        @usableFromInline static var stride: Int { 16 }
        @usableFromInline static var count: Int { 4 }
        @usableFromInline static var offset: Int { 8 }
        @usableFromInline static var next: Int { 12 }
    }

    @usableFromInline let tokens: UnsafeRawPointer
    @usableFromInline let source: UnsafeRawPointer?
    @usableFromInline let strings: UnsafeRawPointer?
    public let count: Int

    init(tokens: UnsafeRawBufferPointer, source: UnsafeRawBufferPointer, strings: UnsafeRawPointer?) {
        guard let base = tokens.baseAddress else { preconditionFailure("A parsed document has at least one token.") }
        self.tokens = base
        count = tokens.count / Layout.stride
        self.source = source.baseAddress
        self.strings = strings
    }

    @inlinable @inline(__always)
    func number(_ token: Int, _ field: Int) -> UInt32 { tokens.load(fromByteOffset: token &* Layout.stride &+ field, as: UInt32.self) }

    @inlinable @inline(__always)
    public func kind(_ token: Int) -> Kind { Kind(rawValue: UInt8(truncatingIfNeeded: number(token, 0))) ?? .null }

    /// Returns the number of elements of an array, or of members of an object.
    public func memberCount(_ token: Int) -> Int { Int(number(token, Layout.count)) }

    /// Returns the token that follows a value and everything inside the value: the next element or key.
    @inlinable @inline(__always)
    public func next(_ token: Int) -> Int { Int(number(token, Layout.next)) }

    /// Returns the bytes of a string, unescaped, or the text of a number.
    @inlinable @inline(__always)
    public func bytes(_ token: Int) -> UnsafeRawBufferPointer {
        let base = number(token, 0) &>> 8 == 0 ? source : strings
        guard let base else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: base + Int(number(token, Layout.offset)), count: Int(number(token, Layout.count)))
    }

    /// Returns whether the arrays and objects of a value nest more than `limit` levels deep.
    package func nests(_ token: Int, deeperThan limit: Int) -> Bool {
        guard next(token) - token > limit else { return false }
        var ends: [Int] = []  // The ends of the arrays and objects that contain the token `inner`.
        for inner in token..<next(token) {
            while let end = ends.last, end <= inner { ends.removeLast() }
            guard kind(inner) == .array || kind(inner) == .object else { continue }
            if ends.count == limit { return true }
            ends.append(next(inner))
        }
        return false
    }

    public func string(_ token: Int) -> String { String(decoding: bytes(token), as: UTF8.self) }

    /// Calls `body` with the key and the value of each member of an object.
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
