/// Limits the length of a Swift file and of its lines. A file in Sources may have fewer lines than any other file.
struct LengthRule {
    static let sourceLineCountMax = 400
    static let lineCountMax = 600
    static let characterCountMax = 140

    func violations(in file: TextFile) -> [Violation] {
        var violations: [Violation] = []
        let lineCountMax = file.path.hasPrefix("Sources/") ? Self.sourceLineCountMax : Self.lineCountMax
        if file.lines.count > lineCountMax {
            violations.append(Violation(path: file.path, reason: "has \(file.lines.count) lines, \(lineCountMax) are allowed"))
        }
        // A line has at most as many characters as bytes, so only lines with many bytes are counted.
        for (index, line) in file.lines.enumerated() where line.utf8.count > Self.characterCountMax {
            if line.count > Self.characterCountMax {
                let reason = "has \(line.count) characters, \(Self.characterCountMax) are allowed"
                violations.append(Violation(path: file.path, line: index + 1, reason: reason))
            }
        }
        return violations
    }
}
