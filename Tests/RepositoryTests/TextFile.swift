/// A file's text with the path that it has, or would have, in the repository.
struct TextFile {
    let path: String
    let text: String
    let lines: [Substring]

    init(path: String, text: String) {
        self.path = path
        self.text = text
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // A final line feed ends the last line, it begins none.
        self.lines = text.hasSuffix("\n") ? lines.dropLast() : lines
    }

    /// The directory directly below Sources that the file belongs to.
    var target: String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 && parts[0] == "Sources" ? String(parts[1]) : nil
    }

    /// A violation for each line that holds at least one of the words.
    func violations(ofWords words: [String]) -> [Violation] {
        // Most files hold none: one look at the whole text saves the look at every line.
        let present = words.filter { text.contains($0) }
        if present.isEmpty { return [] }
        return lines.enumerated().flatMap { index, line in
            present.filter { line.holdsWord($0) }.map { Violation(path: path, line: index + 1, reason: "holds '\($0)'") }
        }
    }
}

extension StringProtocol {
    /// Whether the word occurs where no letter, digit or underscore goes on at an end of it that is one itself.
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
