/// A JSON value as a tree. Members keep their order, and numbers keep their digits.
///
/// ```swift
/// let row = JSONValue.object([.init("title", .string("Paris")), .init("days", .number("3"))])
/// print(row["title"] == .string("Paris"), row.text)  // true {"title":"Paris","days":3}
/// ```
///
/// Equal values have the same members in the same order, and their numbers and texts are the same byte by byte.
public indirect enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The text of the number.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// A key of an object and its value.
    public struct Member: Hashable, Sendable {
        /// The key.
        public let key: String
        /// The value.
        public let value: JSONValue

        /// Creates a member.
        public init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    /// Parses one document.
    package init(parsing text: some Sequence<UInt8>) throws(JSONError) {
        let parser = JSONParser()
        let bytes = Array(text)
        let result: Result<JSONValue, JSONError> = bytes.withUnsafeBytes { bytes in
            do throws(JSONError) {
                let tokens = try parser.parse(bytes)
                return .success(JSONValue(tokens, 0))
            } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    /// Creates the tree of a token. The recursion is bounded, because the parser limits the depth.
    package init(_ tokens: JSONTokens, _ token: Int) {
        switch tokens.kind(token) {
        case .null: self = .null
        case .false: self = .bool(false)
        case .true: self = .bool(true)
        case .number: self = .number(tokens.string(token))
        case .string: self = .string(tokens.string(token))
        case .array:
            var elements: [JSONValue] = []
            tokens.forEachElement(token) { elements.append(JSONValue(tokens, $0)) }
            self = .array(elements)
        case .object:
            var members: [Member] = []
            tokens.forEachMember(token) { members.append(Member(tokens.string($0), JSONValue(tokens, $1))) }
            self = .object(members)
        }
    }

    /// The value of the member with a key. It is `nil` if this value is not an object, or if the object has no such member. Keys are
    /// compared by their bytes.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }

    /// The value as compact text, with only the escapes that JSON requires. A store contains JSON values in this form.
    public var text: String {
        var writer = JSONWriter(escapes: .required)
        writer.write(self)
        return writer.text
    }

    /// The kind of the value, for messages.
    package var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

// Texts are compared by their bytes, because two strings with different bytes can be equal in Swift.

extension JSONValue {
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)), (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .number(let text), .string(let text): hasher.combine(bytesOf: text)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }
}

extension JSONValue.Member {
    public static func == (left: Self, right: Self) -> Bool { left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytesOf: key)
        hasher.combine(value)
    }
}

extension Hasher {
    fileprivate mutating func combine(bytesOf text: String) {
        for byte in text.utf8 { combine(byte) }
        combine(UInt8(255))
    }
}
