import CambiumBytes
public import CambiumModel

/// The difference between two moments of a store: a collection of the objects that were inserted, deleted or changed.
///
/// The objects are ordered by the number of their root entity, and then by ascending id. This collection keeps both graphs in memory, and
/// reads a value only when the caller asks for the value.
///
/// ```swift
/// let before = store.graph
/// try store.write { try $0.set(note, "title", to: "Paris") }
/// for object in store.graph.changes(since: before) {
///     for change in object.attributes { print(object.id, change.attribute.name, change.before, change.after) }
/// }
/// ```
public struct Changes: Sendable {
    /// The graph that the changes lead from.
    public let before: Graph
    /// The graph that the changes lead to.
    public let after: Graph
    let events: [ChangeEvent]
    /// The changes that ops state, without events; empty for a difference between two graphs.
    private let edited: [ObjectChange]
    /// The index of the first event of each object, followed by the number of all events. Empty if there are no events.
    private let starts: [Int]

    init(_ before: Graph, _ after: Graph, _ events: [ChangeEvent]) {
        self.before = before
        self.after = after
        self.events = events
        edited = []
        if events.isEmpty {
            starts = []
            return
        }
        var starts = [0]
        for place in 1..<events.count where !events[place].isOfSameObject(as: events[place - 1]) { starts.append(place) }
        starts.append(events.count)
        self.starts = starts
    }

    /// Creates the changes that ops state.
    ///
    /// - Parameters:
    ///   - edited: The changes, by ascending id.
    ///   - base: A graph that has the objects and the schema, but other values.
    package init(edited: [ObjectChange], base: Graph) {
        (before, after, events, starts) = (base, base, [], [])
        self.edited = edited
    }

    /// Whether the schema changed between the two moments.
    ///
    /// Complexity: O(1) for two moments of one opened store without a migration in between, otherwise O(properties of both schemas).
    public var changesSchema: Bool { !before.hasSameSchema(as: after) }

    /// The labels that were created, moved to another transaction or removed, by name. Complexity: O(labels x log labels).
    public var labels: [LabelChange] {
        let (old, new) = (before.labels, after.labels)
        return Set(old.keys).union(new.keys).sorted().compactMap { name in
            old[name] == new[name] ? nil : LabelChange(name: name, before: old[name], after: new[name])
        }
    }

    /// Returns the changes to one object, or `nil` if the object is unchanged, or exists at neither moment. Complexity: O(log changes).
    public func object(_ id: ObjectID) -> ObjectChange? {
        let place = (0..<count).prefixEnd { self[$0].id < id }
        return place < count && self[place].id == id ? self[place] : nil
    }
}

extension Changes: RandomAccessCollection {
    public var startIndex: Int { 0 }
    public var endIndex: Int { edited.isEmpty ? Swift.max(0, starts.count - 1) : edited.count }

    /// Complexity: O(1).
    public subscript(position: Int) -> ObjectChange {
        if !edited.isEmpty { return edited[position] }
        return ObjectChange(before: before, after: after, events: events[starts[position]..<starts[position + 1]])
    }
}

/// A label that names different transactions at two moments.
///
/// ```swift
/// for label in store.graph.changes(since: earlier).labels {
///     print(label.name, label.before?.description ?? "new", label.after?.description ?? "removed")
/// }
/// ```
public struct LabelChange: Sendable, Hashable {
    /// The name of the label.
    public let name: String
    /// The transaction that the label named at the earlier moment; `nil` if the label did not exist.
    public let before: TransactionNumber?
    /// The transaction that the label names at the later moment; `nil` if the label does not exist.
    public let after: TransactionNumber?

    package init(name: String, before: TransactionNumber?, after: TransactionNumber?) {
        self.name = name
        self.before = before
        self.after = after
    }
}

extension Graph {
    /// Compares this graph with an earlier moment of the same store. If `older` is in fact the later graph, the changes lead from `older`
    /// back to this graph.
    ///
    /// The comparison skips all pages that the two graphs have in common. So its cost does not depend on the size of the graph or on the
    /// number of transactions between the two graphs. Two graphs of one open store share all pages that did not change. Other graphs, such
    /// as two graphs that `Store.graph(at:)` returned, share the pages of a checkpoint if both read the checkpoint from the same file. See
    /// Docs/Use/CHANGES.md.
    ///
    /// ```swift
    /// let changes = store.graph.changes(since: try store.graph(at: .label("monday")))
    /// ```
    ///
    /// Packing, checkpoints and compaction are not changes. If the schema changed between the moments, a property that a migration kept or
    /// renamed counts as the same property. A value of a widened attribute counts as unchanged if it equals the old value after conversion
    /// to the wider type.
    ///
    /// Complexity: O(1) for equal graphs. O(pages that are not shared + changes x log changes) if both schemas have the same properties of
    /// the same types. Otherwise O(objects and members of both graphs).
    ///
    /// - Parameter older: A graph of the same store. If the graphs belong to different stores, the changes between them are meaningless.
    public func changes(since older: Graph) -> Changes {
        if version === older.version { return Changes(older, self, []) }
        if layout === older.layout || layout.meanings == older.layout.meanings {
            var finder = ChangeFinder(older.version, version)
            return Changes(older, self, finder.run())
        }
        var finder = SchemaChangeFinder(older, self)
        return Changes(older, self, finder.run())
    }

    /// Compares one object with its state at an earlier moment. Returns `nil` if the object did not change, or exists at neither moment.
    ///
    /// The result equals `changes(since:).object(id)`. Complexity: O(properties and members of the object), however many other objects
    /// changed.
    ///
    /// - Parameter older: A graph of the same store.
    package func change(of id: ObjectID, since older: Graph) -> ObjectChange? {
        if version === older.version { return nil }
        var finder = SchemaChangeFinder(older, self)
        let events = finder.run(for: id)
        return events.isEmpty ? nil : ObjectChange(before: older, after: self, events: events[...])
    }

    fileprivate func hasSameSchema(as other: Graph) -> Bool { layout === other.layout || schema.catalog == other.schema.catalog }
}
