/// The kinds of values. Two values can be compared only if they are of the same kind.
package enum ValueKind: Hashable {
    case number, text, date, bool, uuid, data
    /// An object whose hierarchy has this root entity.
    case object(EntityNumber)

    package init(_ type: AttributeType) {
        switch type {
        case .int16, .int32, .int64, .float, .double, .decimal: self = .number
        case .string, .uri, .json: self = .text
        case .date: self = .date
        case .bool: self = .bool
        case .uuid: self = .uuid
        case .data: self = .data
        }
    }

    /// The kind in words, for messages.
    package var text: String {
        switch self {
        case .number: "a number"
        case .text: "a text"
        case .date: "a date"
        case .bool: "true or false"
        case .uuid: "a UUID"
        case .data: "data"
        case .object: "an object"
        }
    }

    /// Whether a relation can compare values of the kind.
    package func allows(_ relation: Comparison.Relation) -> Bool {
        switch relation {
        case .equal, .notEqual, .isIn: true
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .isBetween: self == .number || self == .text || self == .date
        case .contains, .beginsWith, .endsWith, .like, .matches: self == .text
        }
    }
}
