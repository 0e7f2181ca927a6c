internal import CambiumBytes

/// The objects of a to-many relationship, as refs: a random-access collection that reads the members only when the program uses them.
///
/// ```swift
/// for item in note.items { print(try item.load().name) }
/// let items = try note.items.load()
/// ```
///
/// The collection holds the graph from which its owner was read. A collection that was read from an edit or inside of a transaction has
/// read its refs already. The refs are in the order of the relationship; if the relationship is unordered, they are in ascending order of
/// their ids. A save writes the members only if the program has assigned another collection.
public struct ToMany<Record: EntityRecord>: Sendable {
    private enum Source {
        case stored(StoredMembers)
        /// The members of an owner that was read from an edit or inside of a transaction.
        case read([Ref<Record>], of: MembersOwner)
        /// The members that the program assigned.
        case given([Ref<Record>])
        /// No members are known, and a save does not change the stored members.
        case unknown
    }

    private let source: Source

    init(_ members: StoredMembers) { source = .stored(members) }

    init(read refs: [Ref<Record>], of owner: MembersOwner) { source = .read(refs, of: owner) }

    /// Creates a collection whose members are unknown: a save does not change them. Saving the literal `[]` removes all members.
    public init() { source = .unknown }

    /// Creates a collection from refs. If the relationship is ordered, it gets the order of the refs. Duplicates count once.
    public init(_ refs: some Sequence<Ref<Record>>) { source = .given(Array(refs)) }

    /// Creates a collection from the refs of records. Throws `.invalidInput` if a record was never saved.
    public init(_ records: some Sequence<Record>) throws {
        source = .given(
            try records.map { record in
                guard let ref = record.ref else {
                    throw CambiumError(
                        .invalidInput, "A member of type \(Record.self) was never saved. Save it before it becomes a member.")
                }
                return ref
            })
    }

    /// Returns the records of all members. Throws as `Graph.load(_:)` and `Ref.load()` do. Complexity: O(members).
    public func load() throws -> [Record] {
        switch source {
        case .given(let refs), .read(let refs, of: _): return try refs.map { try $0.load() }
        case .stored(let members): return try members.graph.load(members.ids)
        case .unknown: return []
        }
    }
}

/// The object and the relationship from which the members of a `ToMany` were read.
struct MembersOwner: Sendable {
    let id: ObjectID
    let relationship: PropertyNumber
    /// The origin of the refs to the object: their store, and the graph, edit or transaction from which the refs were made.
    let origin: RefOrigin
}

/// The members of a relationship of one object, in one graph.
final class StoredMembers: Sendable {
    let origin: RefOrigin
    let graph: Graph
    private let place: ObjectPlace
    private let relationship: Relationship
    private let known = Guarded<[ObjectID]?>(nil)

    init(_ origin: RefOrigin, _ graph: Graph, _ place: ObjectPlace, _ relationship: Relationship) {
        (self.origin, self.graph, self.place, self.relationship) = (origin, graph, place, relationship)
    }

    var owner: MembersOwner { MembersOwner(id: graph.id(of: place), relationship: relationship.number, origin: origin) }

    /// The ids of the members. The first call reads them.
    var ids: [ObjectID] {
        if let known = known.withLock({ $0 }) { return known }
        let ids = graph.memberIDs(graph.end(relationship), of: place)
        known.withLock { $0 = ids }
        return ids
    }

    /// The number of members. Complexity: O(1).
    var count: Int {
        if let known = known.withLock({ $0 }) { return known.count }
        return graph.memberCount(graph.end(relationship), of: place)
    }
}

extension ToMany: RandomAccessCollection {
    public var startIndex: Int { 0 }

    /// The number of members. Complexity: O(1).
    public var endIndex: Int {
        switch source {
        case .stored(let members): members.count
        case .given(let refs), .read(let refs, of: _): refs.count
        case .unknown: 0
        }
    }

    /// The ref at an index. Complexity: O(members) for the first ref that is read, O(1) for each other ref.
    public subscript(index: Int) -> Ref<Record> {
        switch source {
        case .stored(let members): Ref(members.ids[index], members.origin)
        case .given(let refs), .read(let refs, of: _): refs[index]
        case .unknown: [][index]
        }
    }
}

extension ToMany: Hashable {
    public static func == (left: ToMany, right: ToMany) -> Bool { left.elementsEqual(right) }
    public func hash(into hasher: inout Hasher) { for ref in self { hasher.combine(ref) } }
}

extension ToMany: ExpressibleByArrayLiteral {
    public init(arrayLiteral refs: Ref<Record>...) { self.init(refs) }
}

extension ToMany: _PropertyValue {
    public typealias _Member = Record

    public static var _form: _PropertyForm { .relationship(to: Record.self, .toMany, isOptional: false) }

    public init(_property property: Int, of row: inout RecordReader) throws { self = try row.members(property) }

    public mutating func _write(_ property: Int, to row: inout RecordWriter) throws {
        guard row.writesRelationship(property) else { return }
        switch source {
        case .stored(let members): if row.keepsMembers(property, of: members.owner) { return }
        case .read(_, of: let owner): if row.keepsMembers(property, of: owner) { return }
        case .given: break
        case .unknown: return
        }
        try row.writeMembers(property, of: Ref<Record>.self) { row, ids in
            for ref in self { ids.append(try row.existing(ref)) }
        }
    }
}
