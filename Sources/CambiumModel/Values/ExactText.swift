/// A text that equals another one only if both have the same bytes, for sets and dictionaries. `String` also equates spellings that Unicode
/// treats as equal.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
