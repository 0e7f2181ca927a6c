@_spi(_Unicode) import Swift
import Testing

@testable import CambiumModel

@Suite struct CanonicalTextTests {
    /// The marks lack U+0F73, U+0F75 and U+0F81. The standard library does not sort the two marks of which each of them consists.
    private static let marks: [Unicode.Scalar] = ["\u{301}", "\u{323}", "\u{344}", "\u{302E}", "\u{1D165}", "\u{345}", "\u{334}"]
    private static let letters: [Unicode.Scalar] = ["e", "\u{1EA4}", "\u{D55C}", "\u{1100}", "\u{1161}", "\u{11A8}", "\u{2126}", " "]

    /// Returns a text of letters, each followed by up to `markCountMax` marks in any order.
    private func text(_ seed: Int, markCountMax: Int) -> String {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func next(_ end: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % end
        }
        var text = String.UnicodeScalarView()
        for _ in 0..<4 {
            text.append(Self.letters[next(Self.letters.count)])
            for _ in 0..<next(markCountMax + 1) { text.append(Self.marks[next(Self.marks.count)]) }
        }
        return String(text)
    }

    @Test(arguments: [0, 3, 30, 31, 90]) func `a text has the normal forms of the standard library`(markCountMax: Int) {
        for seed in 0..<60 {
            let text = text(seed, markCountMax: markCountMax)
            #expect(CanonicalText.decomposed(text).elementsEqual(text._nfd))
            #expect(CanonicalText.bytes(text).elementsEqual(text._nfc.flatMap { Array(String($0).utf8) }))
            #expect(CanonicalText.ordered(text) == text)
        }
    }

    @Test func `a long run of marks is put in canonical order, so that no comparison sorts it again`() {
        let short = "e" + String(repeating: "\u{301}\u{323}", count: 15)
        #expect(CanonicalText.ordered(short).utf8.elementsEqual(short.utf8))
        let long = "e" + String(repeating: "\u{301}\u{323}", count: 9000)
        for text in [short + "\u{301}", "e" + String(repeating: "\u{F73}", count: 31), long] {
            let classes = CanonicalText.ordered(text).unicodeScalars.map(\.properties.canonicalCombiningClass.rawValue)
            #expect(classes.count > 30 && classes == classes.sorted())
        }
    }

    @Test func `every character whose decomposition begins with a mark counts as a mark`() {
        for scalar in (UInt32(0)..<0x2_0000).compactMap(Unicode.Scalar.init) {
            guard let first = String(scalar)._nfd.first(where: { _ in true }),
                first.properties.canonicalCombiningClass != .notReordered
            else { continue }
            #expect(CanonicalText.isMark(scalar), "\(scalar.value)")
        }
    }
}
