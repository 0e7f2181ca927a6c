import CambiumModel

/// The objects that changed between two graphs, by the properties that changed. All live queries of a store share it.
package final class TouchedObjects: Sendable {
    /// The objects for each property, by their serials.
    let serials: [LiveKey: [UInt64]]
    /// The number of serials for all properties.
    package let count: Int
    /// Whether the schemas of the two graphs differ. The properties may have other meanings then.
    package let changesSchema: Bool

    /// Complexity: O(changes).
    package init(_ changes: Changes) {
        var serials: [LiveKey: [UInt64]] = [:]
        var count = 0
        var last: (key: LiveKey, serial: UInt64)?
        for event in changes.events {
            let key = LiveKey(event)
            // The events of one property of an object are neighbours.
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
