public import CambiumModel

/// The first result of a live query, or the differences between two of its results.
///
/// ```swift
/// for try await update in store.live(query) {
///     update.apply(to: &ids)
/// }
/// ```
///
/// Deletions have indexes in the old result; insertions and updates have indexes in the new result; moves have both. To get the new result,
/// remove the deleted and the moved objects, and then insert the inserted and the moved ones by ascending index.
public struct LiveUpdate: Sendable {
    /// An object and its index in a result.
    package typealias Place = (index: Int, id: ObjectID)

    /// An object that has moved to another position among the other objects, or to another section.
    public struct Move: Hashable, Sendable {
        /// The index of the object in the old result.
        public let from: Int
        /// The index of the object in the new result.
        public let to: Int
        /// The object.
        public let id: ObjectID
    }

    /// The graph that the new result belongs to.
    public let graph: Graph
    /// Whether `inserted` is the whole result, which replaces the old result. This is the case for the first update, after a change to the
    /// schema, and if the consumer has missed too many changes. It may also be the case for the second update, if the query began while
    /// other transactions were committed.
    public let isWhole: Bool
    /// The number of objects in the new result.
    public let count: Int
    /// The objects that left the result, by ascending index in the old result.
    public let deleted: [(index: Int, id: ObjectID)]
    /// The objects that entered the result, by ascending index in the new result.
    public let inserted: [(index: Int, id: ObjectID)]
    /// The objects that moved, by ascending index in the new result.
    public let moved: [Move]
    /// The objects that stayed at their position and have a changed attribute, by ascending index in the new result.
    public let updated: [(index: Int, id: ObjectID)]
    /// The sections of the new result; empty if the query has no sections.
    public let sections: [LiveSection]
    /// The indexes, in the old result, of the sections that the new result does not have; ascending.
    public let deletedSections: [Int]
    /// The indexes, in the new result, of the sections that the old result did not have; ascending.
    public let insertedSections: [Int]

    /// The last transaction that the new result contains.
    public var transaction: TransactionNumber { graph.transaction }

    /// Turns the old result into the new one. Complexity: O(objects of the result).
    public func apply(to ids: inout [ObjectID]) {
        if isWhole { ids = [] }
        let gone = Set(deleted.map(\.index) + moved.map(\.from))
        let kept = gone.isEmpty ? ids : ids.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
        let added = (inserted + moved.map { (index: $0.to, id: $0.id) }).sorted { $0.index < $1.index }
        if added.isEmpty {
            ids = kept
            return
        }
        var (rest, result) = (kept[...], [ObjectID]())
        result.reserveCapacity(kept.count + added.count)
        for place in added {
            let part = rest.prefix(max(0, place.index - result.count))
            result += part
            rest = rest.dropFirst(part.count)
            result.append(place.id)
        }
        ids = result + rest
    }
}
