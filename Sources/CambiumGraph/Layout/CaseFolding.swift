import CambiumBytes

/// Folds texts so that they can be compared without regard to case, by Unicode's simple case folding (`CaseFolding.txt`, C and S). Each
/// character becomes one character. `ẞ` becomes `ß`, which differs from `ss`, and dotless `ı` differs from `i`.
enum CaseFolding {
    /// Calls `body` with each byte of the folded text until `body` returns `false`. Bytes that are not UTF-8 are replaced.
    @inline(__always) static func forEachByte(_ bytes: UnsafeRawBufferPointer, _ body: (UInt8) -> Bool) {
        if bytes.allSatisfy({ $0 < 0x80 }) {
            for byte in bytes where !body(byte &- 0x41 < 26 ? byte | 0x20 : byte) { return }
            return
        }
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            for byte in UTF8.encode(folded(scalar)) ?? UTF8.encodedReplacementCharacter where !body(byte) { return }
        }
    }

    /// Returns the simple case folding of a character. It is the lower case of the upper case, without cases of several characters, except
    /// for the characters in which Unicode's table differs: dotless `ı`, Cherokee, and pairs that only compatibility distinguishes.
    static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if !scalar.properties.changesWhenCaseMapped { return scalar }
        switch scalar.value {
        case 0x131: return scalar
        case 0x13A0...0x13F5, 0x13F8...0x13FD, 0xAB70...0xABBF: return single(scalar.properties.uppercaseMapping) ?? scalar
        case 0x1FD3: return "\u{390}"
        case 0x1FE3: return "\u{3B0}"
        case 0xFB05: return "\u{FB06}"
        default:
            let upper = single(scalar.properties.uppercaseMapping) ?? scalar
            return single(upper.properties.lowercaseMapping) ?? upper
        }
    }

    private static func single(_ text: String) -> Unicode.Scalar? {
        text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
    }

    /// Returns the folded text, which an index compares instead of the text itself.
    static func folded(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(folded(scalar)) }
        return String(result)
    }

    /// A hash of the folding of all characters below U+20000, which shows whether two versions of Unicode fold alike. If the hash in a
    /// store differs from this hash, the indexes of the store are rebuilt.
    ///
    /// Complexity: a few milliseconds for the first call, then O(1).
    static var fingerprint: UInt64 { known }

    private static let known: UInt64 = {
        var bytes: [UInt8] = []
        for value in UInt32(0x80)..<0x2_0000 {
            guard let scalar = Unicode.Scalar(value), scalar.properties.changesWhenCaseMapped else { continue }
            bytes += Array(String(folded(scalar)).utf8) + [0]
        }
        return bytes.withUnsafeBytes { XXH3.hash64($0, seed: 0) }
    }()
}
