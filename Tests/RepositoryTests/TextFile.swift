import Foundation

/// The text of a file, and the path that the file has, or would have, in the repository.
struct TextFile {
    let path: String
    let text: String
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        // The UTF-8 form is split several times as fast as the characters.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Substring($0) }
        // A final line feed ends the last line and does not begin another one.
        self.lines = text.hasSuffix("\n") ? lines.dropLast() : lines
    }

    /// The name of the directory in Sources that contains the file.
    var target: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    /// Returns a violation for each line and each of the words that the line contains.
    func violations(ofWords words: [String]) -> [Violation] {
        // Most files contain none of the words. One search of the whole text then saves a search of every line.
        let present = words.filter { text.range(of: $0, options: .literal) != nil }
        if present.isEmpty { return [] }
        return lines.enumerated().flatMap { index, line in
            present.filter { line.holdsWord($0) }.map { Violation(path: path, line: index + 1, reason: "contains '\($0)'") }
        }
    }
}

extension StringProtocol {
    /// Whether the text contains the word as a whole: no letter, digit or underscore continues it at either end.
    func holdsWord(_ word: String) -> Bool {
        guard let first = word.first, let last = word.last else { return false }
        return ranges(of: word).contains { range in
            let before = range.lowerBound == startIndex ? nil : self[index(before: range.lowerBound)]
            let after = range.upperBound == endIndex ? nil : self[range.upperBound]
            return !(first.isWordCharacter && before?.isWordCharacter == true)
                && !(last.isWordCharacter && after?.isWordCharacter == true)
        }
    }
}

extension Character {
    fileprivate var isWordCharacter: Bool { isLetter || isNumber || self == "_" }
}
