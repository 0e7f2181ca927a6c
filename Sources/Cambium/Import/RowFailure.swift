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
    private enum Step {
        /// The token of a key.
        case key(Int)
        case element(Int)
        /// Several keys: a place in `pointers`.
        case pointer(Int)
    }

    private var steps: [Step] = []
    /// Apart from the steps, which cost nothing that way where there is no mapping.
    private var pointers: [String] = []
    /// How many relationships lead from the row to the object that is being looked at.
    private(set) var depth = 0

    mutating func push(key: Int) {
        steps.append(.key(key))
        depth += 1
    }

    mutating func push(element: Int) { steps.append(.element(element)) }

    mutating func push(pointer: String) {
        steps.append(.pointer(pointers.count))
        pointers.append(pointer)
        depth += 1
    }

    mutating func pop() {
        switch steps.removeLast() {
        case .element: return
        case .key: break
        case .pointer: pointers.removeLast()
        }
        depth -= 1
    }

    mutating func removeAll() {
        if steps.isEmpty { return }
        steps.removeAll(keepingCapacity: true)
        pointers.removeAll(keepingCapacity: true)
        depth = 0
    }

    func pointer(_ tokens: JSONTokens, key: Int? = nil) -> String {
        (steps + (key.map { [.key($0)] } ?? [])).map { step in
            switch step {
            case .element(let index): "/\(index)"
            case .key(let token): "/" + Self.escaped(tokens.string(token))
            case .pointer(let place): pointers[place]
            }
        }.joined()
    }

    static func escaped(_ key: String) -> String {
        key.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
            .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
    }
}
