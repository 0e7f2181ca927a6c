package import CambiumModel

extension Draft {
    /// Begins the next transaction of a replay in the same draft. No rule is checked, because the writer has checked each transaction
    /// before it wrote the transaction to the log.
    package mutating func beginReplayed(_ number: UInt64) {
        transaction = number
        if !pending.isEmpty { pending = PendingChecks() }
        pending.isOff = true
        // The log contains the deletions of objects that lost their owners.
        orphans = nil
    }

    /// Begins the next transaction of a replay, and applies it with `body`, which returns the work of the transaction.
    package mutating func replay(_ number: UInt64, _ body: (inout Draft) throws -> Int) rethrows -> Int {
        beginReplayed(number)
        return try body(&self)
    }

    /// Applies one op. Live transactions and replays both use this method, so both make the same graph. A live transaction may use another
    /// method only if the result equals the result of its ops in the log.
    ///
    /// An op applies as a whole, or the method throws and leaves the draft as it was. After an error, the caller may continue with other
    /// ops.
    ///
    /// - Throws: `.notFound` for a missing object, and `.invalidInput` for values that do not fit the schema. Throws `.limitExceeded` if a
    ///   table or the graph is full. Throws `.corrupted` for a block of objects or links that does not fit the graph, and for a digest that
    ///   differs from the graph's digest.
    package mutating func apply(_ op: Op) throws(CambiumError) {
        if !op.mayUseReserve { try CapacityCheck.check(self) }
        try atomically { draft throws(CambiumError) in try draft.perform(op) }
    }

    /// Carries out an op. Makes all checks that may refuse the op before it writes.
    private mutating func perform(_ op: Op) throws(CambiumError) {
        switch op {
        case .schema(let catalog): try adopt(catalog)
        case .insert(let id, let entity, let assignments): try insert(id, entity, assignments)
        case .set(let id, let assignments): try set(id, assignments)
        case .link(let id, let property, let target, let index): try link(id, property, target, index)
        case .unlink(let id, let property, let target):
            let (end, owner, row) = try resolve(id, property, target)
            unlink(end, owner: owner.row, target: row.row)
        case .move(let id, let property, let target, let index):
            let (end, owner, row) = try resolve(id, property, target)
            guard index >= 0 else { throw CambiumError(.invalidInput, "Index \(index) is negative. An index must be 0 or more.") }
            guard move(end, owner: owner.row, target: row.row, to: index) else {
                throw CambiumError(
                    .notFound,
                    "\(text(of: target)) is not a member of '\(name(property, at: owner))' of \(text(of: id)). "
                        + "Link the object before you move it.")
            }
            touched?.markStatedOrder(end, owner.row)
        case .delete(let ids):
            var places: [ObjectPlace] = []
            for id in ids { places.append(try livePlace(id)) }
            try delete(places)
        case .upsert(let block): try BlockWriter.apply(&self, block)
        case .relink(let block): try BlockWriter.apply(&self, block)
        case .clone(let clone): try CloneWriter.apply(&self, clone)
        case .mark(let id, let source, let isStub): try mark(id, source: source, isStub: isStub)
        case .label(let name, let number):
            try TransactionLabel.check(name)
            guard number.rawValue <= transaction else {
                throw CambiumError(
                    .notFound,
                    "Label '\(name)' cannot name transaction \(number), which does not exist. Pass the number of an existing transaction.")
            }
            try RegisterWriter.setLabel(&self, name, number)
        case .undo(let undone):
            guard let last = undone.last?.upperBound, last.rawValue < transaction else {
                throw CambiumError(.corrupted, "Transaction \(transaction) undoes no transaction, or one that is not earlier.")
            }
        case .digest(let number, let digest): try check(digest, of: number)
        }
    }

    // MARK: Schema

    private mutating func adopt(_ catalog: SchemaCatalog) throws(CambiumError) {
        let newLayout = GraphLayout(try Schema(catalog: catalog))
        try newLayout.checkPageSizes()
        // A migration deletes no objects, so the objects that it unlinks from their owners remain.
        defer { if !pending.isOff { orphans = OrphanNotes(layout.ownedEnds) } }
        guard layout.tables.isEmpty else { return try Migrator.migrate(&self, to: newLayout) }
        let register = reader.registerReference(of: layout)
        layout = newLayout
        derived = DerivedNotes()
        let page = tableWriter.newDirectory(sharedBlobs: .empty, register: register) { $0.newTable($1) }
        pageWriter.discard(directory)
        directory = page
    }

    // MARK: Digests

    private mutating func check(_ digest: GraphDigest, of number: TransactionNumber) throws(CambiumError) {
        guard number.rawValue < transaction else {
            throw CambiumError(.corrupted, "Transaction \(transaction) states a digest of transaction \(number), which is not earlier.")
        }
        // Only the previous transaction's digest can be compared. The draft no longer has the graph of an earlier transaction.
        if transaction - number.rawValue == 1 { countDigest() }
        guard transaction - number.rawValue > 1 || Digester(reader: reader, layout: layout).digest() == digest else {
            throw CambiumError(.corrupted, "The graph after transaction \(number) does not have the digest that the log states.")
        }
    }

    /// Counts the work of a digest of the whole graph, which a replay computes for a digest op.
    package mutating func countDigest() {
        let count = layout.tables.reduce(0) { $0 + reader.liveCount($1.index) }
        replayWork += count * ReplayWork.digestedObject
    }

    // MARK: Links

    private mutating func link(
        _ id: ObjectID, _ property: PropertyNumber, _ target: ObjectID, _ index: Int?
    ) throws(CambiumError) {
        let (end, owner, row) = try resolve(id, property, target)
        if let index, index < 0 || index > reader.memberCount(end, owner: owner.row) {
            let count = reader.memberCount(end, owner: owner.row)
            throw CambiumError(
                .invalidInput, "Index \(index) is out of range for '\(name(property, at: owner))' of \(text(of: id)). Use 0 to \(count).")
        }
        touched?.markStatedOrder(end, owner.row)
        link(end, owner: owner.row, target: row.row, at: index)
    }
}

extension Draft {
    /// The purpose for which a preview is read. A preview is the graph that would result from publishing a draft.
    package enum PreviewUse {
        /// Reading objects that are found by id or by identity, and their members.
        case objects
        /// Queries, which may read ordered indexes.
        case queries
    }

    /// Calls `body` with the graph that would result from publishing the draft. The draft does not change: a second draft updates derived
    /// values and ordered indexes on its own pages, and is dropped afterwards.
    ///
    /// The pages of the graph belong to the drafts, so the graph must not outlive `body`. Throws the errors of `body`. Throws
    /// `.notWritable` if a change of the draft failed, and `.limitExceeded` if a derived value cannot be stored. Complexity: O(objects
    /// whose derived values changed), and for queries O(changed objects x log objects) if the schema has ordered indexes.
    package borrowing func withPreview<Result>(for use: PreviewUse, _ body: (Graph) throws -> Result) throws -> Result {
        try checkUsable()
        let needsIndexes = use == .queries && !(layout.ordered.isEmpty && base.layout.ordered.isEmpty)
        if derived.isEmpty, !needsIndexes { return try body(graph(mayHaveDuplicates: mayHaveDuplicates)) }
        var copy = Draft(continuing: self, epoch: Timeline.nextEpoch())
        try DerivedNotes.updateDerived(&copy)
        if needsIndexes { OrderedWriter.updateIndexes(&copy, rowCountMax: 0) }
        let graph = copy.graph(mayHaveDuplicates: mayHaveDuplicates || copy.mayHaveDuplicates)
        let result = Swift.Result { try body(graph) }
        // `copy` owns pages of the graph, so it must exist until `body` has returned.
        _ = consume copy
        return try result.get()
    }

    /// Returns the current state of the draft as a graph, which is valid until the draft changes.
    private func graph(mayHaveDuplicates: Bool) -> Graph {
        Graph(
            version: Version(epoch: epoch, directory: directory, layout: layout, space: space, mayHaveDuplicates: mayHaveDuplicates))
    }

    /// Whether several objects can have the same unique value. The draft of an import or of a replay does not record every duplicate, so
    /// the result is `true` for such a draft.
    private var mayHaveDuplicates: Bool { pending.isOff || touched != nil || !pending.duplicates.isEmpty }
}
