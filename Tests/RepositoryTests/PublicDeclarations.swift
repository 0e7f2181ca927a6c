/// The public declarations of one source file, each with the types that contain it: `Store.open(at path: String) throws -> Store`.
///
/// Reads formatted sources: the indentation of a line shows how deep it is nested. As in Swift's own libraries, a declaration with an
/// underscore is public only for conformances, so it is omitted with its members.
struct PublicDeclarations {
    private(set) var lines: [String] = []
    /// The number of declarations that are marked `public`. The cases of enumerations and the requirements of protocols do not count.
    private(set) var count = 0
    private var scopes: [Scope] = []

    /// A type or an extension around a line.
    private struct Scope {
        let indentation: Int
        let name: String
        /// The words that begin the members that are as visible as the type itself.
        let memberWords: [String]

        var isUnderscored: Bool { name.split(separator: ".").contains { $0.hasPrefix("_") } }
    }

    init(_ file: TextFile) {
        var index = 0
        while index < file.lines.count {
            let (declaration, end) = Self.declaration(file.lines, at: index)
            read(declaration, indentation: file.lines[index].prefix { $0 == " " }.count)
            index = end
        }
    }

    private mutating func read(_ text: String, indentation: Int) {
        if text.isEmpty || text.hasPrefix("//") { return }
        while let scope = scopes.last, scope.indentation >= indentation { scopes.removeLast() }
        var words = text.split(separator: " ")
        while let first = words.first, first.hasPrefix("@") { words.removeFirst() }
        let isPublic = words.first == "public"
        if Self.isUnderscored(words) || scopes.contains(where: \.isUnderscored) {
            // Programs need not know it.
        } else if isPublic, words.dropFirst().first != "import" {
            count += 1
            lines.append(Self.summary(words.dropFirst().joined(separator: " "), in: scopes.map(\.name)))
        } else if let scope = scopes.last, scope.indentation + 4 == indentation, scope.memberWords.contains(where: { text.hasPrefix($0) }) {
            lines.append(Self.summary(text, in: scopes.map(\.name)))
        }
        if let scope = Self.scope(words.filter { !Self.modifiers.contains(String($0)) }, isPublic: isPublic, indentation) {
            scopes.append(scope)
        }
    }

    private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let", "case"]

    /// Whether the name of a declaration, or the first label of an initializer, begins with an underscore.
    private static func isUnderscored(_ words: [Substring]) -> Bool {
        guard let kind = words.firstIndex(where: { kinds.contains($0) || $0.hasPrefix("init") }) else { return false }
        if words[kind].hasPrefix("init") { return words[kind].hasPrefix("init(_") && words[kind] != "init(_" }
        return kind + 1 < words.count && words[kind + 1].hasPrefix("_")
    }

    private static let modifiers = ["public", "package", "internal", "private", "fileprivate", "final", "indirect"]

    private static func scope(_ words: [Substring], isPublic: Bool, _ indentation: Int) -> Scope? {
        guard let kind = words.first, ["struct", "class", "enum", "protocol", "extension", "actor"].contains(kind), words.count > 1 else {
            return nil
        }
        let name = String(words[1].prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." })
        let members = !isPublic ? [] : kind == "enum" ? ["case "] : kind == "protocol" ? ["func ", "var ", "init", "static "] : []
        return Scope(indentation: indentation, name: name, memberWords: members)
    }

    /// Returns the declaration that begins at a line, in one line and without its body, and the index of the next line.
    private static func declaration(_ lines: [Substring], at start: Int) -> (String, Int) {
        var text = ""
        var index = start
        while index < lines.count {
            let line = lines[index].drop { $0 == " " }
            text += text.isEmpty || text.hasSuffix("(") || line.hasPrefix(")") ? line : " " + line
            index += 1
            if line.hasPrefix("//") || depth(of: text) <= 0 { break }
            // A bracket that is open after many lines belongs to a value or a string, not to a declaration.
            if index - start > 20 { return (String(lines[start].drop { $0 == " " }), start + 1) }
        }
        return (text, index)
    }

    private static func depth(of text: String) -> Int {
        text.utf8.reduce(0) { depth, byte in
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth + 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth - 1
            default: depth
            }
        }
    }

    /// Returns a declaration without its body. Omits the value of a property, unless the type of the property follows from its value. Then
    /// the beginning of the value is kept.
    private static func summary(_ text: String, in scopes: [String]) -> String {
        var kept = ""
        var depth = 0
        var isValue = false
        for (character, next) in zip(text, text.dropFirst() + " ") {
            if depth == 0, character == "{" { break }
            if isValue, "({".contains(character) { break }
            if depth == 0, character == "=", next == " ", kept.hasSuffix(" ") {
                if kept.contains(":") { break }
                isValue = true
            }
            if character == "(" || character == "[" { depth += 1 }
            if character == ")" || character == "]" { depth -= 1 }
            kept.append(character)
        }
        while kept.hasSuffix(" ") { kept.removeLast() }
        // A property that only the module can set is one that programs read.
        if let setter = kept.firstRange(of: "(set) ") { kept = String(kept[setter.upperBound...]) + " { get }" }
        return (scopes + [kept]).joined(separator: ".")
    }
}
