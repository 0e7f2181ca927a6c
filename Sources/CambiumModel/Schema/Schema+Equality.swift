/// Entities, attributes and relationships are equal if they have the same number and name in the same hierarchy. For example, an entity in
/// the schema of a program equals the corresponding entity in the schema of a store that the program created.
protocol SchemaElement: AnyObject, Hashable {
    associatedtype Number: Hashable

    var number: Number { get }
    var root: EntityNumber { get }
    var name: String { get }
}

extension SchemaElement {
    public static func == (left: Self, right: Self) -> Bool {
        left === right || (left.number == right.number && left.root == right.root && left.name == right.name)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension Entity: Hashable, SchemaElement {}
extension Attribute: Hashable, SchemaElement {}
extension Relationship: Hashable, SchemaElement {}
