import Cambium

/// The names that can be part of a path, for completion.
struct PathNames {
    let schema: Schema

    private static let functions = ["@count", "@sum.", "@min.", "@max.", "@avg.", "@countDistinct."]

    /// Returns the entity to which a path of relationships leads, or `nil` if the path does not lead to objects.
    func entity(at path: some StringProtocol, from entity: Entity) -> Entity? {
        var entity = entity
        for name in path.split(separator: ".") where !Self.stays(name) {
            let relationship = entity.relationship(String(name))
            guard let next = relationship.flatMap({ schema.entity($0.destination) }) else { return nil }
            entity = next
        }
        return entity
    }

    /// Returns the paths that complete an unfinished path by one more name. No dot is added after a relationship, because the path may end
    /// there.
    func continuations(of path: String, from entity: Entity) -> [String] {
        let split = path.lastIndex(of: ".").map { path.index(after: $0) } ?? path.startIndex
        let (beginning, unfinished) = (path[..<split], path[split...])
        guard let owner = self.entity(at: beginning, from: entity) else { return [] }
        var names = owner.attributes.map(\.name) + owner.relationships.map(\.name) + ["_id", "_entity"]
        if endsToMany(beginning, from: entity) { names += Self.functions }
        return names.filter { $0.hasPrefix(unfinished) }.map { beginning + $0 }
    }

    /// Returns whether a name leads from an object to the same object: `self`, or an aggregate function.
    private static func stays(_ name: some StringProtocol) -> Bool { name == "self" || name.hasPrefix("@") }

    /// Returns whether the last name of a path is a to-many relationship.
    private func endsToMany(_ path: Substring, from entity: Entity) -> Bool {
        let names = path.split(separator: ".")
        let owner = self.entity(at: names.dropLast().joined(separator: "."), from: entity)
        return names.last.flatMap { owner?.relationship(String($0)) }?.isToMany ?? false
    }
}
