public import CambiumGraph
internal import CambiumModel

extension Changes {
    /// One line for each changed object and property, for tests that expect exact changes in one line.
    ///
    ///     #expect(store.graph.changes(since: before).summary == ["+ Note/3", "~ Note/1.title: Paris -> Rome", "- Item/2"])
    ///
    /// `+` is an object that was inserted, and `-` an object that was deleted. `~` is an attribute or a relationship that changed. A null
    /// has no text. Members are listed by name: `~ Note/1.items: +Item/4 -Item/2`, with `moved` if the order of others changed. Objects
    /// are in ascending order of their ids. Complexity: O(changes).
    public var summary: [String] { flatMap { lines(of: $0) } }

    private func lines(of change: ObjectChange) -> [String] {
        let name = after.name(of: change.id) ?? before.name(of: change.id) ?? "?"
        switch change.kind {
        case .inserted: return ["+ \(name)"]
        case .deleted: return ["- \(name)"]
        case .changed:
            let attributes = change.attributes.map { "~ \(name).\($0.attribute.name): \($0.before.text) -> \($0.after.text)" }
            return attributes + change.relationships.map { "~ \(name).\($0.relationship.name):\(members($0))" }
        }
    }

    private func members(_ change: RelationshipChange) -> String {
        let added = change.added.map { " +\(after.name(of: $0) ?? "?")" }
        let removed = change.removed.map { " -\(before.name(of: $0) ?? "?")" }
        return (added + removed).joined() + (change.isMoved ? " moved" : "")
    }
}
