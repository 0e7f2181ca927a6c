import CambiumModel

/// The smallest change to an `EditOverlay`. It contains the changed part before and after the change, so that the change can be undone
/// exactly.
enum EditWrite: Sendable {
    case insertion(ObjectID, EntityNumber)
    case deletion(ObjectID, Int)
    case value(EditPlace, before: Value?, after: Value?)
    case target(EditPlace, before: EditTargetID?, after: EditTargetID?)
    case list(EditPlace, before: [ObjectID]?, after: [ObjectID]?)
    /// A further change to the members of an ordered relationship, after the edit has already changed this relationship. The added members
    /// replace the removed members, which began at index `at`.
    case splice(EditPlace, at: Int, removed: [ObjectID], added: [ObjectID])
    case member(EditPlace, ObjectID, before: Bool?, after: Bool?)

    enum Direction { case forwards, backwards }

    /// The objects on whose state the write depends.
    var ids: [ObjectID] {
        switch self {
        case .insertion: []
        case .deletion(let id, _): [id]
        case .value(let place, _, _): [place.id]
        case .target(let place, let before, let after): [place.id] + [before?.id, after?.id].compactMap(\.self)
        case .list(let place, let before, let after): [place.id] + (before ?? []) + (after ?? [])
        case .splice(let place, _, let removed, let added): [place.id] + removed + added
        case .member(let place, let target, _, _): [place.id, target]
        }
    }

    /// This write, without the unchanged members at the beginning and at the end of an ordered relationship. So a long history of small
    /// changes takes little memory. Complexity: O(members).
    var trimmed: EditWrite {
        guard case .list(let place, let before?, let after?) = self else { return self }
        let countMax = min(before.count, after.count)
        var (start, end) = (0, 0)
        while start < countMax, before[start] == after[start] { start += 1 }
        while end < countMax - start, before[before.count - 1 - end] == after[after.count - 1 - end] { end += 1 }
        return .splice(
            place, at: start, removed: Array(before[start..<before.count - end]), added: Array(after[start..<after.count - end]))
    }
}

/// The objects that an edit changes, and their changes.
struct EditOverlay: Sendable {
    private(set) var objects = EditObjects()
    private(set) var deletedCount = 0

    subscript(id: ObjectID) -> EditState? { objects[id] }

    /// Applies a write, or undoes it. Complexity: O(1) expected, O(members) for an ordered relationship. The first write to a copy also
    /// takes O(changed objects / 256).
    mutating func apply(_ write: EditWrite, _ direction: EditWrite.Direction) {
        let isForwards = direction == .forwards
        switch write {
        case .insertion(let id, let entity):
            objects.change(id) { $0.inserted = isForwards ? entity : nil }
        case .deletion(let id, let number):
            objects.change(id) { $0.deletion = isForwards ? number : nil }
            deletedCount += isForwards ? 1 : -1
        case .value(let place, let before, let after):
            objects.change(place.id) { $0.values[place.property] = isForwards ? after : before }
        case .target(let place, let before, let after):
            objects.change(place.id) { $0.targets[place.property] = isForwards ? after : before }
        case .list(let place, let before, let after):
            objects.change(place.id) { $0.lists[place.property] = isForwards ? after : before }
        case .splice(let place, let start, let removed, let added):
            let (old, new) = isForwards ? (removed, added) : (added, removed)
            objects.change(place.id) { $0.lists[place.property]?.replaceSubrange(start..<start + old.count, with: new) }
        case .member(let place, let target, let before, let after):
            objects.change(place.id) { $0.set(target, isForwards ? after : before, in: place.property) }
        }
    }
}

extension EditState {
    /// Records whether a member of an unordered relationship was added or removed; `nil` if no call has stated either.
    fileprivate mutating func set(_ member: ObjectID, _ isAdded: Bool?, in property: PropertyNumber) {
        differences[property, default: [:]][member] = isAdded
        if differences[property]?.isEmpty == true { differences[property] = nil }
    }
}
