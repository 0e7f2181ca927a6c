import CambiumBytes

/// Folds texts so that they can be compared without regard to case. Each character is converted to upper case and then to lower case, so
/// that `Straße`, `STRAẞE` and `STRASSE` become the same text.
enum CaseFolding {
    /// Calls `body` with each byte of the folded text until `body` returns `false`. Bytes that are not UTF-8 are replaced.
    @inline(__always) static func forEachByte(_ bytes: UnsafeRawBufferPointer, _ body: (UInt8) -> Bool) {
        if bytes.allSatisfy({ $0 < 0x80 }) {
            for byte in bytes where !body(byte &- 0x41 < 26 ? byte | 0x20 : byte) { return }
            return
        }
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            for byte in folded(scalar).utf8 where !body(byte) { return }
        }
    }

    private static func folded(_ scalar: Unicode.Scalar) -> String {
        if !scalar.properties.changesWhenCaseMapped { return String(scalar) }
        // `ẞ` is its own upper case, but its lower case `ß` has the upper case `SS`. So `ẞ` is folded like `ß`. No other letter needs such
        // an exception.
        if scalar == "ẞ" { return folded("ß") }
        return scalar.properties.uppercaseMapping.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping }
    }

    /// Returns the folded text, which an index compares instead of the text itself.
    static func folded(_ text: String) -> String { text.unicodeScalars.reduce(into: "") { $0 += folded($1) } }

    /// A hash of the folding of all characters below U+20000, which shows whether two versions of Unicode fold alike. If the hash in a
    /// store differs from this hash, the indexes of the store are rebuilt.
    ///
    /// Complexity: a few milliseconds for the first call, then O(1).
    static var fingerprint: UInt64 { known }

    private static let known: UInt64 = {
        var bytes: [UInt8] = []
        for value in UInt32(0x80)..<0x2_0000 {
            guard let scalar = Unicode.Scalar(value), scalar.properties.changesWhenCaseMapped else { continue }
            bytes += Array(folded(scalar).utf8) + [0]
        }
        return bytes.withUnsafeBytes { XXH3.hash64($0, seed: 0) }
    }()
}
