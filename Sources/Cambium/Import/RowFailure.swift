import CambiumJSON

/// Why a row cannot be imported, and where in it.
struct RowFailure: Error {
    let code: ImportReport.RowError.Code
    /// A JSON pointer inside of the row.
    let pointer: String
    let message: String
}

/// The way from a row down to the value that is being looked at.
struct RowPath {
    enum Step {
        case key(Int)
        case element(Int)
        /// Several keys, as a JSON pointer.
        case pointer(String)

        var isElement: Bool { if case .element = self { true } else { false } }
    }

    private var steps: [Step] = []
    /// How many relationships lead from the row to the object that is being looked at.
    private(set) var depth = 0

    mutating func push(_ step: Step) {
        steps.append(step)
        if !step.isElement { depth += 1 }
    }

    mutating func pop() {
        if !steps.removeLast().isElement { depth -= 1 }
    }

    mutating func removeAll() {
        steps.removeAll(keepingCapacity: true)
        depth = 0
    }

    func pointer(_ tokens: JSONTokens, key: Int? = nil) -> String {
        (steps + (key.map { [.key($0)] } ?? [])).map { step in
            switch step {
            case .element(let index): "/\(index)"
            case .key(let token): "/" + Self.escaped(tokens.string(token))
            case .pointer(let pointer): pointer
            }
        }.joined()
    }

    static func escaped(_ key: String) -> String {
        key.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}
