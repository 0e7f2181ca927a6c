#if Macros

    /// Makes a struct the record of an entity: its stored properties become the attributes and relationships of the entity.
    @attached(member, names: named(ref))
    @attached(extension, conformances: EntityRecord, names: named(recordSchema), named(init(from:)), named(write(to:)))
    public macro Entity(
        _ name: String? = nil, parent: (any EntityRecord.Type)? = nil, isAbstract: Bool = false, unique: [[String]] = [],
        indexes: [[String]] = [], userInfo: [String: String] = [:], renamedFrom: String? = nil
    ) = #externalMacro(module: "CambiumMacros", type: "EntityMacro")

    @attached(peer)
    public macro Identity(_ options: PropertyOption...) = #externalMacro(module: "CambiumMacros", type: "IdentityMacro")

    @attached(peer)
    public macro Attribute(_ options: PropertyOption...) = #externalMacro(module: "CambiumMacros", type: "AttributeMacro")

    @attached(peer)
    public macro Relationship(
        _ options: PropertyOption..., inverse: (any AnyKeyPath & Sendable)? = nil, onDelete: DeleteRule? = nil
    ) = #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

    @attached(peer)
    public macro Relationship(
        _ options: PropertyOption..., inverse: String, onDelete: DeleteRule? = nil
    ) = #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

    @attached(peer)
    public macro Transient() = #externalMacro(module: "CambiumMacros", type: "TransientMacro")
#endif
