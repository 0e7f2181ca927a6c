/// Attributes by whose values the objects of an entity (and its sub-entities) are kept in order.
///
///     for index in schema.entity("Person")?.indexes ?? [] { print(index.components.count) }
public struct EntityIndex: Sendable, Hashable {
    public enum Direction: Sendable, Hashable { case ascending, descending }

    public enum Comparison: Sendable, Hashable {
        /// By value; texts by their UTF-8 bytes.
        case exact
        /// Texts without regard to case.
        case folded
    }

    /// One attribute of an index.
    public struct Component: Sendable, Hashable {
        public let attribute: PropertyNumber
        public let direction: Direction
        public let comparison: Comparison

        public init(_ attribute: PropertyNumber, _ direction: Direction = .ascending, _ comparison: Comparison = .exact) {
            self.attribute = attribute
            self.direction = direction
            self.comparison = comparison
        }
    }

    /// The entity that declares the index.
    public let entity: EntityNumber
    /// The first one decides; objects that have the same value there are in the order of the next one.
    public let components: [Component]

    public init(entity: EntityNumber, components: [Component]) {
        self.entity = entity
        self.components = components
    }
}

/// A component of an index as a schema spells it: `name`, `-name` for descending order, `name[c]` for texts without regard to case.
struct IndexComponentText {
    let direction: EntityIndex.Direction
    let comparison: EntityIndex.Comparison
    let name: String

    init(_ text: String) {
        var rest = text[...]
        direction = rest.first == "-" ? .descending : .ascending
        if direction == .descending { rest.removeFirst() }
        comparison = rest.hasSuffix(Self.folded) ? .folded : .exact
        if comparison == .folded { rest.removeLast(Self.folded.count) }
        name = String(rest)
    }

    private static let folded = "[c]"

    /// The text with another name.
    func renamed(_ name: String) -> String {
        (direction == .descending ? "-" : "") + name + (comparison == .folded ? Self.folded : "")
    }
}

extension EntityDefinition {
    /// The indexes, with each attribute's name replaced. An index whose attribute has no new name loses the attribute, and is gone with
    /// its last one.
    package func indexes(renaming rename: (String) -> String?) -> [[String]] {
        indexes.map { set in
            set.compactMap { text in
                let component = IndexComponentText(text)
                return rename(component.name).map(component.renamed)
            }
        }.filter { !$0.isEmpty }
    }
}
