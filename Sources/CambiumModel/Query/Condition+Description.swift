extension Condition: CustomStringConvertible {
    /// The text of the condition. A condition that was parsed has a text that parses to an equal condition.
    ///
    /// Levels beyond the 200 that a condition may have are written as `...`.
    public var description: String {
        var writer = QueryWriter()
        writer.write(self)
        return writer.text
    }
}

extension Comparison: CustomStringConvertible {
    /// The text of the comparison, such as `any tags.name ==[c] "red"`.
    public var description: String {
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
    /// The names with dots between them. If the first name is a word of the language, a `#` precedes it. The empty path is `self`.
    public var description: String {
        var writer = QueryWriter()
        writer.write(self)
        return writer.text
    }
}

extension QueryLiteral: CustomStringConvertible {
    /// The text of the literal. Text, dates, UUIDs, URIs, data and JSON are in quotation marks.
    public var description: String {
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
