/// The names of types that a Swift file declares and mentions. Comments and string literals do not count.
struct TypeNames {
    /// The types that other files see: those at the beginning of a line that are not private.
    private(set) var declared: Set<Substring> = []
    /// The types inside of other types. In the same file, such a name hides a type of another folder.
    private(set) var nested: Set<Substring> = []
    /// The capitalized words that do not follow a point, each with the number of its first line.
    private(set) var mentioned: [Substring: Int] = [:]

    private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "actor", "typealias"]

    init(_ file: TextFile) {
        var isInText = false
        for (index, line) in file.lines.enumerated() {
            let isDelimiter = line.contains("\"\"\"")
            if isDelimiter { isInText.toggle() }
            if isDelimiter || isInText { continue }
            read(Self.words(of: line), index + 1, isIndented: line.first == " ")
        }
    }

    private mutating func read(_ words: [Substring], _ line: Int, isIndented: Bool) {
        for word in words where word.first?.isUppercase == true && mentioned[word] == nil { mentioned[word] = line }
        guard let place = words.firstIndex(where: Self.kinds.contains), place + 1 < words.count else { return }
        let name = words[place + 1]
        guard name.first?.isUppercase == true else { return }
        if isIndented {
            nested.insert(name)
        } else if !words[..<place].contains(where: { $0 == "private" || $0 == "fileprivate" }) {
            declared.insert(name)
        }
    }

    /// Returns the words of a line of code, without comments, string literals, and words after a point.
    private static func words(of line: Substring) -> [Substring] {
        var words: [Substring] = []
        var start: Substring.Index?
        var (isQuoted, isEscaped) = (false, false)
        var before: UInt8 = 0
        func end(_ index: Substring.Index) {
            if let start { words.append(line[start..<index]) }
        }
        for index in line.utf8.indices {
            let byte = line.utf8[index]
            defer { before = byte }
            if isQuoted {
                isQuoted = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            if isWordByte(byte) {
                if start == nil, before != UInt8(ascii: "."), !isWordByte(before) { start = index }
                continue
            }
            end(index)
            start = nil
            if byte == UInt8(ascii: "/"), before == byte { return words }
            isQuoted = byte == UInt8(ascii: "\"")
        }
        end(line.endIndex)
        return words
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }
}
