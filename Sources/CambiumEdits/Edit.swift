internal import CambiumBytes
public import CambiumGraph
package import CambiumModel

/// Changes that a caller collects over time, for example in a form, and commits later.
///
/// An edit is a value. It holds the graph of one moment, its *base*, and the changes to that graph. Reading an edit returns the base with
/// these changes. An edit holds no lock, so the store can change in the meantime. Copying an edit costs nothing.
/// `Store.commit(_:policy:author:durability:)` compares an edit with the store, and applies the changes in one transaction.
/// Docs/Use/EDITS.md
/// has the rules.
///
/// ```swift
/// var edit = store.edit()
/// try edit.set(note, "title", to: "Rome")
/// let item = try edit.insert("Item", ["key": "a"], links: ["note": [note]])
/// print(try edit.members("items", of: note).count)
/// let committed = try store.commit(&edit)
/// print(committed.id(of: item))
/// ```
///
/// An edit keeps the pages of its base in memory. If an edit exists for a long time, call `rebase(onto:policy:)` from time to time. The
/// call releases the earlier base.
public struct Edit: Sendable {
    /// The graph on which the changes are based.
    public internal(set) var base: Graph
    private(set) var overlay = EditOverlay()
    private(set) var identities = EditIdentities()
    private(set) var history = EditHistory()
    /// The changes of ordered relationships that a batch has not written to `overlay` yet; `nil` outside of a batch.
    var listChanges: EditListChanges?
    /// The source of provisional ids. `nil` before the first insertion, because the numbers of edits repeat, and an edit without insertions
    /// should not use a number. The edit and the copies that are made after the first insertion share this object.
    private var numbering: EditNumbering?
    /// The number of calls that have deleted objects.
    private(set) var deletionCount = 0
    /// The reads of the caller; `nil` if reads are not tracked. The edit and its copies share this object.
    let reads: EditReads?
    package let lineage: EditLineage

    /// Creates an edit without changes.
    ///
    /// - Parameter lineage: The lineage of the committed edit that the new edit follows; a new one for any other edit.
    init(of base: Graph, tracking: EditTracking, _ lineage: EditLineage = EditLineage()) {
        (self.base, self.lineage) = (base, lineage)
        reads = tracking == .writes ? nil : EditReads()
    }

    /// Creates an edit without changes that continues another edit on a newer graph. The ids of the objects that the other edit inserted
    /// stay valid.
    init(continuing other: Edit, on base: Graph) {
        (self.base, lineage) = (base, other.lineage)
        (numbering, deletionCount) = (other.numbering, other.deletionCount)
        reads = other.reads.map { EditReads($0.all) }
    }

    /// The number that identifies the edit in its provisional ids; `nil` before the first insertion.
    var number: UInt64? { numbering?.edit }

    /// The schema of the base graph.
    package var schema: Schema { base.schema }

    /// A copy for reading objects by their ids. It lacks the steps of undo and the index of identities, so that a later change of the edit
    /// does not have to copy them.
    package var snapshot: Edit {
        var copy = self
        (copy.history, copy.identities) = (EditHistory(), EditIdentities())
        return copy
    }

    /// Whether the edit changes nothing. Complexity: O(objects that the edit has touched).
    public var isEmpty: Bool { overlay.objects.isEmpty || changes.isEmpty }

    // MARK: Undo

    /// Whether there is a step to undo. Always `false` inside a group, and in a copy that was made inside a group.
    public var canUndo: Bool { history.depth == 0 && !history.done.isEmpty }

    /// Whether there is a step to redo. Always `false` inside a group, and in a copy that was made inside a group.
    public var canRedo: Bool { history.depth == 0 && !history.undone.isEmpty }

    /// Undoes the last step. Each call that changes something is a step, and so is each group. Returns whether there was a step.
    ///
    /// A record that was saved in the edit keeps the undone values. Read it again with `load(_:)`.
    ///
    /// The steps are cleared by a commit, and by a rebase onto a graph in which an object of the edit has changed. Complexity: O(changes of
    /// the step, and members of the ordered relationships that it changes).
    @discardableResult
    public mutating func undo() -> Bool {
        guard let step = history.takeDone() else { return false }
        for write in step.reversed() { overlay.apply(write, .backwards) }
        return true
    }

    /// Redoes the last undone step. Any other change clears the undone steps. Returns whether there was a step.
    ///
    /// Complexity: that of `undo()`.
    @discardableResult
    public mutating func redo() -> Bool {
        guard let step = history.takeUndone() else { return false }
        for write in step { overlay.apply(write, .forwards) }
        return true
    }

    /// Combines the changes that `body` makes into one step. If `body` throws, none of these changes takes effect.
    ///
    /// A copy that `body` makes of the edit stays inside the group. Such a copy can be read and changed, but it cannot be undone, rebased
    /// or committed. Copy the edit after the group instead.
    ///
    /// ```swift
    /// try edit.group { edit in
    ///     try edit.set(note, "title", to: "Rome")
    ///     try edit.set(note, "rating", to: 4.5)
    /// }
    /// ```
    ///
    /// Throws the errors of `body`. Complexity: that of `body`.
    public mutating func group<Result, Failure: Error>(_ body: (inout Edit) throws(Failure) -> Result) throws(Failure) -> Result {
        let mark = history.begin()
        do throws(Failure) {
            let result = try body(&self)
            history.end()
            return result
        } catch {
            while let write = history.takeOpen(after: mark) { overlay.apply(write, .backwards) }
            history.end()
            throw error
        }
    }

    /// Combines the calls of `body` into one step, and writes each ordered relationship only once. So adding or removing n members takes
    /// O(n + members) instead of O(n x members).
    ///
    /// If `body` throws, none of its calls has an effect. `body` must not catch an error of a nested group, because the nested group cannot
    /// roll back its changes of ordered relationships.
    package mutating func batch<Result, Failure: Error>(_ body: (inout Edit) throws(Failure) -> Result) throws(Failure) -> Result {
        if listChanges != nil { return try group(body) }
        listChanges = EditListChanges()
        do throws(Failure) {
            return try group { (edit: inout Edit) throws(Failure) -> Result in
                let result = try body(&edit)
                edit.writeLists()
                return result
            }
        } catch {
            listChanges = nil
            throw error
        }
    }

    /// Removes all steps, so that nothing can be undone or redone.
    mutating func clearHistory() { history = EditHistory() }

    // MARK: Writing

    /// Changes the overlay. Call this method only inside a group.
    ///
    /// - Parameter isChange: Whether the write changes what the edit shows. Otherwise it states what the edit shows already.
    mutating func write(_ write: EditWrite, isChange: Bool = true) {
        overlay.apply(write, .forwards)
        history.track(write, isChange: isChange)
        switch write {
        case .insertion(let id, _): trackIdentity(of: id)
        case .value(let place, _, _), .target(let place, _, _): trackIdentity(of: place.id, ifChangedBy: place.property)
        case .deletion, .list, .splice, .member: break
        }
    }

    private mutating func trackIdentity(of id: ObjectID, ifChangedBy property: PropertyNumber? = nil) {
        guard let entity = knownEntity(of: id), !entity.identity.isEmpty else { return }
        if let property, !entity.identity.contains(where: { $0.number == property }) { return }
        // The identity also depends on the values that the edit has not set.
        trackReads(ofIdentityOf: id, entity)
        identities.track(id, entity, identity(of: id, entity))
    }

    mutating func nextDeletion() -> Int {
        deletionCount += 1
        return deletionCount
    }

    /// Returns the id of the next inserted object. Throws `.limitExceeded` if the edit and its copies have inserted too many objects.
    mutating func nextID(_ root: EntityNumber) throws(CambiumError) -> ObjectID {
        let own = numbering ?? EditNumbering()
        numbering = own
        return try own.nextID(root)
    }
}

/// The identity that an edit shares with its copies, and with the edits that follow it after a rebase or a commit. A record that was saved
/// in one of them is compared with this save only in edits of the same lineage, because any other edit may have been discarded.
package final class EditLineage: Sendable {}
