/// Entities, attributes and relationships are equal if they have the same number and name in the same hierarchy. So an entity of a
/// program's schema equals the entity of the schema in the store that was created with it.
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
