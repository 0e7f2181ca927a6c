internal import CambiumJSON

/// A writer of conditions and their parts, as text that parses to the same tree.
///
/// A tree that was built in code may have more than `Condition.depthMax` levels. The writer replaces deeper levels with `...`, so its
/// recursion is bounded.
struct QueryWriter: Sendable {
    private(set) var text = ""
    /// The number of levels above the current part.
    private var level = 0

    /// Returns the text that `write` writes.
    static func text(_ write: (inout QueryWriter) -> Void) -> String {
        var writer = QueryWriter()
        write(&writer)
        return writer.text
    }

    // MARK: Conditions

    mutating func write(_ condition: Condition) {
        guard level <= Condition.depthMax else {
            text += "..."
            return
        }
        level += 1
        defer { level -= 1 }
        switch condition.form {
        case .constant(let value): text += value ? "true" : "false"
        case .comparison(let comparison): write(comparison)
        case .and(let parts): write(parts, " and ", empty: "true")
        case .or(let parts): write(parts, " or ", empty: "false")
        case .not(let part):
            text += "not "
            writeGrouped(part)
        case .related(let quantifier, let path, let part):
            text += "\(quantifier.rawValue) "
            write(path)
            text += " where ("
            write(part)
            text += ")"
        }
    }

    private mutating func write(_ parts: [Condition], _ connective: String, empty: String) {
        if parts.isEmpty { text += empty }
        for (index, part) in parts.enumerated() {
            if index > 0 { text += connective }
            writeGrouped(part)
        }
    }

    /// Writes a condition that is part of another condition. Adds parentheses if the inner condition consists of several conditions.
    private mutating func writeGrouped(_ condition: Condition) {
        switch condition.form {
        case .and(let parts) where !parts.isEmpty, .or(let parts) where !parts.isEmpty:
            text += "("
            write(condition)
            text += ")"
        default: write(condition)
        }
    }

    // MARK: Comparisons

    mutating func write(_ comparison: Comparison) {
        if let quantifier = comparison.quantifier { text += "\(quantifier.rawValue) " }
        write(comparison.left)
        text += " \(Self.text(comparison.relation))\(Self.text(comparison.folding)) "
        write(comparison.right)
    }

    static func text(_ relation: Comparison.Relation) -> String {
        switch relation {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .contains: "contains"
        case .beginsWith: "beginswith"
        case .endsWith: "endswith"
        case .like: "like"
        case .matches: "matches"
        case .isIn: "in"
        case .isBetween: "between"
        }
    }

    static func text(_ folding: Folding) -> String {
        let letters = (folding.contains(.caseInsensitive) ? "c" : "") + (folding.contains(.diacriticInsensitive) ? "d" : "")
        return letters.isEmpty ? "" : "[\(letters)]"
    }

    // MARK: Operands

    mutating func write(_ operand: Operand) {
        switch operand.form {
        case .path(let path): write(path)
        case .aggregate(let aggregate): write(aggregate)
        case .literal(let literal): write(literal)
        case .parameter(let name): text += "$" + ControlText.escaped(name)
        case .list(let elements):
            // The list of a comparison at the deepest level is written. A list at a deeper level is inside another list, which only code
            // can build.
            guard level <= Condition.depthMax + 1 else {
                text += "..."
                return
            }
            level += 1
            text += "{"
            for (index, element) in elements.enumerated() {
                if index > 0 { text += ", " }
                write(element)
            }
            text += "}"
            level -= 1
        }
    }

    private mutating func write(_ aggregate: RelatedAggregate) {
        write(aggregate.path)
        text += ".@\(aggregate.function.rawValue)"
        guard let value = aggregate.value else { return }
        text += "."
        write(value)
    }

    mutating func write(_ path: QueryPath) {
        guard let first = path.names.first else {
            text += "self"
            return
        }
        if QueryWord(first) != nil { text += "#" }
        text += ControlText.escaped(path.names.joined(separator: "."))
    }

    mutating func write(_ key: SortKey) {
        if key.direction == .descending { text += "-" }
        write(key.operand)
        text += Self.text(key.folding)
        guard key.nulls != SortKey(key.operand, key.direction).nulls else { return }
        text += key.nulls == .first ? " nulls first" : " nulls last"
    }

    // MARK: Literals

    mutating func write(_ literal: QueryLiteral) {
        switch literal {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += ControlText.escaped(digits)
        case .string(let string), .text(let string): writeQuoted(string)
        case .object(let entity, let serial): text += ControlText.escaped(entity) + "/\(serial)"
        case .id(let id): text += id.description
        case .value(let value): write(value)
        }
    }

    /// Writes the literal for a value. Dates, UUIDs, URIs, data and JSON are written as strings.
    private mutating func write(_ value: Value) {
        switch value {
        case .string(let string), .uri(let string), .json(let string): writeQuoted(string)
        case .float(let number) where !number.isFinite: writeQuoted(number.description)
        case .double(let number) where !number.isFinite: writeQuoted(number.description)
        case .null, .bool, .int, .float, .double, .decimal, .data, .date, .uuid:
            var writer = JSONWriter()
            value.write(to: &writer)
            text += writer.text
        }
    }

    private mutating func writeQuoted(_ string: String) {
        var writer = JSONWriter()
        writer.string(string)
        text += writer.text
    }
}

extension Comparison.Relation {
    /// The relation as the query language spells it.
    package var text: String { QueryWriter.text(self) }
}
