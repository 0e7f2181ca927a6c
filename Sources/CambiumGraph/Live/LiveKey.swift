import CambiumModel

/// A property of the objects of a root entity, on which the result of a live query may depend.
package struct LiveKey: Hashable, Sendable {
    private let bits: UInt32

    private init(root: EntityNumber, property: UInt16) { bits = UInt32(root.rawValue) << 16 | UInt32(property) }

    init(_ root: EntityNumber, _ property: PropertyNumber) { self.init(root: root, property: property.rawValue) }

    /// Creates the key for the existence of the objects, and for whether the objects are stubs. Only the identity of a stub is known.
    init(existenceOf root: EntityNumber) { self.init(root: root, property: 0) }

    init(_ event: ChangeEvent) { self.init(root: event.root, property: event.property) }
}
