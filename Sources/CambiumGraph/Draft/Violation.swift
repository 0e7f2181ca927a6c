/// A rule of the schema that the result of a transaction breaks.
///
/// ```swift
/// for violation in (error.underlying as? RuleViolations)?.violations ?? [] {
///     if case .duplicate(let attributes, let entity) = violation.rule { print(violation.object, entity, attributes) }
/// }
/// ```
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// A rule of the schema, with the details of how it was broken.
    public enum Rule: Hashable, Sendable {
        /// The mandatory attribute with this name is null.
        case mandatoryAttribute(String)
        /// The relationship with this name has fewer members than its minimum.
        case tooFewMembers(String, count: Int, min: Int)
        /// The relationship with this name has more members than its maximum.
        case tooManyMembers(String, count: Int, max: Int)
        /// Another object has the same values in all attributes of a unique set.
        case duplicate(attributes: [String], of: String)
        /// The object cannot be deleted, because this relationship has the rule `deny` and still has a member.
        case deleteDenied(relationship: String, by: String)
        /// After a migration, the attribute with this name has a value that the new schema does not allow. The second text states the
        /// reason.
        case valueRefused(String, String)
        /// The value of the attribute with this name has no exact equivalent in the type that the attribute has after a migration.
        /// `nearest` is the value that it would become, or `nil` if it is beyond the range of the type.
        case inexactValue(String, String, type: String, nearest: String?)
        /// The object has `count` members in the relationship with this name, which a migration makes to-one. `kept` is the member that it
        /// would keep, or `nil` if another object would keep it.
        case severalMembers(String, count: Int, kept: String?)
        /// After a migration, the relationship with this name holds only objects of the entity `wanted`. The member that the second text
        /// names has another entity.
        case wrongMember(String, String, wanted: String)
    }

    /// The object, such as `Note/42`.
    public let object: String
    /// The rule that the object breaks.
    public let rule: Rule

    package init(object: String, rule: Rule) {
        self.object = object
        self.rule = rule
    }

    public var description: String {
        switch rule {
        case .mandatoryAttribute(let name):
            "\(object): '\(name)' must have a value"
        case .tooFewMembers(let name, count: 0, min: 1):
            "\(object): '\(name)' must lead to at least one object"
        case .tooFewMembers(let name, let count, let min):
            "\(object): '\(name)' has too few members: \(count) of at least \(min)"
        case .tooManyMembers(let name, let count, let max):
            "\(object): '\(name)' has too many members: \(count) of at most \(max)"
        case .duplicate(let attributes, let other):
            "\(object): \(attributes.map { "'\($0)'" }.joined(separator: ", ")) must be unique, but \(other) has the same "
                + (attributes.count == 1 ? "value" : "values")
        case .deleteDenied(let relationship, let member):
            "\(object): cannot be deleted while '\(relationship)' has \(member)"
        case .valueRefused(let name, let reason):
            "\(object): '\(name)' \(reason)"
        case .inexactValue(let name, let value, let type, let nearest):
            "\(object): '\(name)' is \(value), which has no exact equivalent of type \(type)"
                + (nearest.map { "; the nearest is \($0)" } ?? ", and none near it")
        case .severalMembers(let name, let count, let kept):
            "\(object): '\(name)' becomes to-one, but has \(count) members" + (kept.map { "; the first is \($0)" } ?? "")
        case .wrongMember(let name, let member, let wanted):
            "\(object): '\(name)' holds objects of '\(wanted)', but \(member) has another entity"
        }
    }

    /// The entity of the object.
    var entityName: String { String(Substring(object.utf8.prefix { $0 != UInt8(ascii: "/") })) }

    /// The kind of the rule, and the properties that the rule concerns. Violations of one entity with the same subject are examples of one
    /// rule.
    var subject: [String] {
        switch rule {
        case .mandatoryAttribute(let name): ["mandatory", name]
        case .tooFewMembers(let name, _, _): ["few", name]
        case .tooManyMembers(let name, _, _): ["many", name]
        case .duplicate(let attributes, _): ["duplicate"] + attributes
        case .deleteDenied(let relationship, _): ["denied", relationship]
        case .valueRefused(let name, _): ["value", name]
        case .inexactValue(let name, _, _, _): ["inexact", name]
        case .severalMembers(let name, _, _): ["several", name]
        case .wrongMember(let name, _, _): ["member", name]
        }
    }

    /// Returns the description and the remedy, as sentences.
    ///
    /// - Parameters:
    ///   - isOfMigration: Whether the rule belongs to the new schema of a migration.
    ///   - identity: The identity of the object, which follows its name: `Issue/65 (CORE-17)`.
    func sentences(isOfMigration: Bool, identity: String?) -> String {
        let name = identity.map { "\(object) (\($0))" } ?? object
        return "\(name)\(description.dropFirst(object.count)). \(isOfMigration ? migrationRemedy : remedy)"
    }

    /// The remedy for a rule of the new schema. A property that the old schema lacks cannot be set before the migration.
    private var migrationRemedy: String {
        switch rule {
        case .mandatoryAttribute(let name): "Give '\(name)' a default, or set it before the migration if it exists already."
        case .tooFewMembers(let name, _, _): "Link objects before the migration. If '\(name)' is new, migrate with a minimum of 0 first."
        case .duplicate: "Change one of the objects before the migration."
        default: remedy
        }
    }

    private var remedy: String {
        switch rule {
        case .mandatoryAttribute(let name): "Set '\(name)'."
        case .tooFewMembers(_, count: 0, min: 1): "Link an object."
        case .tooFewMembers: "Link more objects."
        case .tooManyMembers: "Unlink the other objects."
        // If the transaction inserts the object, the object does not exist after the error. So the remedy names only the other object.
        case .duplicate(let attributes, let other):
            attributes.count == 1 ? "Use another value, or change \(other)." : "Use other values, or change \(other)."
        case .deleteDenied(_, let member): "Delete or unlink \(member) first."
        case .valueRefused(let name, _), .inexactValue(let name, _, _, nearest: nil): "Change '\(name)' before the migration."
        case .inexactValue(let name, _, _, _): "Change '\(name)' before the migration, or accept the nearest values (--convert)."
        case .severalMembers: "Unlink the other members before the migration, or keep only the first one (--convert)."
        case .wrongMember(_, let member, _): "Unlink \(member) before the migration."
        }
    }
}

extension Violation.Rule {
    /// Whether the rule limits the number of members of an object.
    var concernsMembers: Bool {
        switch self {
        case .tooFewMembers, .tooManyMembers, .severalMembers: true
        case .mandatoryAttribute, .duplicate, .deleteDenied, .valueRefused, .inexactValue, .wrongMember: false
        }
    }
}
