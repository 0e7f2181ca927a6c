import Testing

@testable import CambiumGraph

/// Simple case folding: the entries C and S of `CaseFolding.txt` in the Unicode Character Database.
@Suite struct CaseFoldingTests {
    private static let entries: [(Unicode.Scalar, Unicode.Scalar)] = [
        ("A", "a"), ("ı", "ı"), ("İ", "İ"), ("I", "i"), ("ß", "ß"), ("ẞ", "ß"), ("ſ", "s"), ("\u{212A}", "k"), ("\u{212B}", "å"),
        ("\u{B5}", "\u{3BC}"), ("ς", "σ"), ("ϐ", "β"), ("ϑ", "θ"), ("ϴ", "θ"), ("ᾈ", "ᾀ"), ("ᾼ", "ᾳ"), ("ῼ", "ῳ"), ("ẛ", "ṡ"),
        ("\u{345}", "ι"), ("\u{1FBE}", "ι"), ("Ǆ", "ǆ"), ("ǅ", "ǆ"), ("\u{13A0}", "\u{13A0}"), ("\u{AB70}", "\u{13A0}"),
        ("\u{13F8}", "\u{13F0}"), ("\u{1C80}", "в"), ("\u{1C90}", "ა"), ("ŉ", "ŉ"), ("ǰ", "ǰ"), ("\u{390}", "\u{390}"),
        ("\u{1FD3}", "\u{390}"), ("\u{1FE3}", "\u{3B0}"), ("ﬁ", "ﬁ"), ("\u{FB05}", "\u{FB06}"), ("\u{10400}", "\u{10428}"),
        ("\u{1E900}", "\u{1E922}"), ("Ⅷ", "ⅷ"), ("Ⓐ", "ⓐ"), ("\u{2126}", "ω"), ("1", "1"),
    ]

    @Test(arguments: entries) func `a character has the folding of Unicode's table`(one: (Unicode.Scalar, Unicode.Scalar)) {
        #expect(CaseFolding.folded(one.0) == one.1)
    }

    @Test func `folding a folded character changes nothing, and both cases fold alike`() {
        let faults = (UInt32(0)..<0x2_0000).compactMap(Unicode.Scalar.init).filter { scalar in
            let folded = CaseFolding.folded(scalar)
            let cases = [scalar.properties.uppercaseMapping, scalar.properties.lowercaseMapping].filter { $0.unicodeScalars.count == 1 }
            let areAlike = scalar == "ı" || cases.allSatisfy { CaseFolding.folded($0) == String(folded) }
            return CaseFolding.folded(folded) != folded || !areAlike
        }
        #expect(faults.isEmpty, "\(faults)")
    }
}
