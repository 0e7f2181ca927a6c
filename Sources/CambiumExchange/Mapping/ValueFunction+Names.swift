internal import CambiumJSON

extension ValueFunction {
    /// The functions without an argument, by their names in mappings.
    static let plain: [String: ValueFunction] = ["trim": .trim, "upper": .upper, "lower": .lower, "integer": .integer, "text": .text]

    static let names = #""trim" "upper" "lower" "integer" "text" {"split": text} {"join": text} {"lookup": object, "otherwise": value}"#

    /// The function in the form that it has in the JSON of a mapping.
    var json: JSONValue {
        switch self {
        case .trim: .string("trim")
        case .upper: .string("upper")
        case .lower: .string("lower")
        case .integer: .string("integer")
        case .text: .string("text")
        case .split(let separator): .object([.init("split", .string(separator))])
        case .join(let separator): .object([.init("join", .string(separator))])
        case .lookup(let table, let otherwise):
            .object(
                [.init("lookup", .object(table.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }))]
                    + (otherwise.map { [.init("otherwise", $0)] } ?? []))
        }
    }
}
