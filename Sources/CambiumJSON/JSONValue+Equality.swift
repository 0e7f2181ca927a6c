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
