internal import CambiumJSON

/// The path from a row to the value that is being read.
struct RowPath {
    private enum Step {
        /// A key, as the index of its token.
        case key(Int)
        case element(Int)
        /// Several keys, as the index of their JSON pointer in `pointers`.
        case pointer(Int)
    }

    private var steps: [Step] = []
    /// The JSON pointers to which steps refer by index. They are stored separately, so that a step stays small. Without a mapping, this
    /// list is empty.
    private var pointers: [String] = []
    /// The number of relationships on the path from the row to the object that is being read.
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
            case .key(let token): "/" + JSONPointer.escaped(tokens.string(token))
            case .pointer(let place): pointers[place]
            }
        }.joined()
    }
}
