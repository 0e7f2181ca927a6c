package import CambiumModel

/// A graph that a writer changes. Only drafts write to pages. A draft that is dropped without being published has no effect.
///
/// The birth of a page is the epoch of the draft that created it. A draft writes only to pages that it created: pages whose birth is the
/// epoch of the draft. The draft copies any other page before it writes. No reader sees a change of the draft before `Timeline.publish`.
package struct Draft: ~Copyable {
    var linkWriter: LinkWriter
    let base: Version
    /// The maximum number of applied requests that the register keeps. The register contains requests and labels.
    let requestCountMax: Int
    /// The conditions that must hold at commit and have not been checked yet.
    var pending = PendingChecks()
    /// The objects whose derived attributes are not up to date.
    var derived = DerivedNotes()
    /// The objects that lost an owner; `nil` if no relationship deletes such objects, and in a replay.
    var orphans: OrphanNotes?
    /// The number of members and groups of rows that were read for derived attributes.
    package internal(set) var derivedWork = 0
    /// The rows that changed, or `nil` if no ops will be derived from them.
    var touched: TouchedRows?
    /// The error that a change threw after it had written to a page. Such an error makes the draft unusable. Drafts are moved often and
    /// must be small, so the type is `any Error`, which is only a reference.
    private var failure: (any Error)?
    /// The work of replaying the changes that depends on the graph, such as the rows that a deletion reaches. `Op.replayWork` is the rest.
    package internal(set) var replayWork = 0
    init(of base: Version, epoch: UInt64, requestCountMax: Int) {
        self.requestCountMax = requestCountMax
        self.base = base
        orphans = OrphanNotes(base.layout.ownedEnds)
        linkWriter = LinkWriter(IndexWriter(TableWriter(PageWriter(base.space, epoch: epoch), base.layout, base.directory)))
    }

    /// Creates a draft that continues the changes of another draft on separate pages. The new draft is never published. It reads pages of
    /// the other draft, so it must not outlive that draft.
    ///
    /// - Parameter epoch: A number that no other draft has.
    init(continuing other: borrowing Draft, epoch: UInt64) {
        self.init(of: other.base, epoch: epoch, requestCountMax: other.requestCountMax)
        layout = other.layout
        directory = other.directory
        transaction = other.transaction
        pending = other.pending
        derived = other.derived
    }

    package var schema: Schema { layout.schema }

    /// The graph that the draft was made from.
    package var original: Graph { Graph(version: base) }

    // MARK: Parts

    /// Writes hash indexes.
    @inline(__always) var indexWriter: IndexWriter {
        _read { yield linkWriter.indexWriter }
        _modify { yield &linkWriter.indexWriter }
    }
    /// Writes rows and cells.
    @inline(__always) var tableWriter: TableWriter {
        _read { yield linkWriter.indexWriter.tableWriter }
        _modify { yield &linkWriter.indexWriter.tableWriter }
    }
    /// Allocates and releases pages.
    @inline(__always) var pageWriter: PageWriter {
        _read { yield linkWriter.indexWriter.tableWriter.pageWriter }
        _modify { yield &linkWriter.indexWriter.tableWriter.pageWriter }
    }

    var space: PageSpace { pageWriter.space }
    var chunks: Chunks { pageWriter.chunks }
    var epoch: UInt64 { pageWriter.epoch }
    var reader: Reader { tableWriter.reader }
    var layout: GraphLayout {
        get { tableWriter.layout }
        set { tableWriter.layout = newValue }
    }
    var directory: PageRef {
        get { tableWriter.directory }
        set { tableWriter.directory = newValue }
    }
    /// The number of the current transaction: one more than the number of the last transaction in the original graph, unless a caller sets
    /// another number.
    package var transaction: UInt64 {
        get { tableWriter.transaction }
        set { tableWriter.transaction = newValue }
    }
}

// MARK: - All or nothing

extension Draft {
    /// Runs a change that checks everything before it writes, so that the change takes effect as a whole or not at all.
    ///
    /// If the change throws after it has written to a page, the draft has failed: it refuses all later changes, and it cannot be published.
    @inline(__always)
    mutating func atomically(_ change: (inout Draft) throws(CambiumError) -> Void) throws(CambiumError) {
        try checkUsable()
        pageWriter.hasWritten = false
        // Writes to the cached group skip the code that sets `hasWritten`. Without a cached group, the first write runs this code.
        tableWriter.forgetGroup()
        do throws(CambiumError) {
            try change(&self)
        } catch {
            if pageWriter.hasWritten { failure = error }
            throw error
        }
    }

    /// Throws `.notWritable` if an earlier change in this draft failed after it had written to a page.
    @inline(__always)
    package borrowing func checkUsable() throws(CambiumError) {
        if failure != nil { throw refusal() }
    }

    @inline(never)
    private borrowing func refusal() -> CambiumError {
        let reason = (failure as? CambiumError)?.message ?? ""
        return CambiumError(
            .notWritable, "The transaction cannot continue, because a change stopped halfway: \(reason) Repeat the transaction.",
            underlying: failure)
    }
}

/// Reads the objects of a draft, by id.
extension Draft {
    package borrowing func contains(_ id: ObjectID) -> Bool { place(of: id) != nil }

    /// Returns the concrete entity of an object, or `nil` if there is no such object.
    package borrowing func entity(of id: ObjectID) -> Entity? {
        guard let place = place(of: id) else { return nil }
        return entity(at: place)
    }

    /// Returns the value of an attribute. Returns `nil` if there is no such object, and null if the object's entity does not have the
    /// attribute.
    package borrowing func value(of attribute: Attribute, of id: ObjectID) -> Value? {
        guard let place = place(of: id) else { return nil }
        return DerivedNotes.pendingValue(self, of: attribute, at: place) ?? reader.value(of: layout.field(attribute), at: place)
    }

    /// Returns the ids that a relationship leads to. The ids are in the order of the relationship if it is ordered, and otherwise in
    /// ascending order. Returns `nil` if there is no such object, and an empty array if the object's entity does not have the relationship.
    package borrowing func members(_ relationship: Relationship, of id: ObjectID) -> [ObjectID]? {
        guard let place = place(of: id) else { return nil }
        return reader.memberIDs(layout.handle(relationship), of: place, layout)
    }

    package borrowing func memberCount(_ relationship: Relationship, of id: ObjectID) -> Int? {
        guard let place = place(of: id) else { return nil }
        let handle = layout.handle(relationship)
        return handle.isIn(place) ? reader.memberCount(handle.end, owner: place.row) : 0
    }

    /// Returns whether two objects are linked. Complexity: O(1) expected.
    package borrowing func isLinked(_ id: ObjectID, _ relationship: Relationship, _ target: ObjectID) -> Bool {
        let handle = layout.handle(relationship)
        guard let owner = place(of: id), let row = place(of: target), handle.isIn(owner), handle.targetTable == Int(row.table)
        else { return false }
        return reader.isLinked(handle.end, owner: owner.row, target: row.row)
    }

    /// Returns the object whose only identity attribute has this text.
    package borrowing func find(_ entity: Entity, identity text: String) -> ObjectID? {
        guard let place = reader.find(entity, identity: text, layout) else { return nil }
        return id(place)
    }

    /// Returns the object whose identity has this key: a part for each component, in the order of `entity.identity`.
    package borrowing func find(_ entity: Entity, key: [IdentityKeyPart]) -> ObjectID? {
        guard let place = reader.find(entity, key: key, layout) else { return nil }
        return id(place)
    }

    /// Returns the object with these identity values. The values are in the order of `entity.identityValues`.
    package borrowing func find(_ entity: Entity, identity values: [Value]) -> ObjectID? {
        guard let place = reader.find(entity, identity: values, layout) else { return nil }
        return id(place)
    }
}
