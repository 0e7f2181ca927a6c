#if Macros
    /// Makes a struct the record of an entity.
    ///
    ///     @Entity("Note", indexes: [["title"]])
    ///     struct Note {
    ///         @Identity(.rebuild(.uuid)) var id: UUID
    ///         @Attribute(.minLength(1)) var title: String = ""
    ///         var kind: Kind = .retail
    ///         @Attribute(.json) var meta: Meta?
    ///         @Relationship(.clone(.copy), inverse: \Item.note, onDelete: .cascade) var items: [Item]
    ///         @Transient var cache: Int = 0
    ///         let created: Date
    ///     }
    ///
    /// The macro adds the property `ref` and the conformance to `EntityRecord`, which the struct may also state itself. The macro needs the
    /// package trait `Macros`:
    ///
    ///     .package(url: "...", from: "1.0.0", traits: ["Macros"])
    ///
    /// Each stored property becomes an attribute or a relationship of the entity, depending on its type. If the initial value is a literal,
    /// or a case such as `.retail`, it becomes the default of the attribute. Any other initial value, such as `UUID()`, applies only when
    /// the program creates the struct. A property whose type is a record or a `JSONAttribute` has no default.
    ///
    /// An initial value that the options refuse does not become the default. So `@Attribute(.minLength(1)) var title = ""` is possible. The
    /// program must set the title before the first save. Otherwise, the save fails.
    ///
    /// A struct may implement `recordSchema`, `init(from:)` or `write(to:)` itself. The macro then generates only the other requirements.
    /// The generated schema numbers the properties from 0 in the order of their declaration, without transient properties. If the struct
    /// implements `recordSchema`, the generated functions identify each property by its name, or by the name in `.named`.
    ///
    /// The macro repeats options, arguments and the types of default values in an extension outside of all types. So if the struct is
    /// inside another type, qualify the names of the members of that type: `var kind: Shop.Kind = .retail`, `inverse: \Shop.Item.note`.
    ///
    /// The generated members are `public` or `package` if the struct is. The compiler reports mistakes as errors. Most of these errors
    /// propose a correction.
    ///
    /// - Parameters:
    ///   - name: The name of the entity, a literal. The default is the name of the struct.
    ///   - parent: The record of the parent entity, whose properties the entity inherits.
    ///   - isAbstract: Whether only sub-entities of this entity have objects.
    ///   - unique: Lists of attributes and to-one relationships. No two objects have the same values and targets in all of a list.
    ///   - indexes: Lists of attributes with an ordered index: `name`, `-name` for descending order, `name[c]` for text without regard to
    ///     case.
    ///   - userInfo: Texts that the schema keeps for programs.
    ///   - renamedFrom: The former name of the entity, for a migration.
    @attached(member, names: named(ref))
    @attached(extension, conformances: EntityRecord, names: named(recordSchema), named(init(from:)), named(write(to:)))
    public macro Entity(
        _ name: String? = nil, parent: (any EntityRecord.Type)? = nil, isAbstract: Bool = false, unique: [[String]] = [],
        indexes: [[String]] = [], userInfo: [String: String] = [:], renamedFrom: String? = nil
    ) = #externalMacro(module: "CambiumMacros", type: "EntityMacro")

    /// Marks an attribute or a to-one relationship that identifies an object. A save of a record without a `ref` updates the object with
    /// the same identity.
    ///
    ///     @Identity var id: UUID
    ///     @Identity(.rebuild(.uuid)) var id: UUID
    ///
    /// Several properties of a struct may form its identity together. Every object has a value for each of them, so their types are not
    /// optional. A property of type `Ref` is the owner of the object: `@Identity var project: Ref<Project>`.
    ///
    /// - Parameter options: Options of attributes.
    @attached(peer)
    public macro Identity(_ options: PropertyOption...) = #externalMacro(module: "CambiumMacros", type: "IdentityMacro")

    /// Sets options of an attribute. An attribute without options does not need this macro.
    ///
    ///     @Attribute(.minLength(1), .indexed) var title: String
    ///     @Attribute(.named("firstName")) var name: String
    ///     @Attribute(.json) var meta: Meta?
    ///
    /// The option `.json` stores a value of any `Codable` type as JSON. The name in `.named` is a literal.
    ///
    /// - Parameter options: Options of attributes.
    @attached(peer)
    public macro Attribute(_ options: PropertyOption...) = #externalMacro(module: "CambiumMacros", type: "AttributeMacro")

    /// Sets options, an inverse (as a key path) and a delete rule of a relationship. A relationship without them does not need this macro.
    ///
    ///     struct Note { @Relationship(inverse: \Item.note, onDelete: .cascade) var items: [Item] }
    ///     struct Item { var note: Ref<Note>? }
    ///
    /// Only one of the two sides can refer to the other by a key path. If both do, the compiler reports a circular reference. The store
    /// needs the inverse on only one side. Both sides can name the inverse as a string.
    ///
    /// - Parameters:
    ///   - options: Options of relationships.
    ///   - inverse: The property at the other end, or `nil` if there is no such property, or if that property refers to this one.
    ///   - onDelete: The effect of deleting this object on the objects of the relationship. The default is `nullify`.
    @attached(peer)
    public macro Relationship(
        _ options: PropertyOption..., inverse: (any AnyKeyPath & Sendable)? = nil, onDelete: DeleteRule? = nil
    ) = #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

    /// Sets options, an inverse (as its stored name) and a delete rule of a relationship.
    ///
    ///     @Relationship(inverse: "note", onDelete: .cascade) var items: [Item]
    ///
    /// - Parameters:
    ///   - options: Options of relationships.
    ///   - inverse: The stored name of the property at the other end.
    ///   - onDelete: The effect of deleting this object on the objects of the relationship. The default is `nullify`.
    @attached(peer)
    public macro Relationship(
        _ options: PropertyOption..., inverse: String, onDelete: DeleteRule? = nil
    ) = #externalMacro(module: "CambiumMacros", type: "RelationshipMacro")

    /// Keeps a stored property out of the store. The property has its initial value whenever a record is read.
    ///
    ///     @Transient var isSelected = false
    @attached(peer)
    public macro Transient() = #externalMacro(module: "CambiumMacros", type: "TransientMacro")
#endif
