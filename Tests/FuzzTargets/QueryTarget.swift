import CambiumModel

/// The fuzz target for the texts of conditions, sort keys and operands. An accepted text can be printed and read back as the same tree.
///
/// The first byte of an input, modulo 3, chooses the kind of the text: 0 for a condition, 1 for sort keys, and 2 for an operand.
enum QueryTarget {
    @Sendable static func seeds() throws -> [[UInt8]] {
        conditions.map { [0] + Array($0.utf8) } + [[1] + Array("-name[cd],tags.@count nulls last".utf8), [2] + Array("a.@max.b.#any".utf8)]
    }

    private static let conditions = [
        "age > 30 and name beginswith[c] \"Ma\" and (city in {\"Murcia\", \"Cádiz\"} or not retired == true)",
        "any tags.name == 'red' || all items.done = yes && none items where (price => 3.5e-1 and a.@countDistinct.b <> 1)",
        "createDate between {$a, \"1990-01-01T00:00:00Z\"} or name like[dc] \"A*\\u00e9\\ud83d\\ude00\\n\" or name matches '^A.+'",
        "_id == Note/42 or self == 3/42 or some #in.#all != null or 'red' in[c] tags.name or !(x in [1, -2] or $y in $z or TRUEPREDICATE)",
    ]

    @Sendable static func run(_ input: [UInt8]) throws {
        guard let kind = input.first else { return }
        let text = String(decoding: input.dropFirst(), as: UTF8.self)
        switch kind % 3 {
        case 0:
            guard let condition = try parsed(text, { text throws(CambiumError) in try Condition(parsing: text) }) else { return }
            try condition.check()
            guard try Condition(parsing: condition.description) == condition else {
                throw Finding("a condition is not read back unchanged")
            }
        case 1:
            guard let keys = try parsed(text, { text throws(CambiumError) in try SortKey.list(parsing: text) }) else { return }
            let printed = keys.map(\.description).joined(separator: ",")
            guard try SortKey.list(parsing: printed) == keys else { throw Finding("sort keys are not read back unchanged") }
        default:
            guard let operand = try parsed(text, { text throws(CambiumError) in try Operand(parsing: text) }) else { return }
            try operand.check()
            guard try Operand(parsing: operand.description) == operand else { throw Finding("an operand is not read back unchanged") }
        }
    }

    /// Parses a text. Returns `nil` if the parser refuses it. Throws a `Finding` if the position in the parser's error is outside the text.
    private static func parsed<Tree>(_ text: String, _ parse: (String) throws(CambiumError) -> Tree) throws -> Tree? {
        do throws(CambiumError) {
            return try parse(text)
        } catch {
            guard error.code == .invalidInput || error.code == .limitExceeded else { throw error }
            guard let line = error.place?.line, let column = error.place?.column, line >= 1, column >= 1, column <= text.utf8.count + 1
            else {
                throw Finding("the place of a mistake is outside the text: \(error)")
            }
            return nil
        }
    }
}
