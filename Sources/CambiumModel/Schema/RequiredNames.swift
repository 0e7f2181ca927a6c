extension Schema {
    /// Returns the entity with this name. Throws `.unknownName` if there is no such entity. The message states the present name if the
    /// schema states that the entity was renamed, and otherwise lists the names of the first 50 entities. Complexity: O(1) expected.
    public func required(_ name: String) throws(CambiumError) -> Entity {
        if let entity = entity(name) { return entity }
        let remedy = newName(ofEntity: name) ?? nameList("entities", entities.map(\.name))
        throw CambiumError(.unknownName, "The schema has no entity '\(name.excerpt)'. \(remedy)")
    }

    /// Returns the sentence that states the present name of a renamed entity; `nil` if the schema states no such renaming.
    package func newName(ofEntity name: String) -> String? { presentName(entities.first { $0.formerName == name }?.name) }

    /// Returns the error for an id that no object has.
    package func missingObject(_ id: ObjectID) -> CambiumError {
        let name = "\(entity(id.root)?.name ?? "\(id.root)")/\(id.serial)"
        return CambiumError(.notFound, "Object \(name) does not exist. Use the id of an object that a query or a lookup by identity found.")
    }
}

extension Schema {
    /// For an entity of an earlier schema, returns the corresponding entity of this schema. Throws `.invalidInput` if this schema no longer
    /// has the entity.
    package func current(_ entity: Entity) throws(CambiumError) -> Entity {
        if let own = self.entity(entity.number), own === entity || (own.name == entity.name && own.root == entity.root) { return own }
        throw CambiumError(
            .invalidInput,
            "The entity '\(entity.name)' is from an older schema, and the current schema does not have it. "
                + "Use an entity from the schema of the newest graph.")
    }

    /// Returns the entity of this schema to insert an object of. Throws as `current(_:)` does, and `.invalidInput` for an abstract entity.
    package func insertable(_ entity: Entity) throws(CambiumError) -> Entity {
        let entity = try current(entity)
        if entity.isAbstract { throw CambiumError(.invalidInput, "'\(entity.name)' is abstract. Insert one of its sub-entities.") }
        return entity
    }

    /// Throws `.invalidInput` if a relationship cannot hold an object, because of the object's entity.
    ///
    /// - Parameters:
    ///   - number: The entity of the object.
    ///   - name: The name of the object, for the error.
    ///   - owner: The name of the object that has the relationship, for the error.
    package func check(
        _ number: EntityNumber?, _ name: @autoclosure () -> String, for relationship: Relationship, of owner: @autoclosure () -> String
    ) throws(CambiumError) {
        let destination = entity(relationship.destination)
        if let number, destination?.family.contains(number) == true { return }
        let wanted = destination?.name ?? ""
        throw CambiumError(
            .invalidInput,
            "'\(relationship.name)' of \(owner()) holds objects of '\(wanted)', but \(name()) has another entity. "
                + "Pass an object of '\(wanted)'.")
    }
}

extension Relationship {
    /// Throws `.invalidInput` if a member of the relationship cannot be moved to an index.
    package func checkMove(to index: Int, count: @autoclosure () -> Int) throws(CambiumError) {
        guard isOrdered else {
            throw CambiumError(
                .invalidInput, "'\(name)' is not ordered, so its members cannot be moved. Declare it as ordered in the schema.")
        }
        let count = count()
        if index >= 0, index < count { return }
        throw CambiumError(.invalidInput, "Index \(index) is out of range: '\(name)' has \(count) members, and indexes begin at 0.")
    }

    /// Throws `.invalidInput` if the members of the relationship have no indexes.
    package func checkOrder() throws(CambiumError) {
        if isOrdered { return }
        throw CambiumError(.invalidInput, "'\(name)' is not ordered, so its members have no index. Omit the index.")
    }
}

extension Entity {
    /// Returns the links that a caller requests for a new object, after `check` has accepted each of them. Throws the errors of `check`,
    /// and `.unknownName` for a relationship that the entity does not have. Throws `.invalidInput` for several targets of a to-one
    /// relationship.
    package func linkTargets(
        _ links: KeyValuePairs<String, [ObjectID]>, _ check: (ObjectID, Relationship) throws(CambiumError) -> Void
    ) throws(CambiumError) -> [(Relationship, ObjectID)] {
        var found: [(Relationship, ObjectID)] = []
        for (name, targets) in links {
            let relationship = try requiredRelationship(name)
            if !relationship.isToMany, targets.count > 1 {
                throw CambiumError(
                    .invalidInput,
                    "'\(self.name).\(name)' leads to one object, but \(targets.count) objects were given. Give one object.")
            }
            for target in targets {
                try check(target, relationship)
                found.append((relationship, target))
            }
        }
        return found
    }

    /// Returns the attribute with this name. Throws `.unknownName` if there is no such attribute. The message states the present name
    /// if the schema states that the attribute was renamed, and otherwise lists the names of the first 50 attributes.
    /// Complexity: O(1) expected.
    public func requiredAttribute(_ name: String) throws(CambiumError) -> Attribute {
        if let attribute = attribute(name) { return attribute }
        let remedy = newName(ofAttribute: name) ?? nameList("attributes", attributes.map(\.name))
        throw CambiumError(.unknownName, "'\(self.name)' has no attribute '\(name.excerpt)'. \(remedy)")
    }

    /// Returns the relationship with this name. Throws `.unknownName` if there is no such relationship. The message states the present
    /// name if the schema states that the relationship was renamed, and otherwise lists the names of the first 50 relationships.
    /// Complexity: O(1) expected.
    public func requiredRelationship(_ name: String) throws(CambiumError) -> Relationship {
        if let relationship = relationship(name) { return relationship }
        let remedy = newName(ofRelationship: name) ?? nameList("relationships", relationships.map(\.name))
        throw CambiumError(.unknownName, "'\(self.name)' has no relationship '\(name.excerpt)'. \(remedy)")
    }

    /// Returns the sentence that states the present name of a renamed attribute; `nil` if the schema states no such renaming.
    package func newName(ofAttribute name: String) -> String? { presentName(attributes.first { $0.formerName == name }?.name) }

    /// Returns the sentence that states the present name of a renamed relationship; `nil` if the schema states no such renaming.
    package func newName(ofRelationship name: String) -> String? { presentName(relationships.first { $0.formerName == name }?.name) }
}

/// Returns the sentence that states the present name of a renamed entity, attribute or relationship; `nil` if `name` is `nil`.
private func presentName(_ name: String?) -> String? { name.map { "Its name is '\($0)' now." } }

/// The maximum number of names that an error lists. A schema may have thousands of entities.
private let listedCountMax = 50

/// Returns a sentence that lists at most `listedCountMax` of the names, and states how many more there are.
private func nameList(_ kind: String, _ names: [String]) -> String {
    if names.isEmpty { return "It has no \(kind)." }
    let rest = names.count - listedCountMax
    return "Its \(kind) are: \(names.prefix(listedCountMax).joined(separator: ", "))" + (rest > 0 ? " and \(rest) more." : ".")
}
