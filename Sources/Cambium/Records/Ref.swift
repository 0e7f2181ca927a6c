/// A reference to an object, typed by a record that is a view of the object.
///
/// As a property of a record, a ref breaks a cycle of records, and loads its record only on request. It holds the graph from which its
/// owner was read, so the owner and the loaded record belong to one moment. The pages of that moment stay in memory as long as the ref
/// exists. The property `ref` of a record holds no graph.
///
/// Two refs are equal if they refer to the same object of the same store.
public struct Ref<Record: EntityRecord>: Sendable {
    public let id: ObjectID
    let origin: RefOrigin

    init(_ id: ObjectID, _ origin: RefOrigin) { (self.id, self.origin) = (id, origin) }

    /// Returns the record of the object, read from the graph of this ref.
    ///
    /// Throws `.misuse` if the ref holds no graph (in that case, call `graph.load(_:)`), `.objectDeleted` if the graph does not contain the
    /// object, and as `Graph.load(_:)` does.
    public func load() throws -> Record {
        guard let graph = origin.graph else {
            throw CambiumError(
                .misuse, "This ref holds no graph, because it is the property 'ref' of a record. Pass it to load(_:) of a graph.")
        }
        return try graph.load(self)
    }
}

extension Ref: Hashable {
    public static func == (left: Ref, right: Ref) -> Bool { left.id == right.id && left.origin.storeKey == right.origin.storeKey }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Ref: CustomStringConvertible {
    public var description: String { origin.graph?.name(of: id) ?? "\(Record.recordSchema.entity)/\(id.serial)" }
}

extension Ref: RelatedValue, ArrayElement {
    public static var propertyForm: PropertyForm { .relationship(to: Record.self, .toOne, isOptional: false) }

    public init(property: Int, of row: inout RecordReader) throws {
        guard let target = row.target(property) else { throw row.missing(property) }
        self = row.reference(to: target)
    }

    public mutating func write(property: Int, to row: inout RecordWriter) throws {
        if row.writesRelationship(property) { try row.setTarget(property, try row.existing(self)) }
    }

    public static func related(at place: ObjectPlace, of row: inout RecordReader) throws -> Ref? { row.reference(to: place) }

    public mutating func save(in row: inout RecordWriter, _ property: Int) throws -> ObjectID { try row.existing(self) }
}

/// The origin of refs: the store, and the graph or the transaction to which the objects belong.
final class RefOrigin: Sendable {
    let storeKey: UInt64
    let graph: Graph?
    /// The transaction that inserted the objects; `nil` if the objects were read.
    let outcome: TransactionOutcome?

    init(_ graph: Graph, holdsGraph: Bool) {
        storeKey = graph.storeKey
        self.graph = holdsGraph ? graph : nil
        outcome = nil
    }

    init(storeKey: UInt64, _ outcome: TransactionOutcome?) {
        self.storeKey = storeKey
        graph = nil
        self.outcome = outcome
    }
}
