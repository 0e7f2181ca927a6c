import CambiumModel

/// The objects that changed between two graphs, grouped by the properties that changed. All live queries of a store share one instance, so
/// that the changes are grouped only once.
package final class TouchedObjects: Sendable {
    /// For each property, the serials of the objects in which the property changed.
    let serials: [LiveKey: [UInt64]]
    /// For each object that exists in another state, or that has another value of an attribute: the sum of the hashes of its state and of
    /// its values in the later graph, minus the sum in the earlier graph. So these differences can be added for several transactions, and
    /// their sum is 0 if the object is as it was. `nil` if they are not known.
    private let differences: [ObjectID: UInt64]?
    /// The total number of serials for all properties.
    package let count: Int
    /// Whether the schemas of the two graphs differ. If so, the properties may have different meanings.
    package let changesSchema: Bool

    /// The maximum number of changes of which a consumer gets an exact update. If there are more, its query runs again.
    package static let countMax = 65_536

    /// Complexity: O(changes + attributes of inserted and deleted objects).
    package init(_ changes: Changes) {
        var serials: [LiveKey: [UInt64]] = [:]
        var count = 0
        var last: (key: LiveKey, serial: UInt64)?
        for event in changes.events {
            let key = LiveKey(event)
            // The events of one property of an object are adjacent, so a comparison with the last event is enough to omit repetitions.
            if let last, last == (key, event.serial) { continue }
            last = (key, event.serial)
            serials[key, default: []].append(event.serial)
            count += 1
        }
        self.serials = serials
        self.count = count
        changesSchema = changes.changesSchema
        differences = changesSchema || count > Self.countMax ? nil : changes.differences
    }

    /// Returns whether an object may have another state or another value than before several successive changes. If the changes are not
    /// too many, the answer is exact, except that two different objects have equal hashes once in 2^64 times.
    static func mayDiffer(_ id: ObjectID, _ touched: [TouchedObjects]) -> Bool {
        var sum: UInt64 = 0
        for each in touched {
            guard let differences = each.differences else { return true }
            sum &+= differences[id] ?? 0
        }
        return sum != 0
    }

    package var keys: some Sequence<LiveKey> { serials.keys }
    package var isEmpty: Bool { serials.isEmpty && !changesSchema }
}

extension Changes {
    /// For each object with another state or another value of an attribute, the difference of the sums of hashes.
    fileprivate var differences: [ObjectID: UInt64] {
        var differences: [ObjectID: UInt64] = [:]
        var place = events.startIndex
        while place < events.endIndex {
            let event = events[place]
            let id = ObjectID(root: event.root, serial: event.serial)
            var end = place + 1
            while end < events.endIndex, events[end].isOfSameObject(as: event) { end += 1 }
            let own = events[place..<end]
            let difference =
                switch event.kind {
                case .inserted: after.hash(of: id)
                case .deleted: 0 &- before.hash(of: id)
                case .stub, .attribute, .removed, .added, .moved: after.hash(of: id, own) &- before.hash(of: id, own)
                }
            if difference != 0 { differences[id] = difference }
            place = end
        }
        return differences
    }
}

extension Graph {
    /// Returns the sum of the hashes of an object's state and of all its values; 0 if there is no such object.
    fileprivate func hash(of id: ObjectID) -> UInt64 {
        guard let place = place(of: id), let entity = entity(of: id) else { return 0 }
        return entity.attributes.reduce(hash(ofStateAt: place)) { $0 &+ hash($1, at: place) }
    }

    /// Returns the sum of the hashes of those parts of an object that events name.
    fileprivate func hash(of id: ObjectID, _ events: ArraySlice<ChangeEvent>) -> UInt64 {
        guard let place = place(of: id), let entity = entity(of: id) else { return 0 }
        var sum: UInt64 = 0
        for event in events {
            switch event.kind {
            case .stub: sum &+= hash(ofStateAt: place)
            case .attribute:
                if let attribute = entity.attribute(PropertyNumber(rawValue: event.property)) { sum &+= hash(attribute, at: place) }
            case .inserted, .deleted, .removed, .added, .moved: break
            }
        }
        return sum
    }

    private func hash(ofStateAt place: ObjectPlace) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(isStub(place))
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private func hash(_ attribute: Attribute, at place: ObjectPlace) -> UInt64 {
        let value = value(of: field(attribute), at: place)
        var hasher = Hasher()
        hasher.combine(attribute.number)
        // Null and 0 have the same hash.
        hasher.combine(value.isNull)
        hasher.combine(value)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
