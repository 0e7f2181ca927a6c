extension Condition {
    /// Parses the text of a condition, such as `age > 30 and name beginswith[c] "Ma"`. Docs/Use/QUERIES.md specifies the language.
    ///
    /// Throws `.invalidInput` with the line and the column if the text is not a condition. Throws `.limitExceeded` if the text has more
    /// than 1 MiB or nests deeper than 200 levels. Also throws this error if a list or a path is too long. Complexity: O(bytes of the
    /// text).
    public init(parsing text: String) throws(CambiumError) {
        var parser = try QueryParser(text)
        self = try parser.wholeCondition()
    }
}

extension Operand {
    /// Parses a path such as `owner.name`, or an aggregate such as `items.@sum.price`.
    ///
    /// Throws `.invalidInput` or `.limitExceeded` with the line and the column if the text is neither a path nor an aggregate. A literal is
    /// refused, too.
    public init(parsing text: String) throws(CambiumError) {
        var parser = try QueryParser(text)
        self = try parser.wholeOperand()
    }

    /// Parses paths and aggregates that are separated by commas, such as `name,owner.name,items.@count`.
    package static func list(parsing text: String) throws(CambiumError) -> [Operand] {
        var parser = try QueryParser(text)
        return try parser.wholeOperands()
    }
}

extension QueryPath {
    /// Parses names that are separated by dots, such as `owner.name`. The text `self` is the empty path.
    ///
    /// Throws `.invalidInput` or `.limitExceeded` with the line and the column if the text is not a path.
    package init(parsing text: String) throws(CambiumError) {
        var parser = try QueryParser(text)
        self = try parser.wholePath()
    }
}

extension SortKey {
    /// Parses a key such as `-owner.name[c] nulls last`.
    ///
    /// Throws `.invalidInput` or `.limitExceeded` with the line and the column if the text is not a key.
    public init(parsing text: String) throws(CambiumError) {
        var parser = try QueryParser(text)
        self = try parser.wholeSortKey()
    }

    /// Parses keys that are separated by commas, such as `owner.name,-born`. Objects with equal first keys are sorted by the next key.
    ///
    /// Throws `.invalidInput` or `.limitExceeded` with the line and the column if the text is not a list of keys.
    package static func list(parsing text: String) throws(CambiumError) -> [SortKey] {
        var parser = try QueryParser(text)
        return try parser.wholeSortKeys()
    }
}
