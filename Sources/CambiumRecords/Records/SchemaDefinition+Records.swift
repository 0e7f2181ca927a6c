extension SchemaDefinition {
    /// Creates the definition of the schema that records require: their entities, and the entities of all records to which they refer.
    ///
    /// ```swift
    /// let store = try Store.open(at: path, creating: Schema(SchemaDefinition(of: Note.self)))
    /// ```
    ///
    /// Several records may be views of one entity. The entity has the properties of all these records; a property that occurs in several
    /// records must have the same type in each. If only one of two relationships names the other one as its inverse, the initializer adds
    /// the missing inverse.
    ///
    /// Throws `.invalidInput` with all mistakes if records contradict each other, or if a key path does not lead to a stored property.
    public init(of records: any EntityRecord.Type...) throws(CambiumError) {
        var assembly = SchemaAssembly()
        for record in records { assembly.add(record) }
        try self.init(entities: assembly.entities())
    }
}

extension Schema {
    /// Creates the schema that records require. See `SchemaDefinition(of:)`. Throws `.invalidInput` with all mistakes.
    public convenience init(of records: any EntityRecord.Type...) throws(CambiumError) {
        var assembly = SchemaAssembly()
        for record in records { assembly.add(record) }
        try self.init(SchemaDefinition(entities: assembly.entities()))
    }
}

/// Combines the descriptions of record types into entity definitions.
struct SchemaAssembly {
    private var known: Set<ObjectIdentifier> = []
    private var records: [(type: any EntityRecord.Type, description: RecordDescription)] = []
    private var mistakes: [String] = []

    /// Adds a record and all records to which it refers.
    mutating func add(_ record: any EntityRecord.Type) {
        var waiting: [any EntityRecord.Type] = [record]
        while let next = waiting.popLast() {
            guard known.insert(ObjectIdentifier(next)).inserted else { continue }
            let description = next.recordDescription
            records.append((next, description))
            if let parent = description.parent { waiting.append(parent) }
            for property in description.properties.reversed() {
                if case .relationship(let target, _, _) = property.form { waiting.append(target) }
            }
        }
    }

    /// Returns the definitions of the entities, in the order in which their first records were added.
    mutating func entities() throws(CambiumError) -> [EntityDefinition] {
        var drafts: [EntityDraft] = []
        var indexByName: [String: Int] = [:]
        for (type, description) in records {
            if indexByName[description.entity] == nil {
                indexByName[description.entity] = drafts.count
                drafts.append(EntityDraft(description.entity))
            }
            guard let index = indexByName[description.entity] else { continue }
            drafts[index].add(description, of: type, names: name(of:), &mistakes)
        }
        let parents = drafts.map { $0.definition.parent.flatMap { indexByName[$0] } }
        checkInverses(parents, indexByName)
        checkFollowed(parents, indexByName)
        for index in drafts.indices { dropInherited(&drafts, index, parents, indexByName) }
        addInverses(&drafts, indexByName)
        for repeated in drafts.flatMap(\.repeatedInverses) {
            if let index = indexByName[repeated.entity], let mistake = drafts[index].mistake(in: repeated) { mistakes.append(mistake) }
        }
        guard mistakes.isEmpty else {
            throw CambiumError(.invalidInput, "The records do not form a valid schema. Correct their declarations:", details: mistakes)
        }
        return drafts.map(\.definition)
    }

    /// Returns the stored name of the property that a key path or a name denotes, or `nil` if no record type has the property.
    private func name(of name: PropertyName) -> String? {
        switch name {
        case .name(let text): text
        case .keyPath(let keyPath): records.lazy.compactMap { $0.type.storedName(of: keyPath) }.first
        }
    }

    /// Reports each inverse whose key path belongs to a record of an entity other than the destination of the relationship. The schema
    /// contains only the name of the inverse, so another property of the destination with the same name would become the inverse.
    private mutating func checkInverses(_ parents: [Int?], _ indexByName: [String: Int]) {
        for (type, description) in records {
            for property in description.properties {
                guard case .relationship(let target, _, _) = property.form else { continue }
                let destination = target.recordDescription.entity
                for case .inverse(.keyPath(let keyPath)) in property.options.map(\.effect) {
                    guard let owner = owner(of: keyPath), !Self.areRelated(owner, destination, parents, indexByName) else { continue }
                    mistakes.append(
                        "\(type).\(property.name) leads to the entity '\(destination)', but the key path of its inverse belongs to a "
                            + "record of '\(owner)'. Use a key path of a record of '\(destination)'.")
                }
            }
        }
    }

    /// Reports each key path of `followParent` that belongs to a record whose entity has no relationship to the attribute's entity. In a
    /// clone, an object of that entity is never the parent. So the attribute would follow an attribute of the same name in another entity.
    private mutating func checkFollowed(_ parents: [Int?], _ indexByName: [String: Int]) {
        for (type, description) in records {
            for property in description.properties {
                for case .followParent(.keyPath(let keyPath)) in property.options.map(\.effect) {
                    guard let owner = owner(of: keyPath) else { continue }
                    let canReach = records.contains { _, source in
                        Self.areRelated(source.entity, owner, parents, indexByName)
                            && source.destinations.contains { Self.areRelated($0, description.entity, parents, indexByName) }
                    }
                    if canReach { continue }
                    mistakes.append(
                        "\(type).\(property.name) follows an attribute of '\(owner)', but no record of '\(owner)' has a relationship to "
                            + "'\(description.entity)'. Use a key path of a record with such a relationship, or remove .followParent.")
                }
            }
        }
    }

    /// Returns the entity of the record type to which a key path belongs, or `nil` if no record type has the property.
    private func owner(of keyPath: AnyKeyPath) -> String? {
        records.first { $0.type.storedName(of: keyPath) != nil }?.description.entity
    }

    /// Returns whether two entities are the same, or one is an ancestor of the other.
    private static func areRelated(_ one: String, _ other: String, _ parents: [Int?], _ indexByName: [String: Int]) -> Bool {
        guard let left = indexByName[one], let right = indexByName[other] else { return false }
        return left == right || ancestors(of: left, parents).contains(right) || ancestors(of: right, parents).contains(left)
    }

    /// Removes the properties that an entity inherits from its ancestors. Begins with the most distant ancestor, because the record types
    /// of nearer ancestors list the properties of that ancestor again.
    private mutating func dropInherited(
        _ drafts: inout [EntityDraft], _ index: Int, _ parents: [Int?], _ indexByName: [String: Int]
    ) {
        for parent in Self.ancestors(of: index, parents).reversed() {
            drafts[index].drop(drafts[parent], name(of:), { Self.areRelated($0, $1, parents, indexByName) }, &mistakes)
        }
    }

    /// Returns the indexes of the ancestors of an entity. The parent is the first one.
    private static func ancestors(of index: Int, _ parents: [Int?]) -> [Int] {
        var seen: Set<Int> = [index]
        var ancestors: [Int] = []
        var next = parents[index]
        // The schema reports a cycle of parents later.
        while let parent = next, seen.insert(parent).inserted {
            ancestors.append(parent)
            next = parents[parent]
        }
        return ancestors
    }

    /// Completes inverses: if a relationship A states B as its inverse, B gets the inverse A.
    private mutating func addInverses(_ drafts: inout [EntityDraft], _ indexByName: [String: Int]) {
        for draft in drafts {
            for relationship in draft.definition.relationships {
                guard let inverse = relationship.inverse, let target = indexByName[relationship.destination] else { continue }
                var index: Int? = target
                var seen: Set<Int> = []
                while let found = index, seen.insert(found).inserted, !drafts[found].declaredNames.contains(inverse) {
                    index = drafts[found].definition.parent.flatMap { indexByName[$0] }
                }
                if let index { drafts[index].setInverse(of: inverse, to: relationship.name) }
            }
        }
    }
}

extension RecordDescription {
    /// The entities to which the relationships of the record lead.
    fileprivate var destinations: [String] {
        properties.compactMap { if case .relationship(let target, _, _) = $0.form { target.recordDescription.entity } else { nil } }
    }
}

extension EntityRecord {
    static var recordDescription: RecordDescription { recordSchema.description }
    static func storedName(of keyPath: AnyKeyPath) -> String? { recordSchema.name(of: keyPath) }
}
