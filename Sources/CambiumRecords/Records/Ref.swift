/// A reference to an object, typed by the record type with which the object is read.
///
/// ```swift
/// let apples = try graph.find(Product.self, identity: "a-1")
/// if let shelf = try apples?.shelf?.load() { print(shelf.code) }
/// ```
///
/// As a property of a record, a ref breaks a cycle of records, and loads its record only on request. It holds the graph from which its
/// owner was read, so the owner and the loaded record belong to one moment. The pages of that moment stay in memory as long as the ref
/// exists. A ref that was read from an edit holds a copy of the edit. The property `ref` of a record holds no graph, and neither do refs
/// that were read inside a transaction.
///
/// Two refs are equal if they refer to the same object of the same store.
public struct Ref<Record: EntityRecord>: Sendable {
    /// The id of the object. The id is provisional if the ref comes from the edit that inserted the object, or from a preview of the edit.
    public let id: ObjectID
    let origin: RefOrigin

    init(_ id: ObjectID, _ origin: RefOrigin) { (self.id, self.origin) = (id, origin) }

    /// Returns the record of the object, read from the graph or the edit of this ref.
    ///
    /// Throws `.misuse` if the ref holds no graph; in that case, call `load(_:)` of a graph, an edit or a transaction. Throws
    /// `.objectDeleted` if the graph does not contain the object. Otherwise throws as `Graph.load(_:)` does.
    public func load() throws -> Record {
        switch origin.moment {
        case .graph(let graph): return try graph.load(self)
        case .edit(let edit): return try edit.load(self)
        case .unknown:
            throw CambiumError(
                .misuse,
                "This ref holds no graph, because it is the property 'ref' of a record, or was read inside a transaction. Pass it to "
                    + "load(_:) of a graph, an edit or the transaction.")
        }
    }
}

extension Ref: Hashable {}

extension Ref: CustomStringConvertible {
    public var description: String {
        let name: String? =
            switch origin.moment {
            case .graph(let graph): graph.name(of: id)
            case .edit(let edit): edit.name(of: id)
            case .unknown: nil
            }
        return name ?? "\(Record.recordSchema.entity)/\(id.serialText)"
    }
}

extension Ref: _RelatedValue, _ArrayElement {
    public typealias _Target = Record

    public init(_property property: Int, of row: inout RecordReader) throws {
        guard let target = row.target(property) else { throw row.missing(property) }
        self = row.reference(to: target)
    }

    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws {
        try row.trackOwner(property, self)
        if row.writesRelationship(property) {
            try row.setTarget(property, try row.existing(self), of: Ref.self)
        } else if let container = row.container(property), container.id != id || row.isRolledBack(self) {
            self = Ref(container.id, container.origin)
        }
    }

    public static func _related(at place: ObjectPlace, of row: inout RecordReader) throws -> Ref? { row.reference(to: place) }

    public mutating func _save(in row: inout RecordWriter, _ property: Int) throws -> ObjectID { try row.existing(self) }
}

/// A `Ref` of any record type. `RecordWriter` uses this protocol to create a ref without knowing the record type.
protocol ContainerRef {
    var id: ObjectID { get }
    var origin: RefOrigin { get }

    init(_ id: ObjectID, _ origin: RefOrigin)
}

extension Ref: ContainerRef {
    /// Returns this ref in the form that the property `ref` has in a record inside of other records. `containers` are the objects of these
    /// other records.
    func inside(_ containers: [ObjectID]) -> Ref {
        if origin.containers == containers { return self }
        return Ref(id, origin.with(origin.read, origin.kept, containers))
    }
}

/// The part of a ref that does not depend on its object. Many refs share this part. It contains the store, and also the graph, edit or
/// transaction from which the refs were made.
final class RefOrigin: Sendable {
    /// The state from which a ref loads its record.
    enum Moment {
        case graph(Graph)
        case edit(Edit)
        case unknown
    }

    let storeKey: UInt64
    let moment: Moment
    /// Reports whether the transaction that inserted the objects was committed; `nil` if the objects already existed.
    let outcome: TransactionOutcome?
    /// The objects of the records that contained a record when it was read or saved. The list is empty, except in the property `ref` of a
    /// record that contains records. The record omits these objects, so a save of the record alone must not remove the links to these
    /// objects.
    let containers: [ObjectID]
    /// The moment at which the record of the ref was read or saved. The next save of the record writes what differs from this moment.
    /// `nil` in the refs of properties.
    let read: Read?
    /// The values and members that the record kept in its last save although the store has other ones; `nil` if there are none. The next
    /// save must not write them, because the record has not changed them.
    let kept: KeptProperties?
    /// The id that the object had in the edit that inserted it, if `EditCommit.ref(of:)` returned the ref; otherwise `nil`. A `ToMany` that
    /// was read from the edit knows its owner by this id.
    let provisionalID: ObjectID?

    /// The moment at which a record was read or saved.
    enum Read {
        case graph(Graph)
        /// The record was read or saved in a transaction, at a moment of its `RecordJournal`.
        case transaction(TransactionOutcome, at: Int)
        /// The record was read or saved in an edit. The ids are those of the commit if `EditCommit.ref(of:)` returned the ref.
        case edit(EditMoment, PermanentIDs?)
    }

    init(
        storeKey: UInt64, _ outcome: TransactionOutcome? = nil, read: Read? = nil, kept: KeptProperties? = nil,
        containers: [ObjectID] = [], provisionalID: ObjectID? = nil
    ) {
        (self.storeKey, self.outcome, self.containers, self.provisionalID) = (storeKey, outcome, containers, provisionalID)
        (self.read, self.kept) = (read, kept)
        moment = .unknown
    }

    init(_ graph: Graph) {
        (storeKey, outcome, read, kept, containers, provisionalID) = (graph.storeKey, nil, nil, nil, [], nil)
        moment = .graph(graph)
    }

    init(_ edit: Edit) {
        (storeKey, outcome, read, kept, containers, provisionalID) = (edit.base.storeKey, nil, nil, nil, [], nil)
        moment = .edit(edit)
    }

    /// Returns this origin for a record that was read or saved at another moment, inside of other records.
    func with(_ read: Read?, _ kept: KeptProperties?, _ containers: [ObjectID]) -> RefOrigin {
        RefOrigin(storeKey: storeKey, outcome, read: read, kept: kept, containers: containers, provisionalID: provisionalID)
    }

    /// The state that has the values with which the record was read or saved; after a rollback or a failed sync, the graph before the
    /// transaction. An edit may have been discarded. So outside of the edit and its copies, the state is the graph on which the edit was
    /// based, unless `EditCommit.ref(of:)` has returned the ref. `nil` if the values are not known, during a save in an edit.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the transaction in progress; `nil` if there is no such transaction.
    ///   - lineage: The lineage of the edit in which the record is saved; `nil` outside of edits.
    func stateOfRecord(except outcome: TransactionOutcome?, in lineage: EditLineage?) -> SavedRecord.State? {
        switch read {
        case .graph(let graph): return .graph(graph)
        case .transaction(let own, let moment):
            if own === outcome { return .transaction(own, at: moment, nil) }
            if let graph = own.graph { return .transaction(own, at: moment, graph) }
            return own.original.map { .graph($0) }
        case .edit(let moment, let ids?): return moment.state.map { .committed($0.edit, ids, isPreview: moment.isPreview) }
        case .edit(let moment, nil):
            guard let state = moment.state else { return nil }
            return moment.lineage === lineage ? .edit(state, isPreview: moment.isPreview) : .graph(state.edit.base)
        case nil: return nil
        }
    }

    /// Whether the objects were inserted by a transaction that was rolled back. The transaction in progress does not count as rolled back.
    ///
    /// - Parameter outcome: The outcome of the transaction in progress; `nil` if there is no such transaction.
    func isRolledBack(except outcome: TransactionOutcome? = nil) -> Bool {
        guard let own = self.outcome else { return false }
        return own !== outcome && !own.isCommitted
    }
}

/// Two origins are equal if they belong to the same store. So two refs are equal if their stores and their ids are equal.
extension RefOrigin: Hashable {
    static func == (left: RefOrigin, right: RefOrigin) -> Bool { left.storeKey == right.storeKey }

    /// Adds nothing, because the id of a ref is enough for its hash.
    func hash(into hasher: inout Hasher) {}
}
