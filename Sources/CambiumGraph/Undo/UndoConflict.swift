public import CambiumModel

/// A later change that contradicts an undo: a value now differs from the value that the undone transactions left.
///
/// ```swift
/// let conflicts = try store.previewUndo(.transaction(TransactionNumber(rawValue: 41))) { preview in preview.conflicts }
/// for conflict in conflicts { print(conflict) }
/// ```
public struct UndoConflict: Sendable, CustomStringConvertible {
    /// The part of the store that the conflict concerns.
    public enum Subject: Sendable, Hashable {
        case attribute(ObjectID, Attribute)
        case relationship(ObjectID, Relationship)
        /// An object as a whole: an undo needs an object that no longer exists, or brings back an object that exists already,
        /// or would delete a stub that a later row has filled.
        case object(ObjectID)
        case label(String)
    }

    /// The state of the subject.
    public enum State: Sendable, Hashable {
        case value(Value)
        /// The members of a relationship: in order if it is ordered, otherwise by ascending id.
        case members([ObjectID])
        /// The transaction that a label names.
        case moment(TransactionNumber)
        /// The object exists.
        case present
        /// The object exists, but only its identity is known.
        case stub
        /// There is no such object, property or label.
        case absent
    }

    /// The part of the store that the conflict concerns.
    public let subject: Subject
    /// The state that the undone transactions left.
    public let left: State
    /// The present state.
    public let now: State
    /// The undone transactions that left `left`: one, or several in succession.
    public let transactions: ClosedRange<TransactionNumber>
    /// The names of the object and of the members: `Issue/65 (CORE-17)`.
    let names: [ObjectID: String]

    /// The object of the conflict; `nil` for a label.
    public var id: ObjectID? {
        switch subject {
        case .attribute(let id, _), .relationship(let id, _), .object(let id): id
        case .label: nil
        }
    }

    /// Returns the name of an object of the conflict, such as `Note/42`.
    package func name(of id: ObjectID) -> String { names[id] ?? id.description }

    /// The subject, with the state that the undone transactions left and the present state.
    ///
    /// ```text
    /// Note/42.title: transaction 41 left Paris, now Lyon
    /// ```
    public var description: String { "\(place): \(cause) left \(text(left)), now \(text(now))" }

    private var cause: String {
        let (first, last) = (transactions.lowerBound, transactions.upperBound)
        return first == last ? "transaction \(last)" : "transactions \(first) to \(last)"
    }

    private var place: String {
        switch subject {
        case .attribute(let id, let attribute): "\(name(of: id)).\(attribute.name)"
        case .relationship(let id, let relationship): "\(name(of: id)).\(relationship.name)"
        case .object(let id): name(of: id)
        case .label(let label): "label \(label)"
        }
    }

    private func text(_ state: State) -> String {
        switch state {
        case .value(let value): value.text.excerpt
        case .members(let ids): "[\(text(ids))]"
        case .moment(let number): "transaction \(number)"
        case .present: "the object"
        case .stub: "a stub"
        case .absent: "nothing"
        }
    }

    private func text(_ ids: [ObjectID]) -> String {
        let listed = ids.prefix(Self.memberCountMax).map(name(of:)).joined(separator: ", ")
        return ids.count > Self.memberCountMax ? "\(listed), and \(ids.count - Self.memberCountMax) more" : listed
    }

    /// The maximum number of members that the description of a conflict lists for a relationship.
    static let memberCountMax = 10
}
