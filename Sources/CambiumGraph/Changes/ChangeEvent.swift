import CambiumModel

/// One difference between the states of an object in two graphs.
struct ChangeEvent: Comparable {
    enum Kind: UInt8 {
        case inserted
        case deleted
        /// The object is a stub in only one of the graphs. Only the identity of a stub is known.
        case stub
        case attribute
        case removed
        case added
        case moved
    }

    let serial: UInt64
    /// The serial of the member that was removed or added; 0 for an event of any other kind.
    let target: UInt64
    let root: EntityNumber
    /// The number of the property, or 0 if the event is about the object itself.
    let property: UInt16
    let kind: Kind

    init(_ kind: Kind, _ root: EntityNumber, _ serial: UInt64, _ property: PropertyNumber? = nil, target: UInt64 = 0) {
        self.kind = kind
        self.root = root
        self.serial = serial
        self.property = property?.rawValue ?? 0
        self.target = target
    }

    func isOfSameObject(as other: Self) -> Bool { serial == other.serial && root == other.root }

    /// Orders events by the number of the root entity, and then by the serial of the object. For one object, the events about the object
    /// itself come first. The events of its properties follow, ordered by property.
    static func < (left: Self, right: Self) -> Bool {
        if left.root != right.root { return left.root < right.root }
        if left.serial != right.serial { return left.serial < right.serial }
        if left.property != right.property { return left.property < right.property }
        if left.kind != right.kind { return left.kind.rawValue < right.kind.rawValue }
        return left.target < right.target
    }
}
