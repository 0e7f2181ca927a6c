/// An ordered index: attributes by whose values the store sorts the objects of an entity and its sub-entities.
///
///     for index in schema.entity("Person")?.indexes ?? [] { print(index.components.count) }
package struct EntityIndex: Sendable, Hashable {
    package enum Direction: Sendable, Hashable { case ascending, descending }

    package enum Comparison: Sendable, Hashable {
        /// Compares values exactly. Texts are compared by their UTF-8 bytes.
        case exact
        /// Compares texts without regard to case.
        case folded
    }

    /// One attribute of an index.
    package struct Component: Sendable, Hashable {
        package let attribute: PropertyNumber
        package let direction: Direction
        package let comparison: Comparison

        package init(_ attribute: PropertyNumber, _ direction: Direction = .ascending, _ comparison: Comparison = .exact) {
            self.attribute = attribute
            self.direction = direction
            self.comparison = comparison
        }
    }

    /// The entity that declares the index.
    package let entity: EntityNumber
    /// The attributes in order of precedence: objects with equal values of one attribute are sorted by the next attribute.
    package let components: [Component]

    package init(entity: EntityNumber, components: [Component]) {
        self.entity = entity
        self.components = components
    }
}

/// A component of an index in the syntax of a schema: `name`, `-name` for descending order, `name[c]` for texts without regard to case.
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

    /// Returns the text of the component with another attribute name.
    func renamed(_ name: String) -> String {
        (direction == .descending ? "-" : "") + name + (comparison == .folded ? Self.folded : "")
    }
}

extension EntityDefinition {
    /// Returns the indexes with new names of attributes. Omits an attribute for which `rename` returns `nil`, and an index whose attributes
    /// are all omitted.
    package func indexes(renaming rename: (String) -> String?) -> [[String]] {
        indexes.map { set in
            set.compactMap { text in
                let component = IndexComponentText(text)
                return rename(component.name).map(component.renamed)
            }
        }.filter { !$0.isEmpty }
    }
}
