internal import CambiumBytes
public import CambiumGraph
import CambiumModel

extension Edit {
    /// Compares the edit with a newer graph, and returns the conflicting changes, ordered by object and property. Docs/Use/EDITS.md has the
    /// rules. For the conflicts of a failed commit, use the `EditConflicts` of its error. The newest graph may differ from the graph with
    /// which the commit compared the edit.
    ///
    /// Complexity: O(comparison of the graphs + changed objects x (log n + their properties and members)) for n changes in the store. See
    /// `Graph.changes(since:)` for the comparison.
    ///
    /// - Parameter graph: A later graph of the same store. A graph of another store ends the process with a message, because the ids of its
    ///   objects mean other objects.
    public func conflicts(with graph: Graph) -> [EditConflict] {
        Trap.unless(
            base.storeKey == graph.storeKey,
            "The caller passed a graph of another store to 'conflicts(with:)'. Pass a graph of the store to which the edit belongs.")
        var finder = EditConflictFinder(edit: self, theirs: graph, changes: graph.changes(since: base))
        return finder.run()
    }
}

/// Finds the conflicts of an edit with the changes in the store since the graph on which the edit builds.
struct EditConflictFinder {
    let edit: Edit
    let theirs: Graph
    let changes: Changes
    private var found: [EditConflict] = []
    /// The objects and properties with a conflict.
    private var reported = Set<EditPlace>()
    /// The deleted objects whose conflict has already been reported: the edit uses them although the store has deleted them.
    private var lost = Set<ObjectID>()

    init(edit: Edit, theirs: Graph, changes: Changes) { (self.edit, self.theirs, self.changes) = (edit, theirs, changes) }

    mutating func run() -> [EditConflict] {
        let changesSchema = changes.changesSchema
        if changes.isEmpty, !changesSchema { return [] }
        let ids = edit.overlay.objects.keys.sorted()
        for id in ids { if let state = edit.overlay[id] { compare(id, state) } }
        if changesSchema { for id in ids { compareRemoved(of: id) } }
        for id in ids where !edit.isDeleted(id) {
            compareTargets(of: id)
            compareAbsences(of: id)
        }
        if let reads = edit.reads?.all { compare(reads) }
        // Sorts by object. The conflicts of one object keep the order in which they were found, which is the order of the schema, except
        // that removed properties follow the other ones.
        return found.enumerated().sorted { ($0.element.id, $0.offset) < ($1.element.id, $1.offset) }.map(\.element)
    }

    // MARK: Writes

    private mutating func compare(_ id: ObjectID, _ state: EditState) {
        guard !id.isProvisional, let change = changes.object(id) else { return }
        if state.deletion != nil {
            if change.kind == .changed, change.changesMoreThanDerivedValues {
                add(id, .object, .written, .present, .deleted, .present)
            }
        } else if change.kind == .deleted {
            if adds(id, state) { lose(id, .written) }
        } else {
            let now = theirs.entity(of: id)
            for attribute in change.attributes where state.values[attribute.attribute.number] != nil {
                if now?.attribute(attribute.attribute.number) != nil { compare(attribute, of: id, .written) }
            }
            for relationship in change.relationships where state.hasLinks(relationship.relationship.number) {
                if now?.relationship(relationship.relationship.number) == nil { continue }
                // An edit adds and removes single members of an unordered relationship, so its changes can be merged with those of the
                // store. They can be merged even if a migration has made the relationship ordered, because the edit has no order of the
                // members.
                let isOrdered = relationship.relationship.isOrdered && state.lists[relationship.relationship.number] != nil
                if isOrdered || !relationship.relationship.isToMany { compare(relationship, of: id, .written) }
            }
        }
    }

    /// Reports the properties that a migration removed although the edit sets their value, adds members to them or reorders their members.
    /// A null and a removed member do not count, because the migration removed the value and the members, too.
    private mutating func compareRemoved(of id: ObjectID) {
        guard let state = edit.overlay[id], let entity = edit.liveEntity(of: id), let now = edit.entity(of: id, in: theirs) else { return }
        for attribute in entity.attributes where now.attribute(attribute.number) == nil {
            guard let value = state.values[attribute.number], !value.isNull else { continue }
            reported.insert(EditPlace(id, attribute.number))
            let base = edit.original(attribute, of: id)
            add(id, .attribute(attribute), .written, .value(base), .value(value), .value(.null), isRemoved: true)
        }
        for relationship in entity.relationships where now.relationship(relationship.number) == nil {
            guard state.hasLinks(relationship.number), losesLinks(relationship, of: id, state) else { continue }
            reported.insert(EditPlace(id, relationship.number))
            let (base, mine) = (edit.originalMembers(relationship, of: id), edit.currentMembers(relationship, of: id))
            add(id, .relationship(relationship), .written, .members(base), .members(mine), .members([]), isRemoved: true)
        }
    }

    /// Whether the edit adds or reorders a member whose link the newer graph cannot hold, because a migration removed the relationship.
    private func losesLinks(_ relationship: Relationship, of id: ObjectID, _ state: EditState) -> Bool {
        let isReordered = state.lists[relationship.number] != nil && addsOrReorders(relationship, of: id)
        let members = isReordered ? edit.currentMembers(relationship, of: id) : edit.addedMembers(relationship, of: id, state)
        let inverse = edit.inverse(relationship)
        return members.contains { member in
            let link = EditLink(kind: .added, id: id, relationship: relationship, target: member, inverse: inverse)
            return !edit.isDeleted(member) && edit.isLost(link, in: theirs)
        }
    }

    private mutating func compare(_ change: AttributeChange, of id: ObjectID, _ use: EditConflict.Use) {
        let number = change.attribute.number
        guard let own = edit.knownEntity(of: id)?.attribute(number) else { return }
        // The later schema may have another type, in which the same value has another form.
        func later(_ value: Value) -> Value { own.type.converted(value, to: change.attribute.type) ?? value }
        let mine = later(edit.current(own, of: id))
        if use == .written, mine == change.after { return }
        reported.insert(EditPlace(id, number))
        add(id, .attribute(own), use, .value(later(change.before)), .value(mine), .value(change.after))
    }

    private mutating func compare(_ change: RelationshipChange, of id: ObjectID, _ use: EditConflict.Use) {
        let number = change.relationship.number
        guard let own = edit.knownEntity(of: id)?.relationship(number), use == .read || edit.statesMembers(own, of: id) else { return }
        let (mine, after) = (edit.currentMembers(own, of: id), change.after)
        // The edit and the store agree about a value that the caller only writes, but the caller has read another one.
        if use == .written, mine == after.filter({ !edit.isDeleted($0) }) { return }
        reported.insert(EditPlace(id, number))
        add(id, .relationship(own), use, .members(change.before), .members(mine), .members(after))
    }

    /// Returns whether the edit sets a value, adds a member or reorders members of an object that the store has deleted. Removed members do
    /// not count, because the deletion removes them, too. Members that the edit deletes do not count either.
    private func adds(_ id: ObjectID, _ state: EditState) -> Bool {
        if !state.values.isEmpty || state.targets.values.contains(where: { $0.id.map(edit.isDeleted) == false }) { return true }
        if state.differences.values.contains(where: { $0.contains { $0.value && !edit.isDeleted($0.key) } }) { return true }
        return state.lists.keys.contains { number in
            edit.knownEntity(of: id)?.relationship(number).map { addsOrReorders($0, of: id) } ?? false
        }
    }

    /// Whether the edit adds members to an ordered relationship, or changes the order of its members.
    private func addsOrReorders(_ relationship: Relationship, of id: ObjectID) -> Bool {
        let list = edit.currentMembers(relationship, of: id)
        let members = Set(list)
        return edit.originalMembers(relationship, of: id).filter(members.contains) != list
    }

    /// Reports the deleted objects to which the edit has linked an object. `compare` finds only the objects that the edit has changed
    /// itself. If a relationship has no named inverse, linking changes only the object at one end.
    private mutating func compareTargets(of id: ObjectID) {
        guard let state = edit.overlay[id], let entity = edit.knownEntity(of: id) else { return }
        for relationship in entity.relationships where state.hasLinks(relationship.number) {
            for target in edit.addedMembers(relationship, of: id, state) where !target.isProvisional && !edit.isDeleted(target) {
                if !theirs.contains(target) { lose(target, .written) }
            }
        }
    }

    /// Reports the links that the edit states to be absent, and that the store has made since, if the other end is a to-one or ordered
    /// relationship. Such a statement is recorded only at the unordered end. Without a conflict, it would remove the link that the store
    /// has set at the other end.
    private mutating func compareAbsences(of id: ObjectID) {
        guard let state = edit.overlay[id], let entity = edit.knownEntity(of: id) else { return }
        for relationship in entity.relationships {
            guard let difference = state.differences[relationship.number], let inverse = edit.inverse(relationship),
                !inverse.isToMany || inverse.isOrdered
            else { continue }
            for target in difference.filter({ !$0.value }).keys.sorted() where !edit.isDeleted(target) {
                let change = changes.object(target)?.relationships.first { $0.relationship.number == inverse.number }
                guard let change, change.after.contains(id), !change.before.contains(id),
                    reported.insert(EditPlace(target, inverse.number)).inserted
                else { continue }
                let mine = edit.currentMembers(inverse, of: target)
                add(target, .relationship(inverse), .written, .members(change.before), .members(mine), .members(change.after))
            }
        }
    }

    // MARK: Reads

    /// Reports the changes in the store to what the caller has read. A value that the edit has set since counts, too: the caller may have
    /// computed it from the value that was read.
    private mutating func compare(_ reads: EditReads.All) {
        var properties: [ObjectID: Set<PropertyNumber>] = [:]
        for place in reads.places { properties[place.id, default: []].insert(place.property) }
        var objects = reads.objects
        for read in reads.identities {
            guard let entity = edit.schema.entity(read.entity) else { continue }
            let (before, after) = (edit.base.find(entity, identity: read.values), found(entity, read.values))
            if before == after { continue }
            for id in [before, after].compactMap(\.self) {
                objects.insert(id)
                properties[id, default: []].formUnion(entity.identity.map(\.number))
            }
        }
        for number in reads.counts where !reads.lists.contains(number) {
            if let entity = edit.schema.entity(number), edit.base.count(of: entity) != count(entity) { trackFirst(of: entity, &objects) }
        }
        for number in reads.lists { if let entity = edit.schema.entity(number) { trackFirst(of: entity, &objects) } }
        for id in objects.sorted() { compareExistence(of: id) }
        for (id, properties) in properties.sorted(by: { $0.key < $1.key }) { compareReads(of: id, properties) }
    }

    /// Returns the entity of the newer graph that corresponds to an entity of the edit, or `nil` if a migration removed it.
    private func later(_ entity: Entity) -> Entity? { theirs.schema.successor(of: entity) }

    private func found(_ entity: Entity, _ values: [Value]) -> ObjectID? { later(entity).flatMap { theirs.find($0, identity: values) } }

    private func count(_ entity: Entity) -> Int { later(entity).map { theirs.count(of: $0) } ?? 0 }

    /// Adds the first object of an entity that the store has inserted or deleted. One object is enough to show that a list or a number of
    /// objects has changed. Complexity: O(changed objects).
    private func trackFirst(of entity: Entity, _ objects: inout Set<ObjectID>) {
        let first = changes.first { change in
            change.kind != .changed && change.entity.root == entity.root
                && (entity.family.contains(change.entity.number) || later(entity)?.family.contains(change.entity.number) == true)
        }
        if let first { objects.insert(first.id) }
    }

    /// Reports an object whose existence the caller has read, if the store has inserted or deleted it.
    private mutating func compareExistence(of id: ObjectID) {
        guard let change = changes.object(id), change.kind != .changed else { return }
        if change.kind == .deleted { return lose(id, .read) }
        if lost.insert(id).inserted { add(id, .object, .read, .deleted, .deleted, .present) }
    }

    /// Reports which of the given properties of an object the store has changed. The caller has read these properties through the edit. The
    /// changes of the object are determined only once for all properties.
    private mutating func compareReads(of id: ObjectID, _ properties: Set<PropertyNumber>) {
        let open = properties.filter { !reported.contains(EditPlace(id, $0)) }
        guard !open.isEmpty, let change = changes.object(id) else { return }
        if change.kind == .deleted { return lose(id, .read) }
        for attribute in change.attributes where open.contains(attribute.attribute.number) { compare(attribute, of: id, .read) }
        for relationship in change.relationships where open.contains(relationship.relationship.number) {
            compare(relationship, of: id, .read)
        }
    }

    private mutating func lose(_ id: ObjectID, _ use: EditConflict.Use) {
        if lost.insert(id).inserted { add(id, .object, use, .present, .present, .deleted) }
    }

    private mutating func add(
        _ id: ObjectID, _ subject: EditConflict.Subject, _ use: EditConflict.Use, _ base: EditConflict.State, _ mine: EditConflict.State,
        _ theirs: EditConflict.State, isRemoved: Bool = false
    ) {
        guard let entity = edit.knownEntity(of: id) ?? self.theirs.entity(of: id) else { return }
        found.append(
            EditConflict(
                id: id, entity: entity, subject: subject, use: use, base: base, mine: mine, theirs: theirs, schema: edit.base.schema,
                laterSchema: self.theirs.schema, storeKey: edit.base.storeKey, names: names(id, [base, mine, theirs]),
                isRemoved: isRemoved))
    }

    /// Returns the names of the object of a conflict, and of the members that the description of the conflict lists.
    private func names(_ id: ObjectID, _ states: [EditConflict.State]) -> [ObjectID: String] {
        var names: [ObjectID: String] = [:]
        names[id] = edit.base.fullName(of: id) ?? theirs.fullName(of: id)
        for case .members(let ids) in states {
            for id in ids.prefix(EditConflict.memberCountMax) {
                names[id] = edit.base.fullName(of: id) ?? theirs.fullName(of: id) ?? edit.name(of: id)
            }
        }
        return names
    }
}

extension ObjectChange {
    /// Whether anything other than derived attributes of the object changed. The store also recomputes derived attributes after changes to
    /// other objects. So if only derived attributes changed, no user changed this object.
    var changesMoreThanDerivedValues: Bool {
        kind != .changed || changesStub || attributes.contains { !$0.attribute.isDerived } || !relationships.isEmpty
    }
}

extension Edit {
    /// Returns the members that the edit adds to a relationship, in the order of the relationship. Members that the edit states are
    /// included, although the base has them, except those of an ordered relationship.
    func addedMembers(_ relationship: Relationship, of id: ObjectID, _ state: EditState) -> [ObjectID] {
        if let difference = state.differences[relationship.number] { return difference.filter(\.value).map(\.key).sorted() }
        if let target = state.targets[relationship.number] { return target.id.map { [$0] } ?? [] }
        let known = Set(originalMembers(relationship, of: id))
        return rawMembers(relationship, of: id).filter { !known.contains($0) }
    }

    /// Returns the members that the edit removes from a relationship.
    func removedMembers(_ relationship: Relationship, of id: ObjectID, _ state: EditState) -> [ObjectID] {
        if let difference = state.differences[relationship.number] { return difference.filter { !$0.value }.map(\.key).sorted() }
        let known = Set(rawMembers(relationship, of: id))
        return originalMembers(relationship, of: id).filter { !known.contains($0) }
    }
}
