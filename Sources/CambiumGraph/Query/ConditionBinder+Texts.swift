import CambiumModel

extension ConditionBinder {
    /// Returns the node for a comparison of a text with constants that are not null. For `!=`, returns the node for `==`, which the caller
    /// negates.
    func text(_ attribute: Attribute, _ field: Field, _ test: ConstantTest) throws(QueryMistake) -> ConditionNode {
        var texts: [String] = []
        for literal in test.present {
            guard let text = literal.stringText else {
                let found = self.text(of: literal)
                throw QueryMistake(
                    "'\(attribute.name)' is of type \(attribute.type.rawValue). Compare it with a string, not with \(found).",
                    at: test.offset)
            }
            texts.append(attribute.type == .json ? json(text, test) : text)
        }
        let node = TextNode(field.slot, try textTest(test, texts))
        node.match = match(attribute, test, texts)
        return node
    }

    /// Returns the JSON text that a store holds for the value of a literal. A text that is not JSON equals no value, and is returned
    /// unchanged. Relations other than `==`, `!=` and `in` compare the text, not the value.
    private func json(_ text: String, _ test: ConstantTest) -> String {
        guard [.equal, .notEqual, .isIn].contains(test.relation), test.folding.isEmpty,
            case .json(let stored)? = try? Value(text: text, type: .json)
        else { return text }
        return stored
    }

    func textTest(_ test: ConstantTest, _ texts: [String]) throws(QueryMistake) -> TextTest {
        let bytes = texts.map { test.folding.folded(Array($0.utf8)) }
        let first = bytes.first ?? []
        let inner: TextTest
        switch test.relation {
        case .equal, .notEqual: inner = .equal(first)
        case .less: inner = .between(nil, .init(bytes: first, isIncluded: false))
        case .lessOrEqual: inner = .between(nil, .init(bytes: first, isIncluded: true))
        case .greater: inner = .between(.init(bytes: first, isIncluded: false), nil)
        case .greaterOrEqual: inner = .between(.init(bytes: first, isIncluded: true), nil)
        case .isBetween: inner = .between(.init(bytes: first, isIncluded: true), .init(bytes: bytes.last ?? [], isIncluded: true))
        case .contains: inner = .contains(first)
        case .beginsWith: inner = .begins(first)
        case .endsWith: inner = .ends(first)
        case .isIn: inner = bytes.count == 1 ? .equal(first) : .isIn(Set(bytes))
        case .like:
            let wildcards = try Wildcards(test.folding.composed(texts.first ?? "")).test(at: test.offset)
            return test.folding.isEmpty ? wildcards : .composed(test.folding, wildcards)
        case .matches: return try expression(texts.first ?? "", test)
        }
        return test.folding.isEmpty ? inner : .folded(test.folding, inner)
    }

    /// Returns the test of a regular expression. To ignore case, the pattern gets the option `(?i)` of RE2, because folding the pattern
    /// would change escapes such as `\D`.
    private func expression(_ pattern: String, _ test: ConstantTest) throws(QueryMistake) -> TextTest {
        let marks = test.folding.intersection(.diacriticInsensitive)
        let options = test.folding.contains(.caseInsensitive) ? "(?i)" : ""
        do throws(LinearRegex.PatternError) {
            let regex = TextTest.matches(try LinearRegex(options + marks.composed(pattern)))
            return marks.isEmpty ? regex : .composed(marks, regex)
        } catch {
            throw QueryMistake("The regular expression is malformed: \(error.message). Use the syntax of RE2.", at: test.offset)
        }
    }

    /// Returns the values that satisfy the test, for a lookup in an index; `nil` if an index cannot find them.
    private func match(_ attribute: Attribute, _ test: ConstantTest, _ texts: [String]) -> ColumnMatch? {
        guard test.folding.isEmpty || test.folding == .caseInsensitive, let first = texts.first else { return nil }
        let value = Value.string(first)
        let (open, closed) = (ColumnMatch.Limit(value, isIncluded: false), ColumnMatch.Limit(value, isIncluded: true))
        let values: ColumnMatch.Values
        switch test.relation {
        case .equal, .notEqual: values = .equal([value])
        case .less: values = .between(nil, open)
        case .lessOrEqual: values = .between(nil, closed)
        case .greater: values = .between(open, nil)
        case .greaterOrEqual: values = .between(closed, nil)
        case .isBetween: values = .between(closed, ColumnMatch.Limit(.string(texts.last ?? first), isIncluded: true))
        case .beginsWith: values = .prefix(first)
        case .isIn: values = .equal(Array(Set(texts.map { Value.string($0) })))
        case .like:
            let prefix = Wildcards(first).prefix
            if prefix.isEmpty { return nil }
            values = .prefix(prefix)
        case .contains, .endsWith, .matches: return nil
        }
        return ColumnMatch(attribute: attribute.number, values: values, isFolded: !test.folding.isEmpty)
    }
}

/// A pattern in which `*` matches any characters and `?` matches one character. A character after a backslash matches itself.
struct Wildcards {
    private enum Piece: Equatable {
        case scalar(Unicode.Scalar)
        case one, many
    }

    private let pieces: [Piece]

    init(_ pattern: String) {
        var pieces: [Piece] = []
        var isEscaped = false
        // The pattern is read by Unicode scalars, because a wildcard and a combining mark after it form one `Character`.
        for scalar in pattern.unicodeScalars {
            if isEscaped || !["\\", "*", "?"].contains(scalar) {
                pieces.append(.scalar(scalar))
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                pieces.append(scalar == "*" ? .many : .one)
            }
        }
        if isEscaped { pieces.append(.scalar("\\")) }
        self.pieces = pieces
    }

    /// The plain text at the beginning of the pattern.
    var prefix: String { Self.text(pieces.prefix { $0 != .one && $0 != .many }[...]) }

    private static func text(_ pieces: ArraySlice<Piece>) -> String {
        pieces.reduce(into: "") { if case .scalar(let scalar) = $1 { $0.unicodeScalars.append(scalar) } }
    }

    /// Returns the test for the pattern. If the only wildcards are a `*` at the beginning or the end, no regular expression is needed.
    func test(at offset: TextOffset) throws(QueryMistake) -> TextTest {
        var inner = pieces[...]
        let isOpenBefore = inner.first == .many
        if isOpenBefore { inner.removeFirst() }
        let isOpenAfter = inner.last == .many
        if isOpenAfter { inner.removeLast() }
        if !inner.contains(where: { $0 == .one || $0 == .many }) {
            let bytes = Array(Self.text(inner).utf8)
            return switch (isOpenBefore, isOpenAfter) {
            case (false, false): .equal(bytes)
            case (false, true): .begins(bytes)
            case (true, false): .ends(bytes)
            case (true, true): .contains(bytes)
            }
        }
        do throws(LinearRegex.PatternError) {
            return .matches(try LinearRegex(expression))
        } catch {
            throw QueryMistake("The pattern needs too much memory: \(error.message). Write a shorter pattern.", at: offset)
        }
    }

    /// The pattern as a regular expression.
    private var expression: String {
        pieces.reduce(into: "(?s)") { text, piece in
            switch piece {
            case .many: text += ".*"
            case .one: text += "."
            case .scalar(let scalar):
                text += scalar.isASCII && !scalar.properties.isAlphabetic ? "\\x{\(String(scalar.value, radix: 16))}" : String(scalar)
            }
        }
    }
}
