internal import CambiumBytes

/// The properties of a record type, matched with the entity and the properties of a store's schema.
final class RecordBinding: Sendable {
    let entity: Entity
    let properties: [Property]
    /// The indexes of the properties that form the entity's identity, in the order of the identity. Empty if the record lacks one of these
    /// properties.
    let identity: [Int]
    let hasRelationships: Bool
    /// The root entities of the objects whose records this record contains; empty if this record contains only refs. If an outer record has
    /// one of these root entities, this record may omit the outer record's object.
    let omittedRoots: [EntityNumber]
    /// For each property, the handle with which a `RowCursor` reads its values; `nil` for a relationship.
    let fields: [CursorField?]
    /// The elements of `fields` that are not `nil`.
    let attributeFields: [CursorField]

    /// The origin of refs to objects of the store. The origin identifies the store.
    private let origin: RefOrigin

    enum Property: Sendable {
        case attribute(Attribute)
        case relationship(Relationship, EndHandle)
    }

    /// Whether a record type is matched for use with a store or with an edit. Errors state a different remedy for each.
    enum User {
        case store
        /// An edit, whose base may be older than the newest migration of the store.
        case edit
    }

    /// Throws `.unknownName` with all differences if the graph's schema does not have the record's entity or properties.
    init(_ description: RecordDescription, _ type: any EntityRecord.Type, _ graph: Graph, for user: User) throws(CambiumError) {
        guard let entity = graph.schema.entity(description.entity) else {
            throw CambiumError(.unknownName, Self.missingEntity(description.entity, type, graph.schema, user))
        }
        var mistakes: [String] = []
        var properties: [Property] = []
        for property in description.properties {
            do throws(CambiumError) {
                properties.append(try Self.resolve(property, entity, type, graph))
            } catch {
                mistakes.append(error.message)
            }
        }
        guard mistakes.isEmpty else {
            throw CambiumError(.unknownName, Self.differences(entity, type, user), details: mistakes)
        }
        self.entity = entity
        self.properties = properties
        origin = RefOrigin(storeKey: graph.storeKey)
        fields = properties.map { if case .attribute(let attribute) = $0 { graph.cursorField(attribute) } else { nil } }
        attributeFields = fields.compactMap { $0 }
        hasRelationships = properties.contains { if case .relationship = $0 { true } else { false } }
        var roots: [EntityNumber] = []
        for (described, property) in zip(description.properties, properties) {
            if described.holdsRecords, case .relationship(let relationship, _) = property { roots.append(relationship.destinationRoot) }
        }
        omittedRoots = roots
        let indexes = entity.identity.compactMap { wanted in
            properties.firstIndex { property in
                switch property {
                case .attribute(let attribute): attribute === wanted.attribute
                case .relationship(let relationship, _): relationship === wanted.relationship
                }
            }
        }
        identity = indexes.count == entity.identity.count ? indexes : []
    }

    /// Returns the relationship of a property, if the relationship belongs to the entity's identity; otherwise `nil`.
    func owner(_ index: Int) -> Relationship? {
        guard case .relationship(let relationship, _) = property(index),
            entity.identity.contains(where: { $0.relationship === relationship })
        else { return nil }
        return relationship
    }

    /// Returns the index of the property that has a name, or `nil` if the record's schema does not list the name.
    ///
    /// - Parameter next: The index at which the search begins; then the index after the property. Properties are usually used in order, so
    ///   the search usually succeeds at once.
    func index(of name: String, from next: inout Int) -> Int? {
        var index = next
        for _ in properties.indices {
            if index == properties.count { index = 0 }
            if properties[index].name == name {
                next = index + 1
                return index
            }
            index += 1
        }
        return nil
    }

    /// Returns the property at an index that the program passed. Ends the process if the record's schema has no such property.
    func property(_ index: Int) -> Property {
        Trap.unless(properties.indices.contains(index), mistake(index))
        return properties[index]
    }

    /// Returns the element of `fields` at an index that the program passed. Ends the process if the record's schema has no such property.
    func field(_ index: Int) -> CursorField? {
        Trap.unless(fields.indices.contains(index), mistake(index))
        return fields[index]
    }

    private func mistake(_ index: Int) -> String {
        "The record of '\(entity.name)' reads or writes the property with index \(index), which its recordSchema does not list. Pass an "
            + "index from 0 to \(properties.count - 1), or the name of a property."
    }

    /// Returns the origin of refs to objects of a graph. The origin identifies the graph's store.
    func origin(_ graph: Graph) -> RefOrigin { origin.storeKey == graph.storeKey ? origin : RefOrigin(storeKey: graph.storeKey) }

    private static func missingEntity(_ name: String, _ type: any EntityRecord.Type, _ schema: Schema, _ user: User) -> String {
        let subject = "\(type) is a record of the entity '\(name)', but the schema of"
        // A program that is older than the renaming must not migrate the store: its schema would undo the renaming.
        if let newName = schema.newName(ofEntity: name) {
            let owner = user == .edit ? "the edit's base" : "the store"
            return "\(subject) \(owner) has no such entity. \(newName) Use this name in the recordSchema of \(type)."
        }
        let definition = "to a SchemaDefinition of all records of the program"
        return switch user {
        case .store: "\(subject) the store has no such entity. Migrate the store \(definition)."
        case .edit:
            "\(subject) the edit's base has no such entity. If the store has been migrated since the edit began, rebase the edit onto the "
                + "newest graph. Otherwise, migrate the store \(definition), and then rebase the edit."
        }
    }

    private static func differences(_ entity: Entity, _ type: any EntityRecord.Type, _ user: User) -> String {
        let subject = "\(type) does not fit the entity '\(entity.name)' of"
        return switch user {
        case .store: "\(subject) the store. Correct the struct, or migrate the store:"
        case .edit:
            "\(subject) the edit's base. If the store has been migrated since the edit began, rebase the edit onto the newest graph. "
                + "Otherwise, correct the struct, or migrate the store and then rebase the edit:"
        }
    }

    private static func resolve(
        _ property: RecordDescription.Property, _ entity: Entity, _ type: any EntityRecord.Type, _ graph: Graph
    ) throws(CambiumError) -> Property {
        switch property.form {
        case .attribute(let wanted, _, _):
            let attribute = try entity.requiredAttribute(property.name)
            guard wanted.canRead(attribute.type) else {
                throw CambiumError(
                    .unknownName,
                    "'\(property.name)' is of type \(attribute.type.rawValue) in the store, but \(type) declares \(wanted.rawValue).")
            }
            return .attribute(attribute)
        case .relationship(let target, let cardinality, _):
            let relationship = try entity.requiredRelationship(property.name)
            let wanted = target.recordDescription.entity
            guard let destination = graph.schema.entity(wanted), relationship.leads(to: destination, in: graph.schema) else {
                throw CambiumError(
                    .unknownName,
                    "'\(property.name)' does not lead to the entity '\(wanted)' in the store. "
                        + "Declare \(type).\(property.name) with a record of the entity to which the relationship leads.")
            }
            guard relationship.isToMany == (cardinality != .toOne) else {
                let found =
                    relationship.isToMany
                    ? "several objects in the store, which need an array, a Set or ToMany"
                    : "one object in the store, which needs a record or a Ref"
                throw CambiumError(.unknownName, "'\(property.name)' leads to \(found). Change the type of \(type).\(property.name).")
            }
            guard relationship.isOrdered || cardinality != .orderedToMany else {
                throw CambiumError(
                    .unknownName, "'\(property.name)' has no order in the store. Declare \(type).\(property.name) as a Set or as ToMany.")
            }
            return .relationship(relationship, graph.end(relationship))
        }
    }
}

extension AttributeType {
    fileprivate var isInteger: Bool { self == .int16 || self == .int32 || self == .int64 }

    /// Whether a Swift property that is declared with this type can read values of the stored type.
    func canRead(_ stored: AttributeType) -> Bool { self == stored || (isInteger && stored.isInteger) }
}

extension Relationship {
    /// Whether the relationship can lead to objects of an entity.
    fileprivate func leads(to entity: Entity, in schema: Schema) -> Bool {
        guard let own = schema.entity(destination) else { return false }
        return own.family.contains(entity.number) || entity.family.contains(own.number)
    }
}

extension Graph {
    /// Returns the properties of a record type, matched with the schema of this graph. The result is computed only once for each schema.
    func binding<Record: EntityRecord>(_ type: Record.Type, for user: RecordBinding.User = .store) throws(CambiumError) -> RecordBinding {
        try layout.derivedObject(for: type) { () throws(CambiumError) in
            try RecordBinding(Record.recordDescription, type, self, for: user)
        }
    }
}

extension Edit {
    /// Returns the properties of a record type, matched with the schema of the edit's base.
    func binding<Record: EntityRecord>(_ type: Record.Type) throws(CambiumError) -> RecordBinding { try base.binding(type, for: .edit) }
}
