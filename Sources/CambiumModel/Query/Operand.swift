/// One side of a comparison: a path such as `owner.name`, an aggregate such as `items.@sum.price`, a constant, a list or a parameter.
///
/// ```swift
/// let path = try Operand(parsing: "city.name")
/// let query = try Query("Person", where: "age between $ages", ["ages": [18, 30]])
/// for row in try graph.values(of: [path], query) { print(row[0]) }
/// ```
public struct Operand: Hashable, Sendable {
    package enum Form: Hashable, Sendable {
        /// The value at the end of a path.
        case path(QueryPath)
        /// A value that is computed from related objects, such as `items.@sum.price`.
        case aggregate(RelatedAggregate)
        /// A constant.
        case literal(QueryLiteral)
        /// The elements on the right side of `in` and `between`.
        case list([Operand])
        /// The value of a parameter. The name does not include the `$`.
        case parameter(String)
    }

    package var form: Form
    /// The position of the operand in the text of the query, if the operand was parsed from a text.
    package var offset: TextOffset

    package init(_ form: Form) { self.init(form, at: nil) }

    package init(_ form: Form, at offset: Int?) {
        self.form = form
        self.offset = TextOffset(offset)
    }

    /// The maximum number of elements of a list.
    package static let elementCountMax = 65_536
}

/// The names that lead from an object to a value: to-one or to-many relationships, and at the end an attribute or a relationship.
///
/// The last name may also be `_id` (the object itself) or `_entity` (the name of the object's entity). An empty path means the object
/// itself.
package struct QueryPath: Hashable, Sendable {
    package var names: [String]
    /// The position of the path in the text of the query, if the path precedes `where`. Any other path is part of an operand, and the
    /// operand has the position.
    package var offset = TextOffset(nil)

    package init(_ names: [String]) { self.names = names }

    /// The maximum number of names of a path.
    package static let nameCountMax = 64
}

/// A value that is computed from the objects at the end of a path: `tags.@count`, `items.@sum.price`.
package struct RelatedAggregate: Hashable, Sendable {
    package var function: AggregateFunction
    /// The path to the objects.
    package var path: QueryPath
    /// The path from each object to its value; `nil` if the function counts the objects.
    package var value: QueryPath?

    package init(_ function: AggregateFunction, _ path: QueryPath, of value: QueryPath? = nil) {
        self.function = function
        self.path = path
        self.value = value
    }
}

/// A function of many values. Every function ignores null values.
///
/// ```swift
/// let age = try Operand(parsing: "age")
/// let functions: [AggregateFunction] = [.min, .avg, .max]
/// let rows = try graph.aggregate(Query("Person"), Grouping(functions.map { Aggregate($0, of: age) }))
/// print(rows.first?.values ?? [])
/// ```
public enum AggregateFunction: String, Hashable, Sendable, CaseIterable {
    /// The number of values that are not null.
    case count
    /// The sum of numbers; 0 if there are no values.
    case sum
    /// The least value; null if there are no values.
    case min
    /// The greatest value; null if there are no values.
    case max
    /// The mean of numbers, as a double; null if there are no values.
    case avg
    /// The number of different values.
    case countDistinct
}

/// A constant in a condition. The constant is converted to the type of the attribute with which it is compared.
package enum QueryLiteral: Hashable, Sendable {
    case null
    case bool(Bool)
    /// The text of a number, written as in JSON.
    case number(String)
    /// A text, which can also mean a date, a UUID, a URI or data, in the forms that imports accept.
    case string(String)
    /// An object, identified by the name of its entity and its serial: `Note/42`.
    case object(entity: String, serial: UInt64)
    /// An object, identified by its id: `3/42`.
    case id(ObjectID)
    /// A value with a known type. Programs that build conditions in Swift use this case.
    case value(Value)
    /// A text that is converted to the type of the attribute, whatever that type is. On the command line, `name=text` gives such a text to
    /// a parameter.
    case text(String)
}

/// A byte offset in the text of a query. Only messages use the offset, so two operands, or two paths, that differ only in their offsets are
/// equal.
package struct TextOffset: Hashable, Sendable {
    package let value: Int?

    package init(_ value: Int?) { self.value = value }

    package static func == (left: Self, right: Self) -> Bool { true }
    package func hash(into hasher: inout Hasher) {}
}
