import CambiumModel
import Testing

@Suite struct QueryErrorTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let text: String
        let column: Int
        /// A part of the message.
        let message: String

        init(_ text: String, _ column: Int, _ message: String) {
            self.text = text
            self.column = column
            self.message = message
        }

        var testDescription: String { text }
    }

    static let conditions: [Sample] = [
        Sample("", 1, "The text is empty"), Sample("  ", 3, "The text is empty"),
        Sample("name nmae 3", 6, "Expected a relation such as ==, but found 'nmae'."),
        Sample("name", 5, "Write == true"), Sample("a.@count", 9, "but found the end."),
        Sample("a == 1 b", 8, "Expected 'and', 'or' or the end"),
        Sample("a == 1)", 7, "but found ')'"), Sample("(a == 1", 8, "Expected 'and', 'or' or ')', but found the end."),
        Sample("a == ", 6, "Expected a value or a path"), Sample("a === 1", 5, "but found '='"), Sample("and a = 1", 1, "Write #and"),
        Sample("a = 1 and", 10, "Expected a condition"), Sample("a = 1 or or b = 1", 10, "but found 'or'"),
        Sample("not", 4, "but found the end"),
        Sample("a not in {1}", 3, "Write 'not' before the whole comparison."), Sample("a is null", 3, "Write == null or != null."),
        Sample("a ilike \"x*\"", 3, "Write like[c]."), Sample("any b.a startsWith \"x\"", 9, "Write beginswith."),
        Sample("a regexp \"x\"", 3, "Write matches."),
        Sample("count(items) > 1", 6, "found '('. Write items.@count for the number of related objects."),
        Sample("sum(items.price) > 1", 4, "Write items.@sum.price"), Sample("year(born) == 1990", 5, "Compare the date with its bounds"),
        Sample("a == 1 and Lower(name) == \"x\"", 17, "Write ==[c]"), Sample("f(a) == 1", 2, "Conditions have no such function."),
        Sample("a == {1}", 6, "Write 'in' before a list."), Sample("{1} in a", 1, "on the right side"),
        Sample("a in 'x'", 6, "Expected a list"),
        Sample("a in b.@count", 6, "Expected a list"), Sample("a in {1 2}", 9, "Expected ',' or '}'"),
        Sample("a in {1,}", 9, "Expected a value"),
        Sample("a in {{1}}", 7, "Expected a value"), Sample("a in {1]", 8, "Expected ',' or '}'"),
        Sample("a in {1", 8, "but found the end"),
        Sample("a between {1}", 11, "two bounds"), Sample("a between {1,2,3}", 11, "two bounds"), Sample("a between b", 11, "two bounds"),
        Sample("a ==[x] 'b'", 5, "Expected [c], [d] or [cd], but found '[x]'."), Sample("a like[cc] 'b'", 7, "[cc]"),
        Sample("a ==[c 'b'", 5, "but found '['"), Sample("a in[x] {1}", 5, "but found '[x]'"),
        Sample("any items where price > 3", 17, "Expected '(' after 'where'"),
        Sample("any items where (price > 3", 27, "but found the end"),
        Sample("any items", 10, "or 'where'"), Sample("any 3 == a", 5, "Expected a path after 'any'"),
        Sample("any 'x' in a", 5, "Expected a path"),
        Sample("any a in b.c", 10, "quantifier"), Sample("all (a = 1)", 5, "Expected a path"),
        Sample("any a.@count > 1", 5, "Expected a path after 'any'. Omit 'any', because a.@count is one value."),
        Sample("any a.b.@count > 1", 5, "such as any a where (b.@count == 2). If 'a' leads to one object, write no quantifier."),
        Sample("none a.b.#in.@sum.c.d > 1", 6, "such as none a.b where (#in.@sum.c.d == 2)."),
        Sample("items.@total.x > 1", 7, "Expected @count"), Sample("items.@sum > 1", 12, "Write the value"),
        Sample("@count > 1", 1, "Expected a path before"),
        Sample("self.@count > 1", 6, "a name after 'self.'"), Sample("a.@count.b > 1", 9, "but found '.'"),
        Sample("a.@sum.b.@sum.c > 1", 10, "Write one aggregate"),
        Sample("a @count > 1", 3, "Expected a relation such as ==, but found '@count'"),
        Sample("a.@sum b > 1", 8, "Expected '.' and a path"),
        Sample("a. == 1", 4, "Expected a name after '.'"), Sample("a..b == 1", 3, "Expected a name"),
        Sample(".a == 1", 1, "Expected a condition"),
        Sample("in == 1", 1, "Write #in if it is a name."), Sample("a == $", 6, "Write a name after this character."),
        Sample("# == 1", 1, "a name after this character"),
    ]

    static let tokens: [Sample] = [
        Sample("a == 'x", 6, "The string has no end. Write '"), Sample("a == \"x\\", 6, "The string has no end. Write \""),
        Sample("a == 'b\\q'", 8, "the unknown escape '\\q'"), Sample("é == 'b\\é'", 9, "the unknown escape '\\é'"),
        Sample("a == '\\u12'", 7, "four hexadecimal digits"), Sample("a == '\\u+123'", 7, "four hexadecimal digits"),
        Sample("a == '\\ud800x'", 7, "half of a surrogate pair"), Sample("a == '\\ud800\\u0041'", 7, "half of a surrogate pair"),
        Sample("a == '\\ude00'", 7, "half of a surrogate pair"),
        Sample("a == 012", 6, "'012' is not a number"), Sample("a == 1.", 6, "'1.' is not a number"),
        Sample("a == 1e", 6, "'1e' is not a number"),
        Sample("a == 12abc", 6, "'12abc' is not a number"), Sample("a < 1990-01-01T00:00", 5, "in quotation marks"),
        Sample("a == .5", 6, "but found '.'"),
        Sample("a == +1", 6, "but found '+'"), Sample("a == -b", 6, "but found '-'"), Sample("a == 1.2.3", 6, "'1.2.3' is not a number"),
        Sample("a == Note/", 6, "'Note/' is not an object"), Sample("a == Note/x", 6, "'Note/x' is not an object"),
        Sample("a == Note/01", 6, "is not an object"), Sample("a == 3/274877906944", 6, "is not an object"),
        Sample("a == Note / 1", 11, "without spaces"),
        Sample("a == Note/99999999999999999999999", 6, "is not an object"), Sample("a == 70000/1", 6, "is not an object"),
        Sample("a == 0/1", 6, "is not an object"), Sample("a == -3/1", 6, "is not an object"), Sample("a == 1.5/1", 6, "is not an object"),
        Sample("a == %@", 6, "Write a parameter"), Sample("a = 1 & b = 1", 7, "Write 'and' or 'or'."),
        Sample("a == “x”", 6, "straight quotation marks"),
        Sample("a ≤ 3", 3, "Write <=."), Sample("a == 1;", 7, "but found ';'"), Sample("a == 1 \u{1B}[2J", 8, "found '\\u{1B}'"),
    ]

    @Test(arguments: conditions + tokens)
    func `a mistake in a condition is refused at its place`(sample: Sample) throws {
        let error = try #require(QueryFixture.refusal { _ = try Condition(parsing: sample.text) })
        #expect(error.code == .invalidInput)
        #expect(error.place == .init(line: 1, column: sample.column))
        #expect(error.message.contains(sample.message), "\(error.message)")
    }

    @Test func `the place of a mistake counts lines, and the bytes of a line`() throws {
        let error = try #require(QueryFixture.refusal { _ = try Condition(parsing: "a == 'x\ny' and\r\n  größe ?? 1") })
        #expect(error.place == .init(line: 3, column: 11))
    }

    static let keys: [Sample] = [
        Sample("", 1, "The text is empty"), Sample("-", 2, "Expected a path"), Sample("name desc", 6, "Write -name"),
        Sample("name nulls", 11, "'first' or 'last'"),
        Sample("name nulls middle", 12, "'first' or 'last'"), Sample("name[x]", 5, "[x]"), Sample("42", 1, "Expected a path"),
        Sample("name -born", 6, "or the end"),
    ]

    @Test(arguments: keys)
    func `a mistake in a sort key is refused at its place`(sample: Sample) throws {
        let error = try #require(QueryFixture.refusal { _ = try SortKey(parsing: sample.text) })
        #expect(error.code == .invalidInput)
        #expect(error.place == .init(line: 1, column: sample.column))
        #expect(error.message.contains(sample.message), "\(error.message)")
    }

    @Test(arguments: ["", "a,", "a,,b", ",a", "a b"])
    func `a list of sort keys or operands needs a key at each place`(text: String) {
        #expect(throws: CambiumError.self) { try SortKey.list(parsing: text) }
        #expect(throws: CambiumError.self) { try Operand.list(parsing: text) }
    }

    @Test(arguments: ["", "'x'", "42", "$p", "true", "a == 1", "in", "a.@sum", "Note/1", "{a}", "a,b"])
    func `an operand by itself is a path or an aggregate`(text: String) {
        #expect(throws: CambiumError.self) { try Operand(parsing: text) }
    }

    @Test(arguments: ["", "a.", "a b", "a.@count", "any", "1", "a[c]"])
    func `a text that is not a path is refused`(text: String) {
        #expect(throws: CambiumError.self) { try QueryPath(parsing: text) }
    }
}
