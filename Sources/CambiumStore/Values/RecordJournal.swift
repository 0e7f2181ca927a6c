import CambiumModel

/// The changes of a transaction to objects whose records the transaction has read or saved, so that a later save of such a record finds out
/// what has changed since.
///
/// Each record belongs to a moment of the transaction. A read has the moment at which it begins. A save and its changes have one moment of
/// their own, so they do not count as changes since the save.
package struct RecordJournal: Sendable {
    /// A property of an object.
    package struct Place: Hashable, Sendable {
        package let id: ObjectID
        package let property: PropertyNumber

        package init(id: ObjectID, property: PropertyNumber) { (self.id, self.property) = (id, property) }
    }

    /// A change of the members of one object.
    enum MemberChange: Sendable {
        case added(ObjectID)
        /// The member had this index. The index of an unordered relationship has no meaning.
        case removed(ObjectID, index: Int)
        case moved(ObjectID, from: Int)
    }

    private var moment = 0
    /// The moment of the first record; `nil` if there is no record yet. Changes at this moment need not be tracked.
    private var first: Int?
    private var values: [Place: [(moment: Int, before: Value)]] = [:]
    private var members: [Place: [(moment: Int, change: MemberChange)]] = [:]
    /// The objects that clones have inserted. A clone may link them to objects that existed before.
    private var copies: [(moment: Int, root: EntityNumber, serials: Range<UInt64>)] = []
    /// For each hierarchy, the least and the greatest serial among the objects of records. A change of another object need not be tracked.
    private var watched: [EntityNumber: ClosedRange<UInt64>] = [:]

    /// Returns the moment of the records that a read returns.
    package mutating func beginRead() -> Int {
        defer { moment += 1 }
        first = first ?? moment
        return moment
    }

    /// Returns the moment of the records that a save writes.
    package mutating func beginSave() -> Int {
        moment += 1
        first = first ?? moment
        return moment
    }

    package mutating func endSave() { moment += 1 }

    /// Records that a record of an object was read or saved.
    package mutating func watch(_ id: ObjectID) {
        guard let range = watched[id.root] else {
            watched[id.root] = id.serial...id.serial
            return
        }
        if range.contains(id.serial) { return }
        watched[id.root] = min(range.lowerBound, id.serial)...max(range.upperBound, id.serial)
    }

    /// Whether a change of an object must be tracked.
    func isWatched(_ id: ObjectID) -> Bool {
        guard let first, moment > first else { return false }
        return watched[id.root]?.contains(id.serial) == true
    }

    mutating func track(_ place: Place, before: Value) { values[place, default: []].append((moment, before)) }

    mutating func track(_ place: Place, _ change: MemberChange) { members[place, default: []].append((moment, change)) }

    /// Records that a clone has inserted objects with consecutive serials.
    mutating func trackCopies(_ root: EntityNumber, from serial: UInt64, count: Int) {
        if first != nil { copies.append((moment, root, serial..<serial + UInt64(count))) }
    }

    /// Returns the value that a property had at a moment, or `nil` if the value has not changed since.
    package func value(_ place: Place, at moment: Int) -> Value? { values[place]?.first { $0.moment > moment }?.before }

    /// Returns the members that a relationship had at a moment.
    ///
    /// Complexity: O(members + changes since the moment), plus O(members) for each member of an ordered relationship that was removed or
    /// moved.
    ///
    /// - Parameter present: The members after all changes.
    package func members(_ place: Place, isOrdered: Bool, at moment: Int, present: [ObjectID]) -> [ObjectID] {
        let undone = (members[place] ?? []).reversed().prefix { $0.moment > moment }.map(\.change)
        var members = present
        if !undone.isEmpty { members = isOrdered ? Self.list(present, undoing: undone) : Self.set(present, undoing: undone) }
        for copies in copies where copies.moment > moment {
            members.removeAll { $0.root == copies.root && copies.serials.contains($0.serial) }
        }
        return members
    }

    private static func set(_ present: [ObjectID], undoing changes: [MemberChange]) -> [ObjectID] {
        var members = Set(present)
        for change in changes {
            switch change {
            case .added(let member): members.remove(member)
            case .removed(let member, _): members.insert(member)
            case .moved: break
            }
        }
        return members.sorted()
    }

    private static func list(_ present: [ObjectID], undoing changes: [MemberChange]) -> [ObjectID] {
        var (members, added) = (present, Set<ObjectID>())
        func removeAdded() {
            if added.isEmpty { return }
            members.removeAll(where: added.contains)
            added.removeAll()
        }
        for change in changes {
            // The members that were added one after another are removed together.
            if case .added(let member) = change {
                added.insert(member)
                continue
            }
            removeAdded()
            switch change {
            case .added: break
            case .removed(let member, let index): members.insert(member, at: min(index, members.count))
            case .moved(let member, let index):
                members.removeAll { $0 == member }
                members.insert(member, at: min(index, members.count))
            }
        }
        removeAdded()
        return members
    }
}
