import CambiumModel
@_spi(_Unicode) import Swift

extension Folding {
    /// Calls `body` with the folded text, in which the differences that the folding ignores are removed. Bytes that are not UTF-8 are
    /// replaced.
    func withFolded<Result>(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if isEmpty { return body(bytes) }
        var folded: [UInt8] = []
        folded.reserveCapacity(bytes.count)
        if bytes.allSatisfy({ $0 < 0x80 }) {
            if !contains(.caseInsensitive) { return body(bytes) }
            for byte in bytes { folded.append(byte &- 0x41 < 26 ? byte | 0x20 : byte) }
        } else {
            folded = Array(self.folded(String(decoding: bytes, as: UTF8.self)).utf8)
        }
        return folded.withUnsafeBytes(body)
    }

    func folded(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { withFolded($0) { [UInt8]($0) } } }

    /// Returns the folded text, in which the differences that the folding ignores are removed.
    func folded(_ text: String) -> String {
        let base = contains(.diacriticInsensitive) ? Self.withoutDiacritics(text) : text
        return contains(.caseInsensitive) ? CaseFolding.folded(base) : base
    }

    /// Calls `body` with the folded text in the form in which it is compared with a pattern. If diacritics are ignored, the folded text is
    /// composed again: folding divides a syllable of Hangul into several characters, but a wildcard matches one character.
    func withComposed<Result>(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if isEmpty || bytes.allSatisfy({ $0 < 0x80 }) { return withFolded(bytes, body) }
        return Array(composed(String(decoding: bytes, as: UTF8.self)).utf8).withUnsafeBytes(body)
    }

    /// Returns a pattern, or a text that is compared with a pattern, after folding. If diacritics are ignored, the folded text is composed
    /// again, as `withComposed` explains.
    func composed(_ text: String) -> String {
        let folded = self.folded(text)
        if !contains(.diacriticInsensitive) { return folded }
        var result = String.UnicodeScalarView()
        for scalar in CanonicalText.ordered(folded)._nfc { result.append(scalar) }
        return String(result)
    }

    /// Removes the marks that follow a letter after canonical decomposition, such as the accent of "é".
    private static func withoutDiacritics(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in CanonicalText.decomposed(text) where scalar.properties.generalCategory != .nonspacingMark { result.append(scalar) }
        return String(result)
    }
}
