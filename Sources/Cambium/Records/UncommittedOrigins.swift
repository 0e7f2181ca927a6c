/// The origins that refs get if their records are read from the uncommitted changes of a transaction. The refs hold no graph, because the
/// pages of the changes belong to the transaction.
final class UncommittedOrigins {
    private let original: Graph
    private let read: RefOrigin
    /// The origin of refs to objects that the transaction inserted. Such a ref is valid only if the transaction is committed.
    private let inserted: RefOrigin
    /// The ids that refs get, by the ids that the objects have in the graph. A ref to any other object gets the id of the graph.
    private let otherIDs: [ObjectID: ObjectID]

    init(_ original: Graph, _ outcome: TransactionOutcome) {
        self.original = original
        read = RefOrigin(storeKey: original.storeKey)
        inserted = RefOrigin(storeKey: original.storeKey, outcome)
        otherIDs = [:]
    }

    /// Creates the origins of refs to the objects of an edit.
    ///
    /// - Parameter provisionalIDs: The ids that the inserted objects have in the edit.
    init(_ original: Graph, provisionalIDs: [ObjectID: ObjectID]) {
        self.original = original
        read = RefOrigin(storeKey: original.storeKey)
        inserted = read
        otherIDs = provisionalIDs
    }

    /// - Parameter containers: The objects of the records that contain the object's record. Empty unless the ref is a record's own ref.
    func ref<Record: EntityRecord>(to id: ObjectID, in containers: [ObjectID] = []) -> Ref<Record> {
        Ref<Record>(self.id(id), original.contains(id) ? read : inserted).inside(containers)
    }

    /// Returns the id that refs to an object have.
    func id(_ id: ObjectID) -> ObjectID { otherIDs[id] ?? id }
}
