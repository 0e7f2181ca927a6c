/// The expression of a derived attribute. At the end of every transaction, the store computes the value of the attribute from the
/// expression.
///
/// ```swift
/// AttributeDefinition("itemCount", .int64, derived: .count("items"))
/// AttributeDefinition("total", .decimal, derived: .sum("items.price"))
/// AttributeDefinition("searchName", .string, derived: .folded("name"))
/// ```
///
/// Docs/Use/DERIVED.md has the rules.
public enum Derivation: Sendable, Hashable {
    /// The number of members of a to-many relationship. The attribute is a whole number.
    case count(String)
    /// The sum of an attribute of the members, such as `items.price`; 0 if no member has a value. The sum is a whole number, a `double` or
    /// a `decimal`. Docs/Use/DERIVED.md states the type of the sum for each type of attribute.
    case sum(String)
    /// The least value of an attribute of the members; null if no member has a value. The derived attribute has the type of the members'
    /// attribute.
    case min(String)
    /// The greatest value of an attribute of the members; null if no member has a value. The derived attribute has the type of the members'
    /// attribute.
    case max(String)
    /// The text of another attribute of the same object, in a form that ignores case and diacritics.
    case folded(String)

    /// Creates the expression for a key in the JSON form of a schema. Returns `nil` if no expression has this key.
    package init?(key: String, path: String) {
        switch key {
        case "count": self = .count(path)
        case "sum": self = .sum(path)
        case "min": self = .min(path)
        case "max": self = .max(path)
        case "folded": self = .folded(path)
        default: return nil
        }
    }

    /// The keys of expressions in the JSON form of a schema.
    package static let keys = ["count", "sum", "min", "max", "folded"]

    /// The key of the expression in the JSON form of a schema.
    package var key: String {
        switch self {
        case .count: "count"
        case .sum: "sum"
        case .min: "min"
        case .max: "max"
        case .folded: "folded"
        }
    }

    /// The value of `key` in the JSON form of a schema. It is a relationship, an attribute, or both, separated by a dot.
    package var path: String {
        switch self {
        case .count(let path), .sum(let path), .min(let path), .max(let path), .folded(let path): path
        }
    }

    /// The relationship that the expression reads, and the attribute. The attribute belongs to the members, or to the object itself if
    /// there is no relationship.
    var names: (relationship: String?, attribute: String?) {
        switch self {
        case .count(let name): return (name, nil)
        case .folded(let name): return (nil, name)
        case .sum(let path), .min(let path), .max(let path):
            guard let dot = path.firstIndex(of: ".") else { return (path, nil) }
            return (String(path[..<dot]), String(path[path.index(after: dot)...]))
        }
    }

    /// Returns the same expression with its names replaced.
    package func renamed(relationship: (String) -> String, attribute: (String) -> String) -> Derivation {
        let names = names
        let parts = [names.relationship.map(relationship), names.attribute.map(attribute)].compactMap(\.self)
        return Derivation(key: key, path: parts.joined(separator: ".")) ?? self
    }
}

/// The expression of a derived attribute, with the numbers of properties instead of their names.
package struct ResolvedDerivation: Sendable, Hashable {
    package enum Function: Sendable, Hashable { case count, sum, min, max, folded }

    package let function: Function
    /// The to-many relationship whose members are read; `nil` for `folded`.
    package let relationship: PropertyNumber?
    /// The attribute that the function reads: an attribute of the members, or of the object itself for `folded`. `nil` for `count`.
    package let attribute: PropertyNumber?
}
