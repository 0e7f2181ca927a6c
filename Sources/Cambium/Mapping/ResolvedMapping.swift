import CambiumJSON
import CambiumModel

/// How the objects of one entity are read: a mapping that was compared with the schema, as tables for use with each row.
///
/// Paths make a tree of keys. What a path leads to goes into a slot; a reading makes the value of one property of slots.
final class ResolvedMapping {
    /// What a key leads to.
    struct Key {
        var slots: [(slot: Int, isLiteral: Bool)] = []
        var node: Int?
    }

    /// The keys at one place of the tree.
    struct Node {
        // One import at a time uses a mapping, on one thread.
        var table: KeyTable
        /// The pointer to it from the object.
        let pointer: String
        /// What stands before its keys where they are told.
        let prefix: String
        /// Every slot at it and below.
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

    /// How the values of an attribute are read, also where they name objects.
    struct Conversion {
        let functions: [ValueFunction]
        let dates: DateReader?
        let numbers: NumberFormat?
    }

    @exclusivity(unchecked) var nodes: [Node]
    let keys: [Key]
    let slots: [Slot]
    /// Attributes first, both in the order of the entity.
    let readings: [Reading]
    /// For each attribute; nil where its values are read as without a mapping.
    let conversions: [Conversion?]

    init(nodes: [Node], keys: [Key], slots: [Slot], readings: [Reading], conversions: [Conversion?]) {
        self.nodes = nodes
        self.keys = keys
        self.slots = slots
        self.readings = readings
        self.conversions = conversions
    }
}
