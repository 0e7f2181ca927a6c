/// An option of a property of an `EntityRecord`, such as a rule, an index or a delete rule, which becomes a part of the schema.
///
/// ```swift
/// RecordProperty("id", \.id, .identity, .rebuild(.uuid))
/// RecordProperty("title", \.title, .minLength(1), .maxLength(200))
/// ```
///
/// With the macros, `@Attribute(.minLength(1), .maxLength(200)) var title: String` declares the same options for `title`.
public struct PropertyOption: Sendable {
    /// The value that an attribute with `rebuild` gets in a clone.
    public enum Rebuilt: String, Sendable { case uuid, now }
    /// The value that an attribute with `followParent` gets if the clone has no parent to follow.
    public enum WithoutParent: String, Sendable { case keep, blank }

    enum Effect: Sendable {
        case identity, unique, indexed, json, ordered
        case `default`(Value)
        case min(Value)
        case max(Value)
        case minLength(Int)
        case maxLength(Int)
        case regex(String)
        case derived(Derivation)
        case renamed(from: String)
        case named(String)
        case userInfo([String: String])
        case followParent(PropertyName)
        case inverse(PropertyName)
        case onDelete(DeleteRule)
        case orphans(OrphanRule)
        case minCount(Int)
        case maxCount(Int)
    }

    let effect: Effect

    /// The attribute or the to-one relationship belongs to the identity, by which saves and imports recognize an object.
    public static var identity: Self { Self(effect: .identity) }
    /// No two objects have the same value.
    public static var unique: Self { Self(effect: .unique) }
    /// The store keeps an ordered index over the attribute.
    public static var indexed: Self { Self(effect: .indexed) }
    /// Marks a `Codable` property for the macro `@Attribute`. In a record without the macro, use `RecordProperty(json:_:)`.
    public static var json: Self { Self(effect: .json) }
    /// The value of the attribute in an object that is inserted without a value.
    public static func `default`(_ value: some AttributeValue) -> Self { Self(effect: .default(value.attributeValue)) }
    /// The least value that a number or a date may have.
    public static func min(_ value: Value) -> Self { Self(effect: .min(value)) }
    /// The greatest value that a number or a date may have.
    public static func max(_ value: Value) -> Self { Self(effect: .max(value)) }
    /// The minimum length: in Unicode scalars for text, in bytes for data.
    public static func minLength(_ length: Int) -> Self { Self(effect: .minLength(length)) }
    /// The maximum length: in Unicode scalars for text, in bytes for data.
    public static func maxLength(_ length: Int) -> Self { Self(effect: .maxLength(length)) }
    /// A regular expression in RE2 syntax that must match the whole text.
    public static func regex(_ pattern: String) -> Self { Self(effect: .regex(pattern)) }
    /// A value that the store computes with this expression. A save does not write the property.
    public static func derived(_ derivation: Derivation) -> Self { Self(effect: .derived(derivation)) }
    /// For a migration: the name of the property in the old schema.
    public static func renamed(from name: String) -> Self { Self(effect: .renamed(from: name)) }
    /// For the macros: the name of the property in the store, if it differs from the name in Swift.
    public static func named(_ name: String) -> Self { Self(effect: .named(name)) }
    /// Texts that the schema keeps for the property, such as the texts that control clones.
    public static func userInfo(_ texts: [String: String]) -> Self { Self(effect: .userInfo(texts)) }

    // MARK: Clones

    /// In a clone, the attribute gets a new UUID, or the time at which the clone is made.
    public static func rebuild(_ value: Rebuilt) -> Self { .userInfo(["rebuild": value.rawValue]) }
    /// In a clone, an attribute with this option gets its default, or null. A clone does not follow a relationship with this option.
    public static var exclude: Self { .userInfo(["exclude": ""]) }
    /// In a clone, the attribute gets the value that the attribute `name` has in the clone of the parent. `^.^.id` refers to the parent's
    /// parent. Imports and saves do not use this option: a nested row or record contains the value itself.
    public static func followParent(_ name: String) -> Self { Self(effect: .followParent(.name(name))) }
    /// In a clone, the attribute gets the value that another attribute, such as `\Note.id`, has in the clone of the parent. Imports
    /// and saves do not use this option: a nested row or record contains the value itself.
    public static func followParent(_ keyPath: any AnyKeyPath & Sendable) -> Self { Self(effect: .followParent(.keyPath(keyPath))) }
    /// The value in a clone that has no parent to follow. Without this option, cloning an object without a parent fails.
    public static func withoutParent(_ value: WithoutParent) -> Self { .userInfo(["withoutParent": value.rawValue]) }
    /// The behavior of a clone for a relationship: the clone copies the members, shares them with the original, or has no members.
    public static func clone(_ rule: CloneRule) -> Self {
        let word =
            switch rule {
            case .copy: "copy"
            case .share: "share"
            case .skip: "skip"
            }
        return .userInfo(["clone": word])
    }

    // MARK: Relationships

    /// The relationship through which the members lead back to the object. Only one of the two relationships needs this option.
    public static func inverse(_ name: String) -> Self { Self(effect: .inverse(.name(name))) }
    /// The relationship through which the members lead back to the object, such as `\Item.note`.
    public static func inverse(_ keyPath: any AnyKeyPath & Sendable) -> Self { Self(effect: .inverse(.keyPath(keyPath))) }
    /// The effect that the deletion of an object has on its members.
    public static func onDelete(_ rule: DeleteRule) -> Self { Self(effect: .onDelete(rule)) }
    /// The effect on a member if it loses its last owner.
    public static func orphans(_ rule: OrphanRule) -> Self { Self(effect: .orphans(rule)) }
    /// The members of a `ToMany` have an order.
    public static var ordered: Self { Self(effect: .ordered) }
    /// The minimum number of members. With 1, a to-one relationship is mandatory although the type of its property is optional.
    public static func minCount(_ count: Int) -> Self { Self(effect: .minCount(count)) }
    /// The maximum number of members of a to-many relationship.
    public static func maxCount(_ count: Int) -> Self { Self(effect: .maxCount(count)) }
}

extension PropertyOption.Effect {
    /// Whether two options of one property give the same rule different values. Defaults are not compared: the macro may have made them
    /// from initial values, and several views of one entity may have different initial values.
    ///
    /// - Parameter names: Returns the stored name of the property that a name or a key path denotes.
    func contradicts(_ other: Self, _ names: (PropertyName) -> String?) -> Bool {
        switch (self, other) {
        case (.min(let left), .min(let right)), (.max(let left), .max(let right)): left != right
        case (.minLength(let left), .minLength(let right)), (.maxLength(let left), .maxLength(let right)): left != right
        case (.minCount(let left), .minCount(let right)), (.maxCount(let left), .maxCount(let right)): left != right
        case (.regex(let left), .regex(let right)), (.renamed(let left), .renamed(let right)): left != right
        case (.derived(let left), .derived(let right)): left != right
        case (.onDelete(let left), .onDelete(let right)): left != right
        case (.orphans(let left), .orphans(let right)): left != right
        case (.followParent(let left), .followParent(let right)), (.inverse(let left), .inverse(let right)): names(left) != names(right)
        case (.userInfo(let left), .userInfo(let right)): left.contains { key, text in right[key].map { $0 != text } ?? false }
        default: false
        }
    }
}

/// The name of a property, or a key path to the property. The key path is resolved when the schema is made.
enum PropertyName: Sendable {
    case name(String)
    case keyPath(any AnyKeyPath & Sendable)
}
