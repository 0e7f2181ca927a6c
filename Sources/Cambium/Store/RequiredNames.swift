public import CambiumModel

extension Schema {
    /// The entity of this name. Throws `.unknownName` with the names that there are.
    public func required(_ name: String) throws(CambiumError) -> Entity {
        if let entity = entity(name) { return entity }
        throw CambiumError(.unknownName, "The schema has no entity '\(name)'. It has: \(entities.map(\.name).joined(separator: ", ")).")
    }
}

extension Schema {
    /// The entity of this schema that one is, which may be of a schema from before. Throws `.invalidInput` where it is none.
    func current(_ entity: Entity) throws(CambiumError) -> Entity {
        if let own = self.entity(entity.number), own === entity || (own.name == entity.name && own.root == entity.root) { return own }
        throw CambiumError(.invalidInput, "The schema has no entity '\(entity.name)' any more; ask the schema of the newest graph for it.")
    }
}

extension Entity {
    /// The attribute of this name. Throws `.unknownName` with the names that there are.
    public func requiredAttribute(_ name: String) throws(CambiumError) -> Attribute {
        if let attribute = attribute(name) { return attribute }
        let names = attributes.map(\.name).joined(separator: ", ")
        throw CambiumError(.unknownName, "'\(self.name)' has no attribute '\(name)'. It has: \(names).")
    }

    /// The relationship of this name. Throws `.unknownName` with the names that there are.
    public func requiredRelationship(_ name: String) throws(CambiumError) -> Relationship {
        if let relationship = relationship(name) { return relationship }
        let names = relationships.map(\.name).joined(separator: ", ")
        throw CambiumError(.unknownName, "'\(self.name)' has no relationship '\(name)'. It has: \(names).")
    }
}
