import CambiumModel

/// The objects that changed between two graphs, grouped by the properties that changed. All live queries of a store share one instance, so
/// that the changes are grouped only once.
package final class TouchedObjects: Sendable {
    /// For each property, the serials of the objects in which the property changed.
    let serials: [LiveKey: [UInt64]]
    /// The total number of serials for all properties.
    package let count: Int
    /// Whether the schemas of the two graphs differ. If so, the properties may have different meanings.
    package let changesSchema: Bool

    /// Complexity: O(changes).
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
    }

    package var keys: some Sequence<LiveKey> { serials.keys }
    package var isEmpty: Bool { serials.isEmpty && !changesSchema }
}
