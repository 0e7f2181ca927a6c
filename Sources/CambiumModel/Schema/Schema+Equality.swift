/// Entities, attributes and relationships are equal if they have the same number and name in the same hierarchy. For example, an entity in
/// the schema of a program equals the corresponding entity in the schema of a store that the program created.
extension Entity: Hashable {
    public static func == (left: Entity, right: Entity) -> Bool {
        left === right || (left.number == right.number && left.root == right.root && left.name == right.name)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension Attribute: Hashable {
    public static func == (left: Attribute, right: Attribute) -> Bool {
        left === right || (left.number == right.number && left.root == right.root && left.name == right.name)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension Relationship: Hashable {
    public static func == (left: Relationship, right: Relationship) -> Bool {
        left === right || (left.number == right.number && left.root == right.root && left.name == right.name)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
