/// A component of an identity: an attribute, or a to-one relationship.
///
/// ```swift
/// let issue = try store.schema.required("Issue")  // "identity": ["project", "number"]
/// for component in issue.identity { print(component.name) }
/// ```
public enum IdentityComponent: Sendable {
    /// The value of the attribute belongs to the identity.
    case attribute(Attribute)
    /// The object to which the relationship leads belongs to the identity: the *owner*.
    case relationship(Relationship)

    /// The name of the property in the schema.
    public var name: String {
        switch self {
        case .attribute(let attribute): attribute.name
        case .relationship(let relationship): relationship.name
        }
    }

    package var number: PropertyNumber {
        switch self {
        case .attribute(let attribute): attribute.number
        case .relationship(let relationship): relationship.number
        }
    }

    package var attribute: Attribute? { if case .attribute(let attribute) = self { attribute } else { nil } }
    package var relationship: Relationship? { if case .relationship(let relationship) = self { relationship } else { nil } }
}

/// One of the values that state an identity, in a search and in texts such as `Issue:CORE,17`. An attribute has one value. A relationship
/// has the values of its target's identity, or, if its destination has no identity, the target's id as a text such as `Project/3`.
package struct IdentityValue: Sendable {
    /// The relationships that lead from the object to the one that has the value.
    package let path: [Relationship]
    /// The attribute with the value; `nil` if the value is the id of the object at the end of `path`.
    package let attribute: Attribute?

    package var type: AttributeType { attribute?.type ?? .string }
    /// The names of the properties on the way to the value, such as `["project", "name"]`.
    package var names: [String] { path.map(\.name) + (attribute.map { [$0.name] } ?? []) }
    /// The names with dots between them, for messages.
    package var name: String { names.joined(separator: ".") }
    /// A maximum for the values of one identity. Without it, their number could double with each entity on the way.
    package static let countMax = 64
}

/// A part of the key of an identity, in which each relationship is resolved to its target.
package enum IdentityKeyPart: Hashable, Sendable {
    case value(Value)
    case object(ObjectID)
}

extension Schema {
    /// Returns the key of the identity that values state. The values of a relationship find its target first. Returns `nil` if there are
    /// too few values, or if a target does not exist.
    ///
    /// - Parameter target: Returns the object of an entity that values state: those of its identity, or its id.
    package func identityKey(
        _ entity: Entity, _ values: ArraySlice<Value>, target: (Entity, ArraySlice<Value>) -> ObjectID?
    ) -> [IdentityKeyPart]? {
        var (key, rest): ([IdentityKeyPart], _) = ([], values)
        for component in entity.identity {
            switch component {
            case .attribute:
                guard let value = rest.popFirst() else { return nil }
                key.append(.value(value))
            case .relationship(let relationship):
                guard let destination = self.entity(relationship.destination) else { return nil }
                let count = max(1, destination.identityValues.count)
                guard rest.count >= count, let target = target(destination, rest.prefix(count)) else { return nil }
                key.append(.object(target))
                rest = rest.dropFirst(count)
            }
        }
        return key
    }
}

extension Entity {
    /// Returns the attributes of the identity, without its relationships.
    package var identityAttributes: [Attribute] { identity.compactMap(\.attribute) }

    /// The attribute of an identity that consists of exactly one attribute; otherwise `nil`.
    package var soleIdentityAttribute: Attribute? { identity.count == 1 ? identity[0].attribute : nil }
}
