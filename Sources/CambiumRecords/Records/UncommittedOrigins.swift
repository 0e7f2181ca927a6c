/// Makes the refs of records that are read from the uncommitted changes of a transaction. The refs hold no graph, because the pages of the
/// changes belong to the transaction.
final class UncommittedOrigins {
    private let original: Graph
    private let read: RefOrigin
    /// The origin that refs get if the transaction inserted their objects. Such a ref is valid only if the transaction is committed.
    private let inserted: RefOrigin
    /// Maps the id that an inserted object has in the preview of an edit to its provisional id. Refs to all other objects keep their ids.
    private let otherIDs: [ObjectID: ObjectID]
    private let outcome: TransactionOutcome?

    /// Later changes of the transaction count as changes since the records were read.
    init(_ original: Graph, _ outcome: TransactionOutcome) {
        self.original = original
        let moment = outcome.withJournal { $0.beginRead() }
        read = RefOrigin(storeKey: original.storeKey, read: .transaction(outcome, at: moment))
        inserted = RefOrigin(storeKey: original.storeKey, outcome, read: .transaction(outcome, at: moment))
        otherIDs = [:]
        self.outcome = outcome
    }

    /// Creates an instance for records that are read from a preview: the graph that would result from committing an edit.
    ///
    /// - Parameters:
    ///   - moment: The state of the edit.
    ///   - provisionalIDs: The ids that the inserted objects have in the edit.
    init(_ original: Graph, _ moment: EditMoment, provisionalIDs: [ObjectID: ObjectID]) {
        self.original = original
        read = RefOrigin(storeKey: original.storeKey, read: .edit(moment, nil))
        inserted = read
        otherIDs = provisionalIDs
        outcome = nil
    }

    /// - Parameter containers: The objects of the records that contain the object's record, if the ref becomes the property `ref` of the
    ///   object's record; otherwise empty.
    func ref<Record: EntityRecord>(to id: ObjectID, in containers: [ObjectID] = []) -> Ref<Record> {
        outcome?.withJournal { $0.watch(id) }
        return Ref<Record>(self.id(id), original.contains(id) ? read : inserted).inside(containers)
    }

    /// Returns the id that a ref to an object has: the provisional id if an edit inserted the object, otherwise the id itself.
    func id(_ id: ObjectID) -> ObjectID { otherIDs[id] ?? id }
}
