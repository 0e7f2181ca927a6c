/// One member of a relationship of one object: a link, seen from the owner.
struct LinkEnd: Hashable {
    let place: EditPlace
    let member: ObjectID
}

/// Writing the relationships of records.
extension RecordWriter {
    /// The order that the members of an ordered relationship get.
    enum WantedOrder {
        /// The order in which the closure `collect` of `writeMembers` appends the members.
        case collected
        /// The order that the members have in the store, followed by the new members. A Swift `Set` gets this order, because a `Set` has no
        /// order itself.
        case kept
    }

    /// Returns the current object and the relationship of a property, if this call to `write(to:)` writes the relationship. Returns `nil`
    /// if the call is for attributes, or if the property leads back to the containing record, which writes the link.
    private func relationship(_ property: Int) -> (owner: ObjectID, relationship: Relationship)? {
        guard let id = current.id, case .relationship(let relationship, _) = current.binding.property(property),
            relationship.number != current.arrival
        else { return nil }
        return (id, relationship)
    }

    /// If a property leads back to the record that contains the current record, returns the object of that record. Returns `nil` for any
    /// other property, and in a call to `write(to:)` for attributes.
    mutating func container(_ property: Int) -> (id: ObjectID, origin: RefOrigin)? {
        guard !isClearing, wantsRelationships, path.count > 1,
            case .relationship(let relationship, _) = current.binding.property(property), relationship.number == current.arrival
        else { return nil }
        let id = path[path.count - 2]
        return (id, origin(of: id, isNew: false))
    }

    /// Whether a property of a record type leads back to the containing record. Such a property is `nil` when the record is read inside of
    /// the containing record. So a save sets the property to `nil`, too. Otherwise, the property could keep a record that no longer
    /// contains this record.
    @usableFromInline
    mutating func omitsContainer<Value>(_ property: Int, _ type: Value.Type) -> Bool {
        container(property) != nil && type is any EntityRecord.Type
    }

    /// If a property leads back to the containing record, and its type is `Ref`, returns a ref to that record. Otherwise returns `nil`.
    mutating func containerRef<Value>(_ property: Int) -> Value? {
        guard let container = container(property), let type = Value.self as? any ContainerRef.Type else { return nil }
        return type.init(container.id, container.origin) as? Value
    }

    /// Whether a value is a ref to an object that a rolled-back transaction inserted.
    func isRolledBack<Value>(_ value: Value) -> Bool {
        (value as? any ContainerRef)?.origin.isRolledBack(except: target.outcome) ?? false
    }

    /// Whether this call to `write(to:)` writes this relationship. A call for attributes writes no relationship.
    func writesRelationship(_ property: Int) -> Bool { relationship(property) != nil }

    /// Returns whether the `ToMany` that is being written was read from this relationship of the current object. If so, its members are
    /// unchanged, and need not be written.
    ///
    /// If a rolled-back transaction inserted the owner, or if the owner is in another store, the members are always written. The ids of
    /// such an owner and of the current object can be equal only by chance.
    ///
    /// - Parameter owner: The object and the relationship from which the `ToMany` was read. The object may have a provisional id of an edit
    ///   that was committed. It counts as the current object if the record's ref states that id, or if the save found the current object
    ///   by its identity.
    func keepsMembers(_ property: Int, of owner: MembersOwner) -> Bool {
        guard let (id, relationship) = relationship(property), relationship.number == owner.relationship else { return false }
        if owner.origin.storeKey != target.original.storeKey { return false }
        if current.isNew || owner.origin.isRolledBack(except: target.outcome) { return false }
        // Properties of different hierarchies can have the same number.
        if owner.id.root != id.root { return false }
        if owner.id == id { return true }
        guard owner.id.isProvisional, !id.isProvisional, !target.hasInserted(owner.id) else { return false }
        return !current.isKnown || current.provisionalID == owner.id
    }

    @usableFromInline
    mutating func writeTarget<Record: EntityRecord>(_ property: Int, _ record: inout Record) throws {
        guard writesRelationship(property) else { return try trackOwner(property, record) }
        try setTarget(property, try saveNested(&record, property), of: Record.self)
    }

    mutating func saveNested<Record: EntityRecord>(_ record: inout Record, _ property: Int) throws -> ObjectID {
        try save(&record, arrival: relationship(property)?.relationship.inverse)
    }

    /// Links the current object to one object, or to no object. If `wanted` is `nil` because the record omits the object of a containing
    /// record, the existing link stays.
    mutating func setTarget<Target>(_ property: Int, _ wanted: ObjectID?, of type: Target.Type) throws {
        guard let (id, relationship) = relationship(property) else { return }
        if isClearing { return }
        if let wanted { trackListed([wanted], type) }
        let before = target.members(relationship, of: id).first
        if before == wanted { return }
        if wanted == nil, let before, isOmitted(before, type) {
            trackOmitted(before)
            return
        }
        let mine = wanted.map { [$0] } ?? []
        if let read = current.before?.members(relationship, present: before.map { [$0] } ?? []) {
            let isOmitted = wanted == nil && read.first.map { self.isOmitted($0, type) } ?? false
            guard
                try (read != mine || isUndone(id, relationship, read: read)) && !isOmitted
                    && wins(id, relationship, read: read, mine: mine),
                try wanted.map({ try wins($0, target.inverse(relationship), for: id) }) ?? true
            else {
                current.kept.members[relationship.number] = isOmitted ? read : mine
                return
            }
        }
        trackFormer(relationship, of: id)
        if let wanted {
            try link(id, relationship, wanted)
        } else if let before {
            try unlink(id, relationship, before)
        }
    }

    /// Stores the members that a relationship has before the writer changes it.
    private mutating func trackFormer(_ relationship: Relationship, of id: ObjectID) {
        let place = EditPlace(id, relationship.number)
        if formerMembers[place] == nil { formerMembers[place] = membersBefore(relationship, of: id) }
    }

    /// Returns the members that a relationship had before this save. The positions of members that the save has removed through the inverse
    /// are not known.
    func membersBefore(_ relationship: Relationship, of id: ObjectID) -> [ObjectID] {
        let place = EditPlace(id, relationship.number)
        if let former = formerMembers[place] { return former }
        let present = target.members(relationship, of: id)
        return present.filter { !addedMembers.contains(LinkEnd(place: place, member: $0)) }
            + (lostMembers[place] ?? []).subtracting(present).sorted()
    }

    /// Whether two lists of members are the same, except for the positions that are not known.
    func isSame(_ left: [ObjectID], _ right: [ObjectID], _ relationship: Relationship, of id: ObjectID) -> Bool {
        if left == right { return true }
        guard left.count == right.count, Set(left) == Set(right) else { return false }
        guard relationship.isOrdered else { return true }
        let lost = lostMembers[EditPlace(id, relationship.number)] ?? []
        return !lost.isEmpty && left.filter { !lost.contains($0) } == right.filter { !lost.contains($0) }
    }

    private mutating func link(_ id: ObjectID, _ relationship: Relationship, _ member: ObjectID, at index: Int? = nil) throws {
        if let inverse = target.inverse(relationship) {
            if !relationship.isToMany, let former = target.members(relationship, of: id).first { reportLoss(of: id, at: former, inverse) }
            if !inverse.isToMany, let former = target.members(inverse, of: member).first {
                reportLoss(of: member, at: former, relationship)
                reportLoss(of: former, at: member, inverse)
            }
            let place = EditPlace(member, inverse.number)
            if lostMembers[place]?.contains(id) != true { addedMembers.insert(LinkEnd(place: place, member: id)) }
        }
        try target.link(id, relationship, member, at: index)
    }

    private mutating func unlink(_ id: ObjectID, _ relationship: Relationship, _ member: ObjectID) throws {
        if let inverse = target.inverse(relationship) { reportLoss(of: id, at: member, inverse) }
        try target.unlink(id, relationship, member)
    }

    /// Records that a change to the inverse relationship removes a member from a relationship of `owner`.
    private mutating func reportLoss(of member: ObjectID, at owner: ObjectID, _ relationship: Relationship) {
        let place = EditPlace(owner, relationship.number)
        if !addedMembers.contains(LinkEnd(place: place, member: member)) { lostMembers[place, default: []].insert(member) }
    }

    /// Whether a property whose type is `type` omits an object when the record is read. A property that is a record omits the object of any
    /// record that contains the current record, or that contained it when it was last read or saved. Properties of other types omit no
    /// object.
    private func isOmitted<Member>(_ id: ObjectID, _ type: Member.Type) -> Bool {
        type is any EntityRecord.Type && (path.contains(id) || current.containers.contains(id))
    }

    /// Returns the objects for which `isOmitted` returns `true`.
    private func omitted<Member>(_ type: Member.Type) -> Set<ObjectID> {
        type is any EntityRecord.Type ? Set(path).union(current.containers) : []
    }

    /// Records which of the objects in `current.containers` a property lists. Ignores properties that are not records, because only a
    /// property that is a record can omit an object.
    private mutating func trackListed<Member>(_ ids: [ObjectID], _ type: Member.Type) {
        if current.containers.isEmpty || !(type is any EntityRecord.Type) { return }
        for id in ids where current.containers.contains(id) { current.listed.insert(id) }
    }

    private mutating func trackOmitted(_ id: ObjectID) { if current.containers.contains(id) { current.omitted.insert(id) } }

    /// Sets the members of a to-many relationship. A record omits the records that contain it. The objects of these outer records stay
    /// members, at their positions.
    ///
    /// - Parameter collect: Appends the wanted members, in order. `collect` is called only if the relationship is written.
    mutating func writeMembers<Member>(
        _ property: Int, of type: Member.Type, _ order: WantedOrder = .collected,
        _ collect: (inout RecordWriter, inout [ObjectID]) throws -> Void
    ) throws {
        guard let (id, relationship) = relationship(property) else { return }
        var wanted: [ObjectID] = []
        try collect(&self, &wanted)
        if isClearing { return }
        trackListed(wanted, type)
        let present = target.members(relationship, of: id)
        var kept: Set<ObjectID> = []
        wanted.removeAll { !kept.insert($0).inserted }
        let omitted = omitted(type)
        for (index, member) in present.enumerated() where omitted.contains(member) && kept.insert(member).inserted {
            wanted.insert(member, at: min(index, wanted.count))
            trackOmitted(member)
        }
        if order == .kept, relationship.isOrdered {
            let members = Set(present)
            wanted = present.filter(kept.contains) + wanted.filter { !members.contains($0) }
        }
        if present == wanted { return }
        if let read = current.before?.members(relationship, present: present) {
            let merged = try merged(wanted, present, read, relationship, of: id, order, omitted)
            if merged != wanted { current.kept.members[relationship.number] = wanted }
            guard let merged else { return }
            wanted = merged
            kept = Set(merged)
        }
        trackFormer(relationship, of: id)
        let known = Set(present)
        for member in present where !kept.contains(member) { try unlink(id, relationship, member) }
        guard relationship.isOrdered else {
            for member in wanted where !known.contains(member) { try link(id, relationship, member) }
            return
        }
        if target.isEdit {
            for member in wanted where !known.contains(member) { try link(id, relationship, member) }
            return try target.reorder(id, relationship, wanted)
        }
        for step in MemberOrder.steps(from: present.filter(kept.contains), to: wanted) {
            if step.isNew {
                try link(id, relationship, step.member, at: step.index)
            } else {
                try target.move(id, relationship, step.member, to: step.index)
            }
        }
    }

    /// Returns the members that a relationship gets if the members added and removed since the record was read are applied to the present
    /// ones. Returns `nil` if the record has not changed the relationship, or if the store wins a conflict.
    private func merged(
        _ wanted: [ObjectID], _ present: [ObjectID], _ read: [ObjectID], _ relationship: Relationship, of id: ObjectID,
        _ order: WantedOrder, _ omitted: Set<ObjectID>
    ) throws -> [ObjectID]? {
        let (wantedIDs, presentIDs) = (Set(wanted), Set(present))
        let read = read.filter { wantedIDs.contains($0) || !omitted.contains($0) }
        let readIDs = Set(read)
        let hasOrder = relationship.isOrdered && order == .collected
        if hasOrder ? wanted == read : wantedIDs == readIDs {
            guard try isUndone(id, relationship, read: read) && wins(id, relationship, read: read, mine: wanted) else { return nil }
            return wanted
        }
        if hasOrder {
            guard try wins(id, relationship, read: read, mine: wanted) else { return nil }
            // If the order of the record wins, other members of the store do not stay.
            if !isSame(membersBefore(relationship, of: id), read, relationship, of: id) { return wanted }
        }
        var merged: [ObjectID] = []
        for member in wanted {
            if readIDs.contains(member) {
                // A member that is gone since was not added by the record.
                if presentIDs.contains(member) { merged.append(member) }
            } else if try presentIDs.contains(member) || wins(member, target.inverse(relationship), for: id) {
                merged.append(member)
            }
        }
        for (index, member) in present.enumerated() where !readIDs.contains(member) && !wantedIDs.contains(member) {
            merged.insert(member, at: min(index, merged.count))
        }
        return merged
    }
}
