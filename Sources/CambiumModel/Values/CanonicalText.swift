@_spi(_Unicode) import Swift

/// Canonical normalization of texts from outside, in time proportional to their length.
///
/// The standard library sorts the combining marks after a letter by insertion. For marks that are out of order, its normalization, and so
/// the comparison and the hash of a `String`, take time quadratic in the number of marks. The functions here sort long runs by counting.
/// Unicode calls a text with at most 30 marks in a row stream-safe (UAX #15, section 13). Only a text that is not stream-safe is changed.
package enum CanonicalText {
    /// The maximum number of combining marks in a row that the standard library normalizes.
    static let markCountMax = 30

    /// Returns the canonical decomposition of a text (NFD). Complexity: O(bytes).
    package static func decomposed(_ text: String) -> String.UnicodeScalarView {
        var result = String.UnicodeScalarView()
        guard hasLongRun(text) else {
            for scalar in text._nfd { result.append(scalar) }
            return result
        }
        var run = MarkRun()
        for scalar in text.unicodeScalars {
            for part in String(scalar)._nfd {
                if part.properties.canonicalCombiningClass == .notReordered {
                    run.move(to: &result)
                    result.append(part)
                } else {
                    run.append(part)
                }
            }
        }
        run.move(to: &result)
        return result
    }

    /// Returns the UTF-8 bytes of the canonical composition of a text (NFC). Two texts have the same bytes if and only if Swift
    /// regards them as equal. Complexity: O(bytes).
    package static func bytes(_ text: String) -> [UInt8] {
        var result = String.UnicodeScalarView()
        for scalar in ordered(text)._nfc { result.append(scalar) }
        return Array(String(result).utf8)
    }

    /// Returns a text that Swift regards as equal, and that Swift compares and hashes in linear time: the text itself, unless it has a long
    /// run of marks. Complexity: O(bytes), and O(1) for a short text.
    package static func ordered(_ text: String) -> String { hasLongRun(text) ? String(decomposed(text)) : text }

    private static func hasLongRun(_ text: String) -> Bool {
        // A mark has at least two bytes.
        if text.utf8.count <= 2 * markCountMax { return false }
        var count = 0
        for scalar in text.unicodeScalars {
            count = isMark(scalar) ? count + 1 : 0
            if count > markCountMax { return true }
        }
        return false
    }

    /// Whether the decomposition of a character begins with a mark. Three vowel signs of Tibetan are not marks, but consist of marks.
    static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x300 { return false }
        return scalar.properties.canonicalCombiningClass != .notReordered || [0x0F73, 0x0F75, 0x0F81].contains(scalar.value)
    }
}

/// Combining marks that follow each other, counted by their class.
private struct MarkRun {
    private var marks: [Unicode.Scalar] = []
    private var ends = [Int](repeating: 0, count: 256)

    mutating func append(_ mark: Unicode.Scalar) {
        marks.append(mark)
        ends[Int(mark.properties.canonicalCombiningClass.rawValue)] += 1
    }

    /// Appends the marks to a text, ordered by class, and removes them. Marks of one class keep their order.
    mutating func move(to text: inout String.UnicodeScalarView) {
        guard marks.count > 1 else {
            for mark in marks { text.append(mark) }
            return removeAll()
        }
        var next = 0
        for index in ends.indices {
            (ends[index], next) = (next, next + ends[index])
        }
        var sorted = marks
        for mark in marks {
            let index = Int(mark.properties.canonicalCombiningClass.rawValue)
            sorted[ends[index]] = mark
            ends[index] += 1
        }
        for mark in sorted { text.append(mark) }
        marks.removeAll(keepingCapacity: true)
        ends = [Int](repeating: 0, count: ends.count)
    }

    private mutating func removeAll() {
        for mark in marks { ends[Int(mark.properties.canonicalCombiningClass.rawValue)] = 0 }
        marks.removeAll(keepingCapacity: true)
    }
}
