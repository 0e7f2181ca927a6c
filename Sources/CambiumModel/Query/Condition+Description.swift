extension Condition: CustomStringConvertible {
    /// The text of the condition. If the condition was parsed, its text parses to an equal condition.
    ///
    /// A condition that was built in code may have more than 200 levels. Deeper levels are written as `...`.
    public var description: String {
        var writer = QueryWriter()
        writer.write(self)
        return writer.text
    }
}

extension Comparison: CustomStringConvertible {
    /// The text of the comparison, such as `any tags.name ==[c] "red"`.
    package var description: String {
        var writer = QueryWriter()
        writer.write(self)
        return writer.text
    }
}

extension Operand: CustomStringConvertible {
    /// The text of the operand, such as `owner.name`, `items.@count`, `$limit` or `{1, 2}`.
    public var description: String {
        var writer = QueryWriter()
        writer.write(self)
        return writer.text
    }
}

extension QueryPath: CustomStringConvertible {
    /// The names, separated by dots. If the first of them is also a keyword of conditions, a `#` precedes it. The text of the empty path
    /// is the word `self`.
    package var description: String {
        var writer = QueryWriter()
        writer.write(self)
        return writer.text
    }
}

extension QueryLiteral: CustomStringConvertible {
    /// The text of the literal. Text, dates, UUIDs, URIs, data and JSON are in quotation marks.
    package var description: String {
        var writer = QueryWriter()
        writer.write(self)
        return writer.text
    }
}

extension SortKey: CustomStringConvertible {
    /// The text of the key, such as `-name[c] nulls first`.
    public var description: String {
        var writer = QueryWriter()
        writer.write(self)
        return writer.text
    }
}
