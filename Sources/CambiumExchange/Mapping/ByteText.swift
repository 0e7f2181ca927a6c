/// Texts as bytes. Comparing bytes distinguishes spellings that Unicode treats as equal.
enum ByteText {
    /// Returns the parts between the separators, or the whole text if the separator is empty. Complexity: O(bytes x bytes of the
    /// separator).
    static func split(_ bytes: [UInt8], _ separator: [UInt8]) -> [ArraySlice<UInt8>] {
        if separator.isEmpty { return [bytes[...]] }
        var parts: [ArraySlice<UInt8>] = []
        var start = 0
        var index = 0
        while index < bytes.count {
            if bytes[index...].starts(with: separator) {
                parts.append(bytes[start..<index])
                index += separator.count
                start = index
            } else {
                index += 1
            }
        }
        parts.append(bytes[start...])
        return parts
    }
}
