import CambiumModel

/// The changes of a batch that are not yet written to the overlay: members added to ordered relationships, or removed from them.
///
/// The overlay contains all members of an ordered relationship, so each write of the relationship takes O(members). Recording a change here
/// takes O(1) on average.
struct EditListChanges: Sendable {
    private var changes: [EditPlace: Change] = [:]

    /// The members of one ordered relationship: the members before the batch changed the relationship, and the members that the batch
    /// removed or appended.
    struct Change: Sendable {
        let relationship: Relationship
        private let before: [ObjectID]
        private let known: Set<ObjectID>
        private var removed: Set<ObjectID> = []
        /// The appended members, in order; `nil` for a member that was removed again.
        private var appended: [ObjectID?] = []
        private var indexes: [ObjectID: Int] = [:]

        init(_ relationship: Relationship, _ before: [ObjectID]) {
            (self.relationship, self.before, known) = (relationship, before, Set(before))
        }

        /// All members, in order. Complexity: O(members + changes).
        var members: [ObjectID] { before.filter { !removed.contains($0) } + appended.compactMap(\.self) }

        func contains(_ member: ObjectID) -> Bool {
            indexes[member] != nil || (known.contains(member) && !removed.contains(member))
        }

        /// Appends `member`. The caller ensures that `member` is not in the relationship yet.
        mutating func append(_ member: ObjectID) {
            indexes[member] = appended.count
            appended.append(member)
        }

        mutating func remove(_ member: ObjectID) {
            if let index = indexes.removeValue(forKey: member) {
                appended[index] = nil
            } else {
                removed.insert(member)
            }
        }
    }

    /// The changed relationships, by ascending id of the object, and then by the number of the relationship.
    var all: [(place: EditPlace, change: Change)] { changes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }

    subscript(place: EditPlace) -> Change? { changes[place] }

    func contains(_ place: EditPlace) -> Bool { changes[place] != nil }

    /// Begins to collect the changes of a relationship that has the members `members`.
    mutating func begin(_ place: EditPlace, _ relationship: Relationship, _ members: [ObjectID]) {
        changes[place] = Change(relationship, members)
    }

    mutating func append(_ member: ObjectID, to place: EditPlace) { changes[place]?.append(member) }

    mutating func remove(_ member: ObjectID, from place: EditPlace) { changes[place]?.remove(member) }

    /// Forgets the changes of a relationship, because another write contains them.
    mutating func forget(_ place: EditPlace) { changes[place] = nil }
}
