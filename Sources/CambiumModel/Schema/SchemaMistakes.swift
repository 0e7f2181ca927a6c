/// The mistakes found in a schema, with their places, until all of them are told at once.
struct SchemaMistakes {
    private(set) var all: [(pointer: String, message: String)] = []

    mutating func add(_ pointer: String, _ message: String) { all.append((pointer, message)) }

    func throwIfAny() throws(CambiumError) {
        guard let first = all.first else { return }
        let lines = all.prefix(50).map { "\($0.pointer.isEmpty ? "/" : $0.pointer): \($0.message)" }
        let rest = all.count > 50 ? ["and \(all.count - 50) more"] : []
        let count = all.count == 1 ? "The schema has a mistake" : "The schema has \(all.count) mistakes"
        throw CambiumError(.invalidInput, "\(count).", details: lines + rest, place: .init(pointer: first.pointer))
    }
}

/// A place in a schema, as a JSON pointer (RFC 6901).
struct SchemaPlace {
    let pointer: String

    static let top = SchemaPlace(pointer: "")

    subscript(_ key: String) -> SchemaPlace {
        let escaped = key.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
        return SchemaPlace(pointer: pointer + "/" + escaped)
    }

    subscript(_ index: Int) -> SchemaPlace { SchemaPlace(pointer: pointer + "/\(index)") }

    static func entity(_ name: String) -> SchemaPlace { top["entities"][name] }
}
