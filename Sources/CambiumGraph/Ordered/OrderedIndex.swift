package import CambiumModel

/// An ordered index that is complete: each object that belongs in the index has an entry. Queries use an index to find and sort objects.
///
///     let index = graph.orderedIndexes(of: person).first
///     let range = index?.range(equalTo: [.string("Paris")])
///     range?.forEach { place in print(graph.id(of: place)) }
package struct OrderedIndex: Sendable {
    let graph: Graph
    let layout: OrderedIndexLayout
    private let tree: OrderedTree

    init(_ graph: Graph, _ layout: OrderedIndexLayout, _ tree: OrderedTree) {
        self.graph = graph
        self.layout = layout
        self.tree = tree
    }

    var reader: OrderedReader { OrderedReader(graph.reader.chunks, tree) }

    /// The attributes that decide the order, the most significant one first. Null precedes all values in ascending order, and follows all
    /// values in descending order.
    package var components: [EntityIndex.Component] { layout.index?.components ?? [] }
    /// The entities whose objects are in the index.
    package var family: Set<EntityNumber> { layout.family }
    package var count: Int { Int(clamping: tree.count) }

    /// A limit of a range: a position between two objects of the index.
    package enum Bound {
        /// The position before all objects that have these values in the first attributes of the index.
        case before([Value])
        /// The position after all objects that have these values in the first attributes of the index.
        case after([Value])
    }

    // MARK: Ranges

    /// All objects of the index.
    package var all: IndexRange { IndexRange(self, 0..<count) }

    /// Returns the objects between two limits, in the order of the index. Returns `nil` if a value of a limit is not of its attribute's
    /// type, or if there are more values than components.
    ///
    /// Complexity: O(log objects).
    package func range(from lower: Bound? = nil, to upper: Bound? = nil) -> IndexRange? {
        if layout.hasShortKeys {
            guard let first = lower.map(place) ?? 0, let last = upper.map(place) ?? count else { return nil }
            return IndexRange(self, first..<max(first, last))
        }
        var (first, last): (IndexRange.Edge?, IndexRange.Edge?) = (nil, nil)
        if let lower {
            guard let edge = edge(lower) else { return nil }
            first = edge
        }
        if let upper {
            guard let edge = edge(upper) else { return nil }
            last = edge
        }
        return IndexRange(self, first, last)
    }

    private func edge(_ bound: Bound) -> IndexRange.Edge? {
        switch bound {
        case .before(let values): key(values).map { IndexRange.Edge($0, isAfter: false) }
        case .after(let values): key(values).map { IndexRange.Edge($0, isAfter: true) }
        }
    }

    /// Returns the number of entries before a limit, or `nil` if the values of the limit do not fit the components. The index must not
    /// contain keys that were cut to the maximum length.
    private func place(_ bound: Bound) -> Int? {
        switch bound {
        case .before(let values): withKey(values) { reader.rank(of: OrderedBytes($0, $1)) }
        case .after(let values): withKey(values) { place(after: $0, $1) }
        }
    }

    /// Returns the position in the index after all entries that begin with the given bytes. The method may change these bytes.
    ///
    /// SAFETY: the caller must ensure that `OrderedNode.slackByteCount` more bytes are readable beyond the given bytes.
    func place(after bytes: UnsafeMutableRawPointer, _ byteCount: Int) -> Int {
        let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: byteCount)
        // `buffer` becomes the first text that follows all texts with the given beginning. To this end, the last byte below 0xFF is
        // increased, and the bytes after that byte are ignored.
        guard let last = buffer.lastIndex(where: { $0 != 0xFF }) else { return count }
        buffer[last] += 1
        return reader.rank(of: OrderedBytes(bytes, last + 1))
    }

    /// Returns the objects that have these values in the first attributes of the index.
    package func range(equalTo values: [Value]) -> IndexRange? { range(from: .before(values), to: .after(values)) }

    /// Returns ranges for the values of a list, in the order of the index. Together, the ranges have all objects with the leading values in
    /// the first components and a value from the list in the next one. Omits values of the wrong type, and values that no key has.
    ///
    /// If the index has cut the keys of several values to the same bytes, one range has all objects with these bytes. So a range may also
    /// have objects with other values. To exclude such objects, this method would have to read all objects of the range.
    ///
    /// Complexity: O(n log n + n log objects) for n values.
    package func ranges(in values: [Value], after leading: [Value] = []) -> [IndexRange] {
        merged(values.compactMap { range(equalTo: leading + [$0]) })
    }

    /// Sorts ranges by their order in the index. Omits ranges that are empty, and combines ranges with the same positions.
    func merged(_ ranges: [IndexRange]) -> [IndexRange] {
        var found: [IndexRange] = []
        for range in ranges.filter({ !$0.outer.isEmpty }).sorted(by: { $0.outer.lowerBound < $1.outer.lowerBound }) {
            if let last = found.last, last.outer == range.outer {
                found[found.count - 1] = IndexRange(self, range.outer)
            } else {
                found.append(range)
            }
        }
        return found
    }

    /// Returns the objects whose first components equal `leading`, and whose next component is a text that begins with `text`.
    ///
    /// Returns `nil` if the next component is not a text, or if a value is not of its attribute's type.
    package func range(prefix text: String, after leading: [Value] = []) -> IndexRange? {
        guard leading.count < layout.components.count, var key = key(leading + [.string(text)]) else { return nil }
        let component = layout.components[leading.count]
        guard component.type != .decimal, case .string = component.kind else { return nil }
        // The key of a whole text ends with a mark. The key of a prefix must not contain the mark.
        key.removeLast()
        return IndexRange(self, IndexRange.Edge(key, isAfter: false), IndexRange.Edge(key, isAfter: true))
    }

    /// Returns the whole key of these values. The whole key of an object with these values begins with the returned bytes. Returns `nil` if
    /// a value is of the wrong type, or if there are more values than components.
    func key(_ values: [Value]) -> [UInt8]? {
        withKey(values) { Array(UnsafeRawBufferPointer(start: $0, count: $1)) }
    }

    /// Calls `body` with the whole key of these values. Returns `nil` if a value is of the wrong type, or if there are more values than
    /// components. `body` may change the bytes of the key, and read `OrderedNode.slackByteCount` bytes beyond the key.
    private func withKey<Result>(_ values: [Value], _ body: (UnsafeMutableRawPointer, Int) -> Result) -> Result? {
        guard values.count <= layout.components.count else { return nil }
        // Most keys have one value. For such a key, no array is allocated.
        if let value = values.first, values.count == 1 {
            let form = Self.form(value, layout.components[0].type)
            return form == nil && !value.isNull ? nil : withKey(CollectionOfOne(form), body)
        }
        var forms: [StoredForm?] = []
        for (value, component) in zip(values, layout.components) {
            let form = Self.form(value, component.type)
            if form == nil, !value.isNull { return nil }
            forms.append(form)
        }
        return withKey(forms, body)
    }

    /// Calls `body` with the bytes of a key, given the stored forms of its values. A form that is `nil` means null.
    @inline(__always) private func withKey<Result>(
        _ forms: some Collection<StoredForm?>, _ body: (UnsafeMutableRawPointer, Int) -> Result
    ) -> Result? {
        let byteCount = forms.reduce(64) { sum, form in
            if case .bytes(let bytes)? = form { return sum + 6 * bytes.count + 64 }
            return sum + 64
        }
        return withUnsafeTemporaryAllocation(byteCount: byteCount + OrderedKeyWriter.slackByteCount, alignment: 8) { buffer in
            guard let memory = buffer.baseAddress else { return nil }
            var writer = OrderedKeyWriter(memory, limit: byteCount)
            for (form, component) in zip(forms, layout.components) {
                switch form {
                case nil: writer.add(component, .null)
                case .fixed(let low, let high): writer.add(component, .fixed(low, high))
                case .bytes(let bytes): bytes.withUnsafeBytes { writer.add(component, .bytes($0)) }
                }
            }
            return body(memory, writer.count)
        }
    }

    /// Returns the stored form of a value; `nil` for null and for a value of the wrong type. The text of a URI or JSON attribute is not
    /// checked here, because it may be only the beginning of a value.
    private static func form(_ value: Value, _ type: AttributeType) -> StoredForm? {
        if case .string(let text) = value, type == .uri || type == .json { return .bytes(Array(text.utf8)) }
        return StoredForm(value, type: type)
    }
}

extension Graph {
    /// Returns the complete ordered indexes that have all objects of an entity. An index of an ancestor of the entity also has other
    /// objects.
    package func orderedIndexes(of entity: Entity) -> [OrderedIndex] {
        guard let entity = layout.own(entity) else { return [] }
        return layout.ordered.compactMap { index in
            guard index.index != nil, index.root == entity.root, index.coversTable || entity.family.isSubset(of: index.family)
            else { return nil }
            let record = reader.record(of: index, layout)
            return record.isComplete ? OrderedIndex(self, index, record.tree) : nil
        }
    }
}
