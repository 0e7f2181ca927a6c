/// An attribute of an entity, resolved from a schema.
///
/// ```swift
/// let note = try store.schema.required("Note")
/// for attribute in note.attributes { print(attribute.name, attribute.type, attribute.isOptional) }
/// ```
public final class Attribute: Sendable {
    package let number: PropertyNumber
    /// The name in the schema.
    public let name: String
    /// The entity that declares the attribute. Its sub-entities inherit the attribute.
    package let entity: EntityNumber
    package let root: EntityNumber
    /// The type of the values.
    public let type: AttributeType
    /// Whether the value may be null.
    public let isOptional: Bool
    /// The value that a new object has if none is assigned; null if the schema has no default.
    public let defaultValue: Value
    package let constraints: AttributeConstraints
    package let isTransient: Bool
    /// The expression of a derived attribute; `nil` if users set the value.
    package let derivation: ResolvedDerivation?
    /// The texts that the schema attaches to the attribute. Some keys control clones.
    public let userInfo: [String: String]
    package let schemaName: SchemaName
    /// The name before the schema renamed the attribute; `nil` if the schema states no such name.
    package let formerName: String?

    package init(
        number: PropertyNumber, name: String, formerName: String?, entity: EntityNumber, root: EntityNumber, type: AttributeType,
        isOptional: Bool,
        defaultValue: Value, constraints: AttributeConstraints, isTransient: Bool, derivation: ResolvedDerivation? = nil,
        userInfo: [String: String]
    ) {
        self.number = number
        self.name = name
        self.entity = entity
        self.root = root
        self.type = type
        self.isOptional = isOptional
        self.defaultValue = defaultValue
        self.constraints = constraints
        self.isTransient = isTransient
        self.derivation = derivation
        self.userInfo = userInfo
        self.formerName = formerName
        schemaName = SchemaName(name, formerName: formerName)
    }

    /// Whether the store computes the value. A transaction cannot set such a value.
    package var isDerived: Bool { derivation != nil }

    /// Returns the error for a value that a caller gives for this derived attribute.
    package func refusal(in entity: Entity) -> CambiumError {
        CambiumError(
            .invalidInput,
            "'\(entity.name).\(name)' is derived: the store computes its value. "
                + "Set the properties from which the value is computed.")
    }

    /// Returns how a value violates a constraint, or `nil` if the value is valid. Unlike a read of `constraints`, the call does not copy
    /// the constraints.
    package func violation(by value: Value) -> String? { constraints.check(value) }
}
