import CambiumModel

extension Attribute {
    /// Whether the attribute is a sum of floating-point numbers. Such a sum has two columns: the rounded sum, and the exact sum.
    var hasExactSum: Bool { derivation?.function == .sum && type == .double }
}

/// A table of a graph while its columns are being laid out.
struct TableDraft {
    let index: Int
    let root: Entity?
    private(set) var columns: [ColumnKind] = [.numbers, .numbers, .fixed(width: 8), .numbers]
    private(set) var entitySlot: Int?
    private(set) var indexes: [IndexLayout] = []
    private(set) var entities: [EntityNumber] = []
    private(set) var slotOfProperty: [Int32] = []
    /// For each property number, the type of the attribute with this number. If there is no such attribute, the element is an arbitrary
    /// type.
    private(set) var typeOfProperty: [AttributeType] = []
    /// For each property number, the name of the attribute with this number. If there is no such attribute, the element is an arbitrary
    /// name.
    private(set) var nameOfProperty: [SchemaName] = []
    /// For each attribute that is a sum of floating-point numbers, the column with the exact sum.
    private(set) var exactSlots: [PropertyNumber: Int] = [:]

    /// Lays out the columns of a root entity and its sub-entities: provenance, the entity if there are several, then each attribute of each
    /// entity.
    ///
    /// - Parameter members: The entities of the hierarchy, in declaration order.
    init(index: Int, root: Entity, members: [Entity]) {
        self.index = index
        self.root = root
        entities = members.map(\.number)
        if members.count > 1 { entitySlot = add(.fixed(width: 2)) }
        for entity in members {
            for attribute in entity.attributes where attribute.entity == entity.number {
                setSlot(attribute, add(attribute.type.byteCount.map { .fixed(width: $0) } ?? .string))
                if attribute.hasExactSum { exactSlots[attribute.number] = add(.string) }
            }
        }
    }

    /// Adds an index for each unique set. The columns of attributes and links must be laid out.
    ///
    /// - Parameters:
    ///   - members: The entities of the hierarchy, in declaration order.
    ///   - target: Returns the column of a to-one relationship, and the table of its targets.
    mutating func addIndexes(_ members: [Entity], target: (Relationship) -> (slot: Int, table: Int)?) {
        for entity in members {
            for set in entity.uniqueSets where set.entity == entity.number {
                let parts = set.properties.compactMap { property -> IndexLayout.Part? in
                    if let relationship = entity.relationship(property) {
                        return target(relationship).map { .init(slot: $0.slot, kind: .rows, negativeZero: 0, targetTable: $0.table) }
                    }
                    let (slot, type) = (Int(slotOfProperty[Int(property.rawValue)]), typeOfProperty[Int(property.rawValue)])
                    return .init(slot: slot, kind: columns[slot], negativeZero: type.negativeZero, targetTable: nil)
                }
                indexes.append(
                    IndexLayout(
                        number: indexes.count, set: set, family: entity.family, coversTable: entity.number == root?.number, parts: parts))
            }
        }
    }

    /// Lays out a table of edges. Edges are not objects, so they have no provenance. The only index finds the edge between two objects.
    init(edgesAt index: Int) {
        self.index = index
        root = nil
        columns = []
        indexes = [
            IndexLayout(
                number: 0, set: UniqueSet(entity: EntityNumber(rawValue: 0), properties: [], isIdentity: false), family: [],
                coversTable: true, parts: [])
        ]
    }

    mutating func add(_ kind: ColumnKind) -> Int {
        columns.append(kind)
        return columns.count - 1
    }

    private mutating func setSlot(_ attribute: Attribute, _ slot: Int) {
        let number = Int(attribute.number.rawValue)
        while slotOfProperty.count <= number {
            slotOfProperty.append(-1)
            typeOfProperty.append(.bool)
            nameOfProperty.append(attribute.schemaName)
        }
        slotOfProperty[number] = Int32(slot)
        typeOfProperty[number] = attribute.type
        nameOfProperty[number] = attribute.schemaName
    }
}
