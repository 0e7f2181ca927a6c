public import CambiumModel

/// A change in the store that contradicts an edit: the change and the edit concern the same part of an object, and have different results.
///
/// ```swift
/// for conflict in edit.conflicts(with: store.graph) { print(conflict) }
/// ```
public struct EditConflict: Sendable, CustomStringConvertible {
    /// The part of an object that the conflict concerns.
    public enum Subject: Sendable, Hashable {
        case attribute(Attribute)
        case relationship(Relationship)
        /// The object as a whole: either the edit or the store deleted it, and the other side changed it.
        case object
    }

    /// The state of the conflicting attribute, relationship or object: in the base of the edit, in the edit, or in the store.
    public enum State: Sendable, Hashable {
        case value(Value)
        /// The members of a relationship: in order if it is ordered, otherwise by ascending id.
        case members([ObjectID])
        /// The object exists.
        case present
        /// The object does not exist.
        case deleted
    }

    /// The way in which the edit uses the subject.
    public enum Use: Sendable, Hashable {
        case written
        /// The caller read the subject through an edit with `EditTracking.writesAndReads`. If it is an object, the caller has used it,
        /// found it or not found it, or read a list or a number of objects to which it belongs.
        case read
    }

    /// The object of the conflict.
    public let id: ObjectID
    /// The entity of the object in the graph on which the edit builds.
    public let entity: Entity
    /// The part of the object that the conflict concerns.
    public let subject: Subject
    /// The way in which the edit uses the subject.
    public let use: Use
    /// The state in the graph on which the edit builds. If a migration has widened the type of an attribute, the value has the wider type.
    public let base: State
    /// The state in the edit. If a migration has widened the type of an attribute, the value has the wider type.
    public let mine: State
    /// The state in the graph with which the edit was compared.
    public let theirs: State
    /// The schema of the graph on which the edit builds.
    package let schema: Schema
    /// The schema of the graph with which the edit was compared.
    package let laterSchema: Schema
    /// The key that identifies the store to which the edit belongs.
    package let storeKey: UInt64
    /// The names of the object, and of the members that the description lists, with their identities: `Issue/65 (CORE-17)`.
    package let names: [ObjectID: String]
    /// Whether a migration removed the attribute or relationship that the edit changes.
    package let isRemoved: Bool

    package init(
        id: ObjectID, entity: Entity, subject: Subject, use: Use, base: State, mine: State, theirs: State, schema: Schema,
        laterSchema: Schema, storeKey: UInt64, names: [ObjectID: String], isRemoved: Bool
    ) {
        (self.id, self.entity, self.subject, self.use) = (id, entity, subject, use)
        (self.base, self.mine, self.theirs) = (base, mine, theirs)
        (self.schema, self.laterSchema, self.storeKey) = (schema, laterSchema, storeKey)
        (self.names, self.isRemoved) = (names, isRemoved)
    }

    /// Whether the edit's change can replace the store's change. Always `true` for a read. For a write, `false` if the store deleted the
    /// object, because only an undo brings back a deleted object. Also `false` for a write if a migration removed the property.
    public var canKeepMine: Bool { use == .read || (subject == .object ? theirs == .present : !isRemoved) }

    /// The object and the property, with the values in the base of the edit, in the edit and in the store. If the conflict is about a whole
    /// object, the text states whether the edit or the store deleted the object. If a migration removed the property, the text states the
    /// removal instead of the values.
    ///
    /// ```text
    /// Product/2 (a-2).name: base Pears, edit Ripe pears, store Green pears
    /// ```
    public var description: String {
        let verb = use == .written ? "edit" : "reader"
        if isRemoved { return "\(place): the edit changes the property, which a migration has removed" }
        if subject != .object { return "\(place): \(sides(verb))" }
        if base == .deleted { return "\(place): the reader did not find the object, which has been inserted in the store" }
        if theirs == .present { return "\(place): the edit deletes the object, which has been changed in the store" }
        return "\(place): the \(verb) uses the object, which has been deleted in the store"
    }

    /// The object and the property, such as `Note/1.title`.
    package var place: String {
        let object = names[id] ?? "\(entity.name)/\(id.serialText)"
        return switch subject {
        case .attribute(let attribute): "\(object).\(attribute.name)"
        case .relationship(let relationship): "\(object).\(relationship.name)"
        case .object: object
        }
    }

    private func sides(_ verb: String) -> String {
        "base \(text(base)), \(verb) \(text(mine)), store \(text(theirs))"
    }

    private func text(_ state: State) -> String {
        switch state {
        case .value(let value): value.text
        case .members(let ids): "[\(text(ids))]"
        case .present: "present"
        case .deleted: "deleted"
        }
    }

    private func text(_ ids: [ObjectID]) -> String {
        let listed = ids.prefix(Self.memberCountMax).map { names[$0] ?? $0.description }.joined(separator: ", ")
        return ids.count > Self.memberCountMax ? "\(listed), and \(ids.count - Self.memberCountMax) more" : listed
    }

    /// The maximum number of members that the description of a conflict lists for a relationship.
    package static let memberCountMax = 10
}

/// The underlying error of `.conflict` if changes in the store conflict with an edit.
///
/// ```swift
/// do {
///     try store.commit(&edit)
/// } catch let error as CambiumError where error.code == .conflict {
///     for conflict in (error.underlying as? EditConflicts)?.conflicts ?? [] { print(conflict) }
/// }
/// ```
public struct EditConflicts: Error, Sendable {
    /// The conflicts that the policy did not resolve, ordered by object and property.
    public let conflicts: [EditConflict]

    /// The maximum number of conflicts in the details of an error.
    private static let detailCountMax = 20

    package init(conflicts: [EditConflict]) { self.conflicts = conflicts }

    var error: CambiumError {
        error("The store has changed since the base of the edit", "Nothing was changed. Rebase the edit with a policy that resolves them.")
    }

    /// The error of a save of a record.
    package var errorOfSave: CambiumError {
        error("The object has changed since the record was read", "Read the record again, or save it with a policy that resolves them.")
    }

    private func error(_ event: String, _ remedy: String) -> CambiumError {
        let count = conflicts.count
        return CambiumError(
            .conflict,
            "\(event), which leads to \(count) \(count == 1 ? "conflict" : "conflicts"). \(remedy)",
            details: conflicts.prefix(Self.detailCountMax).map(\.description), underlying: self)
    }
}

/// The winner of a conflict between an edit and the store.
package enum EditSide {
    case mine
    case theirs
}

/// The way in which an edit resolves conflicts with changes in the store.
///
/// ```swift
/// try edit.rebase(onto: store.graph, policy: .theirs)
/// try store.commit(&edit, policy: .byProperty { $0.concerns(\Note.title) ? .mine : .theirs })
/// ```
public enum EditPolicy: Sendable {
    /// Any conflict is an error.
    case error
    /// The edit wins. If it cannot win, because an object was deleted or a property was removed, the conflict is an error.
    case mine
    /// The store wins.
    case theirs
    /// The closure chooses the policy for each conflict.
    case byProperty(@Sendable (EditConflict) -> EditPolicy)

    /// Returns the winner of a conflict; `nil` if the conflict is an error.
    package func winner(of conflict: EditConflict) -> EditSide? {
        let winner: EditSide? =
            switch self {
            case .error: nil
            case .mine: .mine
            case .theirs: .theirs
            case .byProperty(let choose): choose(conflict).winner(of: conflict)
            }
        return winner == .mine && !conflict.canKeepMine ? nil : winner
    }
}
