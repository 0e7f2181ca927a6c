/// A key by which a query sorts objects.
///
/// ```swift
/// var query = try Query("Person", where: "age > 30")
/// query.sort = [try SortKey(parsing: "-age"), try SortKey(parsing: "name[c]")]
/// let people = try graph.find(query)
/// ```
///
/// The text of a key is a path or an aggregate, such as `name`, `-born`, `owner.name[c]`, `tags.@count` or `price nulls last`.
public struct SortKey: Hashable, Sendable {
    /// The direction of an order.
    public enum Direction: Hashable, Sendable { case ascending, descending }
    /// The position of objects whose key is null.
    public enum Nulls: Hashable, Sendable { case first, last }

    package var operand: Operand
    package var direction: Direction
    package var nulls: Nulls
    package var folding: Folding

    /// - Parameters:
    ///   - operand: A path or an aggregate.
    ///   - nulls: The position of objects whose key is null. By default, such objects are first in an ascending order, and last in a
    ///     descending order.
    ///   - folding: The differences between texts that the order ignores.
    package init(_ operand: Operand, _ direction: Direction = .ascending, nulls: Nulls? = nil, folding: Folding = []) {
        self.operand = operand
        self.direction = direction
        self.nulls = nulls ?? (direction == .ascending ? .first : .last)
        self.folding = folding
    }

    /// The maximum number of sort keys of a query.
    private static let countMax = 64

    /// Checks the number of sort keys of a query. Throws `.limitExceeded` if there are too many.
    package static func check(count: Int) throws(CambiumError) {
        guard count > countMax else { return }
        throw CambiumError(.limitExceeded, "The query has \(count) sort keys, but at most \(countMax) are allowed. Remove some of them.")
    }
}
