public import CambiumModel

/// A function over the objects that a query finds, or over each group of these objects.
///
/// ```swift
/// let average = Aggregate(.avg, of: try Operand(parsing: "price"))
/// ```
public struct Aggregate: Hashable, Sendable {
    package var function: AggregateFunction
    package var operand: Operand?

    /// - Parameter operand: The values to which the function is applied; `nil` if the function counts objects.
    public init(_ function: AggregateFunction, of operand: Operand? = nil) {
        self.function = function
        self.operand = operand
    }

    /// The aggregate that counts the objects.
    public static let count = Aggregate(.count)
}

/// One group of objects, with the results of the requested functions.
///
/// ```swift
/// let byCity = Grouping(by: [try Operand(parsing: "city.name")], [.count])
/// for row in try graph.aggregate(Query("Person"), byCity) { print(row.group, row.values) }
/// ```
public struct AggregateRow: Hashable, Sendable {
    /// The key values, which are the same for all objects of the group. Empty if the request has no keys.
    public let group: [QueryValue]
    /// The result of each function, in the order of the request.
    public let values: [QueryValue]

    package init(group: [QueryValue], values: [QueryValue]) { (self.group, self.values) = (group, values) }
}

/// A request for aggregates: the keys of the groups, the functions, and a condition on the groups.
///
/// ```swift
/// let sum = Aggregate(.sum, of: try Operand(parsing: "price"))
/// let byShelf = Grouping(by: [try Operand(parsing: "shelf.code")], [.count, sum], having: try Condition(parsing: "count > 2"))
/// for row in try graph.aggregate(Query("Product"), byShelf) { print(row.group, row.values) }
/// ```
public struct Grouping: Sendable {
    package var keys: [Operand]
    package var aggregates: [Aggregate]
    package var having: Condition? { didSet { (havingText, havingOption) = (nil, nil) } }
    /// The text that the condition was parsed from, for the positions in errors.
    package var havingText: String?
    /// The command-line option that contains the text of the condition, such as "--having". An error in the condition states this name
    /// before the position.
    package var havingOption: String?

    /// - Parameters:
    ///   - keys: The paths to the values by which objects are grouped. Objects with the same values form a group. If there are no keys, all
    ///     objects form one group.
    ///   - aggregates: The functions. A row of the answer has their results in this order.
    ///   - having: A condition on the groups. Its paths are the keys, `count`, and the functions with their paths, such as `sum.price`. If
    ///     a key and a function have the same name, the prefix `group` identifies the key, such as `group.count`.
    public init(by keys: [Operand] = [], _ aggregates: [Aggregate], having: Condition? = nil) {
        self.keys = keys
        self.aggregates = aggregates
        self.having = having
    }
}

extension Aggregate {
    /// The name of the result in conditions and sort keys, such as `count` or `sum.price`. The name has the form of a path. A word after a
    /// dot needs no `#`, so the name for the attribute `#like` is `sum.like`.
    var name: String { operand?.following(function.rawValue)?.description ?? function.rawValue }
}

extension Operand {
    /// Returns the operand with a name added before its path, such as `sum.price`. Returns `nil` for an operand without a path.
    func following(_ name: String) -> Operand? {
        func path(_ path: QueryPath) -> QueryPath { QueryPath([name] + (path.names.isEmpty ? ["self"] : path.names)) }
        switch form {
        case .path(let names): return Operand(.path(path(names)))
        case .aggregate(let inner): return Operand(.aggregate(RelatedAggregate(inner.function, path(inner.path), of: inner.value)))
        case .literal, .list, .parameter: return nil
        }
    }
}
