/// Parsing operands, paths and sort keys.
extension QueryParser {
    // MARK: Operands

    /// Reads a path, an aggregate, a literal or a parameter.
    mutating func operand(_ expectation: String) throws(CambiumError) -> Operand {
        let start = token.start
        guard let form = simpleForm else { return try pathOrAggregate(expectation) }
        try advance()
        return Operand(form, at: start)
    }

    /// The form of an operand that consists of one token.
    private var simpleForm: Operand.Form? {
        switch token.kind {
        case .number(let digits): .literal(.number(digits))
        case .string(let text): .literal(.string(text))
        case .object(let entity, let serial): .literal(.object(entity: entity, serial: serial))
        case .id(let id): .literal(.id(id))
        case .parameter(let name): .parameter(name)
        case .name: token.word?.literal.map { .literal($0) }
        default: nil
        }
    }

    /// Reads a path. If an aggregate follows the path, also reads the aggregate.
    mutating func pathOrAggregate(_ expectation: String) throws(CambiumError) -> Operand {
        let start = token.start
        if case .function(let name) = token.kind {
            throw expected("a path before '@\(name)'", remedy: "Write an aggregate of related objects, such as items.@count.")
        }
        let (path, isOpen) = try names(expectation)
        guard isOpen, case .function(let name) = token.kind else { return Operand(.path(path), at: start) }
        guard let function = AggregateFunction.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else {
            throw expected("@count, @sum, @min, @max, @avg or @countDistinct")
        }
        if path.names.isEmpty {
            throw expected("a name after 'self.'", remedy: "Write an aggregate of related objects, such as items.@count.")
        }
        try advance()
        guard function != .count else { return Operand(.aggregate(RelatedAggregate(.count, path)), at: start) }
        guard try take(.dot) else {
            throw expected("'.' and a path", remedy: "Write the value of each object, such as @\(function.rawValue).price.")
        }
        let value = try self.path("a path after '@\(function.rawValue).'")
        return Operand(.aggregate(RelatedAggregate(function, path, of: value)), at: start)
    }

    // MARK: Paths

    /// Reads names that are separated by dots. `self` is the empty path.
    mutating func path(_ expectation: String) throws(CambiumError) -> QueryPath {
        let (path, isOpen) = try names(expectation)
        if isOpen { throw expected("a name after '.'", remedy: "Write one aggregate, after a path to objects.") }
        return path
    }

    /// Reads names that are separated by dots. If a dot and an aggregate follow, also reads that dot, and returns `isOpen` as `true`.
    private mutating func names(_ expectation: String) throws(CambiumError) -> (path: QueryPath, isOpen: Bool) {
        var names: [String] = []
        switch token.kind {
        case .escapedName(let name): names = [name]
        case .name(let name):
            switch QueryWord(name) {
            case nil: names = [name]
            case .self?: break
            default: throw expected(expectation, remedy: "Write #\(name) if it is a name.")
            }
        default: throw expected(expectation)
        }
        try advance()
        while try take(.dot) {
            if case .function = token.kind { return (QueryPath(names), true) }
            names.append(try nextName())
            guard names.count <= QueryPath.nameCountMax else {
                let message = "The path has more than \(QueryPath.nameCountMax) names. Write a shorter path."
                throw lexer.error(message, at: token.start, code: .limitExceeded)
            }
            try advance()
        }
        return (QueryPath(names), false)
    }

    /// Returns the name after a dot. At this position, a word of the language is a name even without a `#`.
    private func nextName() throws(CambiumError) -> String {
        switch token.kind {
        case .name(let name), .escapedName(let name): return name
        default: throw expected("a name after '.'")
        }
    }

    mutating func wholePath() throws(CambiumError) -> QueryPath {
        try refuseEmpty("Write a path such as owner.name.")
        let path = try path("a path such as owner.name")
        try finish("'.'")
        return path
    }

    mutating func wholeOperand() throws(CambiumError) -> Operand {
        try refuseEmpty("Write a path such as owner.name, or an aggregate such as items.@count.")
        let operand = try pathOrAggregate("a path such as owner.name")
        try finish("'.'")
        return operand
    }

    mutating func wholeOperands() throws(CambiumError) -> [Operand] {
        try refuseEmpty("Write paths separated by commas, such as name,owner.name.")
        var operands: [Operand] = []
        repeat { operands.append(try pathOrAggregate("a path such as owner.name")) } while try take(.comma)
        try finish("','")
        return operands
    }

    // MARK: Sort keys

    /// Reads sort keys that are separated by commas, up to the end of the text.
    mutating func wholeSortKeys() throws(CambiumError) -> [SortKey] {
        try refuseEmpty("Write a path such as name, or -name for descending order.")
        var keys = [try sortKey()]
        while try take(.comma) { keys.append(try sortKey()) }
        try finishSortKey("',', 'nulls'")
        return keys
    }

    mutating func wholeSortKey() throws(CambiumError) -> SortKey {
        try refuseEmpty("Write a path such as name, or -name for descending order.")
        let key = try sortKey()
        try finishSortKey("'nulls'")
        return key
    }

    private mutating func sortKey() throws(CambiumError) -> SortKey {
        let direction: SortKey.Direction = try take(.minus) ? .descending : .ascending
        let operand = try pathOrAggregate("a path such as name")
        let folding = try folding()
        return SortKey(operand, direction, nulls: try nulls(), folding: folding)
    }

    private mutating func nulls() throws(CambiumError) -> SortKey.Nulls? {
        guard isName("nulls") else { return nil }
        try advance()
        let nulls: SortKey.Nulls? = isName("first") ? .first : isName("last") ? .last : nil
        guard let nulls else { throw expected("'first' or 'last' after 'nulls'") }
        try advance()
        return nulls
    }

    private func finishSortKey(_ expectation: String) throws(CambiumError) {
        guard isName("asc") || isName("desc") || isName("ascending") || isName("descending") else { return try finish(expectation) }
        throw expected("\(expectation) or the end", remedy: "Write -name for descending order.")
    }

    private func isName(_ word: String) -> Bool { if case .name(let name) = token.kind { name.lowercased() == word } else { false } }
}
