internal import CambiumJSON
import CambiumModel

/// The mapping for the objects of one entity, resolved against the schema into tables that every row uses.
///
/// The paths form a tree of keys. While a row is read, the value at the end of each path goes to a numbered slot. A reading computes the
/// value of one property from slots.
final class ResolvedMapping {
    /// A key of the tree. The key leads to slots if paths end at the key, and to a node if longer paths continue after the key.
    struct Key {
        var slots: [(slot: Int, isLiteral: Bool)] = []
        var node: Int?
    }

    /// The keys at one node of the tree.
    struct Node {
        // Only one import at a time uses a mapping, on one thread, so the table needs no lock.
        var table: KeyTable
        /// The JSON pointer from the object to the node.
        let pointer: String
        /// The keys above the node, each with the delimiter after it. The report of an unknown key at this node begins with this text.
        let prefix: String
        /// The slots at the node and below it.
        let slots: [Int]
    }

    struct Slot {
        let pointer: String
        let literalPointer: String
        let path: String
    }

    enum Source {
        case first([Int])
        case join([Int], separator: String)
        case constant(JSONValue)
    }

    struct Reading {
        let property: KeyTable.Target
        let source: Source
        let functions: [ValueFunction]
    }

    /// The way in which the values of an attribute are read. A reference that names an object by its value of this attribute is read in the
    /// same way.
    struct Conversion {
        let functions: [ValueFunction]
        let dates: DateReader?
        let numbers: NumberFormat?
    }

    @exclusivity(unchecked) var nodes: [Node]
    let keys: [Key]
    let slots: [Slot]
    /// The readings of attributes, then the readings of relationships, each in the order of the entity.
    let readings: [Reading]
    /// The conversion of each attribute; `nil` if the mapping has no rule for the attribute's values.
    let conversions: [Conversion?]

    init(nodes: [Node], keys: [Key], slots: [Slot], readings: [Reading], conversions: [Conversion?]) {
        self.nodes = nodes
        self.keys = keys
        self.slots = slots
        self.readings = readings
        self.conversions = conversions
    }
}
