internal import CambiumJSON

/// The mistakes found in a schema, with their positions. One error reports all mistakes together.
struct SchemaMistakes {
    private(set) var all: [(pointer: String, message: String)] = []

    mutating func add(_ pointer: String, _ message: String) { all.append((pointer, message)) }

    func throwIfAny() throws(CambiumError) {
        guard let first = all.first else { return }
        let lines = all.prefix(50).map { "\($0.pointer.isEmpty ? "the whole schema" : $0.pointer): \($0.message)" }
        let rest = all.count > 50 ? ["and \(all.count - 50) more"] : []
        let count = all.count == 1 ? "The schema has a mistake" : "The schema has \(all.count) mistakes"
        throw CambiumError(
            .invalidInput, "\(count). Correct the schema at each place.", details: lines + rest, place: .init(pointer: first.pointer))
    }
}

/// A position in the JSON form of a schema. The text of a position is created only for a mistake, because the schema is read whenever a
/// store is opened, and opening must be fast.
struct SchemaPlace: Sendable {
    private indirect enum Step: Sendable {
        case top
        case key(String, of: Step)
        case index(Int, of: Step)

        var pointer: String {
            switch self {
            case .top: ""
            case .key(let key, let parent): parent.pointer + "/" + JSONPointer.escaped(key)
            case .index(let index, let parent): parent.pointer + "/\(index)"
            }
        }
    }

    private let step: Step

    static let top = SchemaPlace(step: .top)

    /// The position as a JSON pointer (RFC 6901). Complexity: O(steps from the top).
    var pointer: String { step.pointer }

    subscript(_ key: String) -> SchemaPlace { SchemaPlace(step: .key(key, of: step)) }

    subscript(_ index: Int) -> SchemaPlace { SchemaPlace(step: .index(index, of: step)) }

    static func entity(_ name: String) -> SchemaPlace { top["entities"][name] }
}
