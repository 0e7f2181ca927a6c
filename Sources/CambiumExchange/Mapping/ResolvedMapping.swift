internal import CambiumJSON
import CambiumModel

/// The mapping for the objects of one entity, resolved against the schema into tables that every row uses.
///
/// The paths form a tree of keys. While a row is read, the value at the end of each path goes to a numbered slot. After that, a `Reading`
/// computes the value of each property from the slots.
final class ResolvedMapping {
    /// A key in the tree of the mapping's paths. If paths end at the key, it leads to their slots. If longer paths continue after the key,
    /// it leads to a node.
    struct Key {
        var slots: [(slot: Int, isLiteral: Bool)] = []
        var node: Int?
    }

    /// The keys at one node in the tree of the mapping's paths.
    struct Node {
        // Only one import at a time uses a mapping, on one thread, so the table needs no lock.
        var table: KeyTable
        /// The JSON pointer from the mapped object to the node.
        let pointer: String
        /// The keys on the path to the node, each with the delimiter after it. The report of an unknown key at the node begins with this
        /// text.
        let prefix: String
        /// The numbers of the slots whose paths go through this node. If an object has no JSON object at this node, no value can be found
        /// for these slots.
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

    /// The functions and formats by which the values of an attribute are read. They also apply to references to objects that this
    /// attribute identifies.
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
