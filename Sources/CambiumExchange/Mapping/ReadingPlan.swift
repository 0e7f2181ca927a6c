internal import CambiumJSON
import CambiumModel

/// The keys of a row from which an import reads the properties of an entity: the names of the properties, or a mapping that was resolved
/// against the schema. Every row uses these tables.
///
/// The paths form a tree of keys. While a row is read, the value at the end of each path goes to a numbered slot. After that, a `Reading`
/// computes the value of each property from the slots.
final class ReadingPlan {
    /// A key in the tree of the mapping's paths. If paths end at the key, it leads to their slots. If longer paths continue after the key,
    /// it leads to a node.
    struct Key {
        var slots: [(slot: Int, isLiteral: Bool)] = []
        var node: Int?
    }

    /// The keys at one node in the tree of the mapping's paths. Without a mapping, the tree has only its root.
    final class Node {
        // Only one import at a time uses a plan, on one thread, so accesses to the table never overlap.
        @exclusivity(unchecked) var table: KeyTable
        /// The JSON pointer from the mapped object to the node.
        let pointer: String
        /// The keys on the path to the node, each with the delimiter after it. The report of an unknown key at the node begins with this
        /// text.
        let prefix: String
        /// The numbers of the slots whose paths go through this node. If an object has no JSON object at this node, no value can be found
        /// for these slots.
        let slots: [Int]

        init(table: KeyTable, pointer: String = "", prefix: String = "", slots: [Int] = []) {
            (self.table, self.pointer, self.prefix, self.slots) = (table, pointer, prefix, slots)
        }
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

    let nodes: [Node]
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

    /// Creates the plan that reads each property from the key with its name.
    convenience init(namesOf entity: Entity) {
        let attributes = entity.attributes.enumerated().filter { !$0.element.isDerived }
        let keys: [(String, KeyTable.Target)] =
            attributes.map { ($0.element.name, .attribute($0.offset)) }
            + entity.relationships.enumerated().map { ($0.element.name, .relationship($0.offset)) }
        let conversions = [Conversion?](repeating: nil, count: entity.attributes.count)
        self.init(nodes: [Node(table: KeyTable(keys))], keys: [], slots: [], readings: [], conversions: conversions)
    }
}
