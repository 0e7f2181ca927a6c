/// The rules for names of moments.
public enum TransactionLabel {
    public static let byteCountMax = 255

    /// Throws `.invalidInput` where a name cannot be one: it is empty, too long, or has a character that does not print.
    public static func check(_ name: String) throws(CambiumError) {
        let isPrintable = name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
        if name.isEmpty || name.utf8.count > byteCountMax || !isPrintable {
            throw CambiumError(.invalidInput, "A label has 1 to \(byteCountMax) bytes of characters that print.")
        }
    }
}
