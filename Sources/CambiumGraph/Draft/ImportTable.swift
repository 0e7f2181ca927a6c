package import CambiumModel

/// A relationship, resolved once for an import that writes many links. This value holds few references, so that a copy is cheap.
package struct ImportEnd {
    let end: EndLayout
    let isOrdered: Bool
    /// The number of the owner's end, among the ends of all relationships.
    package let number: Int
    /// The number of the members' end. If the relationship is its own inverse, this is `number`.
    package let opposite: Int
    /// Whether a new link affects only its owner. If so, the link takes no member from another object, and the number of links at its other
    /// end has no minimum or maximum.
    package let isFree: Bool
    /// Whether a new link only adds a member at its other end. If so, the link takes no member from another object, and the number of links
    /// at its other end has no minimum, but may have a maximum.
    package let isAddition: Bool
    /// Whether a unique set contains the relationship, so that a new link changes a key of its owner.
    package let isKey: Bool
    /// Whether a unique set contains the inverse, so that a new link changes a key of its target.
    package let isKeyAtOtherEnd: Bool
}

/// An entity, resolved once for an import that writes many of its objects.
package final class ImportTable {
    let table: TableLayout
    package let entity: Entity
    let identity: IndexLayout?
    /// The index and the column in which the import looks up keys of one attribute. `nil` if the import does not look up objects by
    /// identity.
    package let keyPlace: KeyPlace?
    /// The column of each attribute of the entity, in the order of `entity.attributes`.
    let slots: [Int]
    /// The default of each attribute, in the order of `entity.attributes`; `nil` if the attribute has no default.
    let defaults: [StoredCell?]
    /// Whether the entity has a relationship with a minimum or a maximum number of members, so that each new object must be checked.
    let isCounted: Bool

    init(table: TableLayout, entity: Entity, identity: IndexLayout?, slots: [Int], defaults: [StoredCell?], isCounted: Bool) {
        self.table = table
        self.entity = entity
        self.identity = identity
        keyPlace = identity.map {
            KeyPlace(
                table: table.index, index: $0.number, slot: $0.slots[0], kind: $0.kinds[0], negativeZero: $0.negativeZeros[0])
        }
        self.slots = slots
        self.defaults = defaults
        self.isCounted = isCounted
    }

    package var number: Int { table.index }
    package var hasIndex: Bool { identity != nil }
    /// Whether only the identity limits the objects of the entity. If so, no relationship has a minimum or a maximum, and the table has no
    /// other unique set.
    package var isUnlimited: Bool { !isCounted && isUniqueByIdentityOnly }
    /// Whether the table has no unique set except the identity by which the import finds objects.
    package var isUniqueByIdentityOnly: Bool {
        // Links change the keys of an identity with a relationship, so such an identity can free a key as any other set can.
        table.indexes.count == (identity == nil ? 0 : 1) && identity?.hasRelationship != true
    }
    package func place(_ row: UInt32) -> ObjectPlace { ObjectPlace(table: number, row: row) }
    package func hasDefault(_ attribute: Int) -> Bool { defaults[attribute] != nil }
}

/// The index over an identity, and the column of its first attribute. The fields are plain numbers, so a copy is cheap.
package struct KeyPlace {
    let table: Int
    let index: Int
    let slot: Int
    let kind: ColumnKind
    let negativeZero: UInt64
}

extension Cell {
    /// Returns the hash of this value in an index over one attribute of this type.
    @inline(__always) package func keyHash(_ hasher: KeyHasher, _ type: AttributeType) -> UInt64 {
        // Equal numbers such as 0.0 and -0.0 may have different bits, so they are converted first. Equal texts always have equal bytes.
        kind == .bytes ? hasher.hash(bytes) : hasher.hash(key(type))
    }
}

extension Draft {
    /// Resolves an entity for writing many of its objects.
    ///
    /// - Parameter identity: The unique set by which the import finds objects; `nil` if it does not look for objects.
    package borrowing func importTable(_ entity: Entity, identity: UniqueSet?) throws(CambiumError) -> ImportTable {
        guard let table = layout.table(of: entity.root) else {
            throw CambiumError(.notFound, "The schema has no entity '\(entity.name)'.")
        }
        var defaults: [StoredCell?] = []
        for attribute in entity.attributes {
            defaults.append(attribute.defaultValue.isNull ? nil : try StoredCell(attribute.defaultValue, attribute))
        }
        return ImportTable(
            table: table, entity: entity, identity: table.indexes.first { $0.set == identity },
            slots: entity.attributes.map { table.slot(of: $0.number) }, defaults: defaults,
            isCounted: entity.relationships.contains { layout.needsCount(table.index, $0.number) })
    }
}
