/// Finds many records of one graph by their identity. The work that does not depend on the identity, such as matching the record with the
/// schema, is done only once.
///
/// ```swift
/// var people = try graph.finder(Person.self)
/// for id in ids { if let person = try people.find(id) { print(person.name) } }
/// ```
public struct RecordFinder<Record: EntityRecord>: ~Copyable {
    private let identities: IdentityFinder
    private var reader: RecordReader

    init(_ graph: Graph, _ binding: RecordBinding, _ identities: IdentityFinder) {
        self.identities = identities
        reader = RecordReader(graph, binding)
    }

    /// Returns the record whose identity is `number`, or `nil` if there is no such record. Throws as `Graph.load(_:)` does.
    public mutating func find(_ number: Int) throws -> Record? { try identities.find(Int64(number)).map { try read($0) } }

    /// Returns the record whose identity is `text`, or `nil` if there is no such record. Throws as `Graph.load(_:)` does.
    public mutating func find(_ text: String) throws -> Record? { try identities.find(text).map { try read($0) } }

    private mutating func read(_ place: ObjectPlace) throws -> Record {
        reader.move(to: place)
        return try Record(from: &reader)
    }
}
