internal import CambiumModel

/// Finds the parts of regular expressions that have another meaning in a store. Core Data reads expressions in the syntax of ICU, and a
/// store reads them in the syntax of RE2.
enum ModelPattern {
    private static let asciiClasses = Array("wWdDsSbB".utf8)

    /// Returns the differences between the meanings of a pattern in ICU and in RE2, each once. Each difference is a clause that ends a
    /// warning, such as "RE2 reads '[' inside a set as an ordinary character". Complexity: O(bytes of the pattern).
    ///
    /// - Parameter pattern: An expression that is valid in RE2.
    static func differences(in pattern: String) -> [String] {
        let bytes = Array(pattern.utf8)
        var found: [String] = []
        func add(_ difference: String) { if !found.contains(difference) { found.append(difference) } }
        func byte(_ index: Int) -> UInt8? { index < bytes.count ? bytes[index] : nil }
        var index = 0
        var isInSet = false
        while let current = byte(index) {
            let next = byte(index + 1)
            index += 1
            switch current {
            case UInt8(ascii: "\\"):
                index += 1
                if next == UInt8(ascii: "Q") {
                    index = end(of: "\\E", in: bytes, from: index) ?? bytes.count
                } else if let next, asciiClasses.contains(next) {
                    add(asciiOnly("\\" + String(decoding: [next], as: UTF8.self)))
                }
            case UInt8(ascii: "[") where !isInSet:
                isInSet = true
                if next == UInt8(ascii: "^") { index += 1 }
                // A bracket at the beginning of a set is a member of the set.
                if byte(index) == UInt8(ascii: "]") { index += 1 }
            case UInt8(ascii: "["):
                if next == UInt8(ascii: ":"), let end = end(of: ":]", in: bytes, from: index + 1) {
                    add(asciiOnly("[" + String(decoding: bytes[index..<end], as: UTF8.self)))
                    index = end
                } else {
                    add("RE2 reads '[' inside a set as an ordinary character")
                }
            case UInt8(ascii: "&") where isInSet && next == current: add("RE2 reads '&&' inside a set as ordinary characters")
            case UInt8(ascii: "]"): isInSet = false
            default: break
            }
        }
        return found
    }

    private static func asciiOnly(_ part: String) -> String { "'\(part)' considers only ASCII characters in RE2" }

    /// Returns the offset of the first byte beyond the next occurrence of a word, or `nil` if there is no such occurrence.
    private static func end(of word: String, in bytes: [UInt8], from first: Int) -> Int? {
        guard first < bytes.count else { return nil }
        let word = Array(word.utf8)
        return ModelXML.offset(of: word, in: bytes, from: first).map { $0 + word.count }
    }
}

extension Condition {
    /// The constant expressions of all comparisons with `matches`. Uses no recursion, so a condition of any depth is safe.
    var patterns: [String] {
        var found: [String] = []
        var stack = [self]
        while let condition = stack.popLast() {
            switch condition.form {
            case .constant: break
            case .comparison(let comparison):
                if comparison.relation == .matches, case .literal(.string(let pattern)) = comparison.right.form { found.append(pattern) }
            case .and(let parts), .or(let parts): stack += parts.reversed()
            case .not(let part), .related(_, _, let part): stack.append(part)
            }
        }
        return found
    }
}
