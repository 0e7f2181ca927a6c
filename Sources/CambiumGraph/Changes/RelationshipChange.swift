public import CambiumModel

/// The members of a relationship of one object at two moments, or in the base of an edit and in the edit.
///
/// ```swift
/// for object in store.graph.changes(since: earlier) {
///     for change in object.relationships { print(change.relationship.name, change.added, change.removed, change.isMoved) }
/// }
/// ```
public struct RelationshipChange: Sendable {
    /// A relationship of an object, in both graphs.
    struct Links: Sendable {
        let relationship: Relationship
        /// The relationship in the earlier schema, or `relationship` if the object does not have the relationship in the earlier schema.
        let former: Relationship
        let id: ObjectID
        let before: Graph
        let after: Graph
        /// All members before and after an edit; `nil` for a difference between two graphs.
        var lists: (before: [ObjectID], after: [ObjectID])?

        init(_ relationship: Relationship, _ former: Relationship?, _ id: ObjectID, _ before: Graph, _ after: Graph) {
            self.relationship = relationship
            self.former = former ?? relationship
            self.id = id
            self.before = before
            self.after = after
        }

        var membersBefore: [ObjectID] { lists?.before ?? before.members(former, of: id) ?? [] }
        var membersAfter: [ObjectID] { lists?.after ?? after.members(relationship, of: id) ?? [] }
    }

    private var links: Links
    /// The members that the object had only at the earlier moment, ascending.
    public let removed: [ObjectID]
    /// The members that the object has only at the later moment, ascending.
    public let added: [ObjectID]
    /// Whether the relationship has the same members at both moments, but in different orders. Always `false` for a relationship that is
    /// ordered at neither moment.
    public let isMoved: Bool

    /// The relationship in the later schema, or in the earlier schema if a migration has dropped the relationship.
    public var relationship: Relationship { links.relationship }

    /// All members at the earlier moment: in order if the relationship is ordered, otherwise ascending. Complexity: O(members).
    public var before: [ObjectID] { links.membersBefore }

    /// All members at the later moment: in order if the relationship is ordered, otherwise ascending. Complexity: O(members).
    public var after: [ObjectID] { links.membersAfter }

    /// Creates the change to the relationship of an object that exists in both graphs. Returns `nil` if the relationship did not change.
    init?(_ links: Links, _ events: ArraySlice<ChangeEvent>) {
        let own = events.filter { $0.kind.rawValue >= ChangeEvent.Kind.removed.rawValue }
        if own.isEmpty { return nil }
        self.links = links
        removed = own.filter { $0.kind == .removed }.map { ObjectID(root: links.former.destinationRoot, serial: $0.target) }
        added = own.filter { $0.kind == .added }.map { ObjectID(root: links.relationship.destinationRoot, serial: $0.target) }
        isMoved = own.contains { $0.kind == .moved }
    }

    /// Creates the change of an edit to the relationship of an object. Returns `nil` if the lists of members are equal.
    package init?(_ relationship: Relationship, of id: ObjectID, from before: [ObjectID], to after: [ObjectID], base: Graph) {
        if before == after { return nil }
        links = Links(relationship, nil, id, base, base)
        links.lists = (before, after)
        let (old, new) = (Set(before), Set(after))
        removed = before.filter { !new.contains($0) }.sorted()
        added = after.filter { !old.contains($0) }.sorted()
        isMoved = removed.isEmpty && added.isEmpty
    }

    /// Creates the change to the relationship of an object that exists in only one graph. Returns `nil` if the relationship has no members.
    init?(_ links: Links) {
        self.links = links
        removed = links.membersBefore.sorted()
        added = links.membersAfter.sorted()
        isMoved = false
        if removed.isEmpty, added.isEmpty { return nil }
    }
}
