/// The rules for labels, which are names of moments.
package enum TransactionLabel {
    package static let byteCountMax = 255

    /// Whether a name can be a label: it is not empty, not too long, and has no ASCII control character. Complexity: O(bytes).
    package static func isValid(_ name: String) -> Bool {
        let isPrintable = name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        return !name.isEmpty && name.utf8.count <= byteCountMax && isPrintable
    }

    /// Checks that a name can be a label; otherwise, throws `.invalidInput`.
    package static func check(_ name: String) throws(CambiumError) {
        if isValid(name) { return }
        throw CambiumError(.invalidInput, "A label must have 1 to \(byteCountMax) bytes and no control characters. Choose another name.")
    }
}
