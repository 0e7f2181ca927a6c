public import CambiumGraph
internal import CambiumModel

extension Changes {
    /// One line for each changed object and property, so that a test can compare all changes with a list of texts.
    ///
    /// ```swift
    /// #expect(store.graph.changes(since: before).summary == ["+ Note/3", "~ Note/1.title: Paris -> Rome", "- Item/2"])
    /// ```
    ///
    /// `+` marks an inserted object, and `-` a deleted object. `~` marks an attribute or a relationship that changed. A null is shown as an
    /// empty text. Added and removed members are listed by id: `~ Note/1.items: +Item/4 -Item/2`. The word `moved` follows if the order of
    /// the other members changed. `~ Note/1: no longer a stub` marks an object of which only the identity was known before. Objects are
    /// sorted by their ids. Complexity: O(changes).
    public var summary: [String] { flatMap { lines(of: $0) } }

    private func lines(of change: ObjectChange) -> [String] {
        let name = after.name(of: change.id) ?? before.name(of: change.id) ?? "?"
        switch change.kind {
        case .inserted: return ["+ \(name)"]
        case .deleted: return ["- \(name)"]
        case .changed:
            let stub = change.changesStub ? ["~ \(name): \(isStub(change) ? "now" : "no longer") a stub"] : []
            let attributes = change.attributes.map { "~ \(name).\($0.attribute.name): \($0.before.text) -> \($0.after.text)" }
            return stub + attributes + change.relationships.map { "~ \(name).\($0.relationship.name):\(members($0))" }
        }
    }

    private func isStub(_ change: ObjectChange) -> Bool { after.place(of: change.id).map(after.isStub) ?? false }

    private func members(_ change: RelationshipChange) -> String {
        let added = change.added.map { " +\(after.name(of: $0) ?? "?")" }
        let removed = change.removed.map { " -\(before.name(of: $0) ?? "?")" }
        return (added + removed).joined() + (change.isMoved ? " moved" : "")
    }
}
