public import CambiumModel

/// A query for the objects of an entity: a condition, an order, and the part of the answer to return.
///
/// ```swift
/// var query = try Query("Person", where: "age > $age and any tags.name == \"red\"", ["age": 30], sort: "-age,name")
/// query.limit = 20
/// for id in try graph.find(query) { print(graph.name(of: id) ?? "") }
/// ```
///
/// A query without sort keys returns objects by ascending id. Objects with equal sort keys are also returned by ascending id.
public struct Query: Sendable {
    /// The name of the entity. Objects of its sub-entities belong to the answer, too.
    package var entity: String
    /// The condition that objects must satisfy; `nil` for all objects.
    public var condition: Condition? { didSet { (parsedNames, text) = (nil, nil) } }
    /// The values of the parameters in the condition, by their names without `$`.
    package var arguments: [String: Operand]
    /// The sort keys, the most significant one first.
    public var sort: [SortKey]
    /// The maximum number of objects; `nil` for no maximum.
    public var limit: Int?
    /// The number of objects to skip at the beginning.
    public var offset = 0
    /// The position after which the answer begins: a cursor of an earlier answer. The earlier query must have had the entity and the sort
    /// keys of this query.
    public var cursor: QueryCursor?
    /// The text that the condition was parsed from, for the positions in errors.
    private(set) var text: String?
    /// The names of the parameters, if the condition was parsed from a text. Such a condition need not be checked again.
    private var parsedNames: Set<String>?
    /// The ways in which the planner may find objects. Tests compare the answers of scans with the answers of all other ways.
    package var accesses = Accesses.all

    package enum Accesses: Sendable { case all, scan }

    /// Whether the answer contains only stubs. Only the identity of a stub is known.
    package var isForStubs = false

    /// Creates a query from texts.
    ///
    /// Throws `.invalidInput` with the position if a text is malformed, and `.limitExceeded` if it is too long or nests too deeply.
    /// Docs/Use/QUERIES.md describes the texts. The names are compared with a schema when the query runs. Complexity: O(bytes of the
    /// texts).
    ///
    /// - Parameters:
    ///   - condition: A condition such as `age > $age`.
    ///   - arguments: A value for each parameter of the condition.
    ///   - sort: Keys such as `name,-born`.
    ///   - limit: The maximum number of objects; `nil` for no maximum.
    public init(
        _ entity: String, where condition: String? = nil, _ arguments: [String: Operand] = [:], sort: String? = nil, limit: Int? = nil
    ) throws(CambiumError) {
        self.entity = entity
        self.condition = nil
        if let condition {
            let parsed = try Condition(parsing: condition)
            self.condition = parsed
            parsedNames = parsed.parameterNames
        }
        text = condition
        self.arguments = arguments
        self.sort = []
        if let sort { self.sort = try SortKey.list(parsing: sort) }
        self.limit = limit
    }

    /// Creates a query from a condition that has already been parsed.
    public init(_ entity: String, where condition: Condition, _ arguments: [String: Operand] = [:], sort: [SortKey] = []) {
        self.entity = entity
        self.condition = condition
        self.arguments = arguments
        self.sort = sort
        text = nil
    }
}

/// A position in an answer, directly after one of the objects. A query on a later graph can continue at this position. The cursor can be
/// stored as text.
///
/// ```swift
/// var page = try Query("Note", sort: "title", limit: 20)
/// page.cursor = try graph.answer(page).cursor
/// let next = try store.graph.find(page)
/// ```
public struct QueryCursor: Hashable, Sendable {
    /// The sort key of the object directly before the cursor.
    let key: [UInt8]
    /// The serial of that object: its number in its hierarchy.
    let serial: UInt64
    /// A hash of the entity, the sort keys and their types. The hash shows whether the cursor belongs to a query.
    let order: UInt64
}

extension Operand: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral
{
    public init(stringLiteral text: String) { self.init(.literal(.string(text))) }
    public init(integerLiteral number: Int64) { self.init(.literal(.value(.int(number)))) }
    public init(floatLiteral number: Double) { self.init(.literal(.value(.double(number)))) }
    public init(booleanLiteral flag: Bool) { self.init(.literal(.bool(flag))) }
    public init(arrayLiteral elements: Operand...) { self.init(.list(elements)) }

    /// Returns a constant.
    public static func value(_ value: Value) -> Operand { Operand(.literal(.value(value))) }
    /// Returns the id of an object as a constant.
    public static func object(_ id: ObjectID) -> Operand { Operand(.literal(.id(id))) }
    /// Returns a list of constants, for the relations `in` and `between`.
    public static func values(_ values: [Value]) -> Operand { Operand(.list(values.map { .value($0) })) }
    /// Returns a list of the ids of objects, for the relation `in`.
    public static func objects(_ ids: [ObjectID]) -> Operand { Operand(.list(ids.map { .object($0) })) }
}

extension Query {
    /// Throws `.invalidInput` if the limit, the offset or an argument is wrong, and `.limitExceeded` if the query is too large.
    func check() throws(CambiumError) {
        if let limit, limit < 0 { throw CambiumError(.invalidInput, "The limit is \(limit), but must be at least 0.") }
        if offset < 0 { throw CambiumError(.invalidInput, "The offset is \(offset), but must be at least 0.") }
        try SortKey.check(count: sort.count)
        for key in sort { try key.operand.check() }
        if let condition, parsedNames == nil { try condition.check() }
        if arguments.isEmpty { return }
        let names = parsedNames ?? condition?.parameterNames ?? []
        if !arguments.keys.allSatisfy(names.contains), let unused = arguments.keys.filter({ !names.contains($0) }).min()?.excerpt {
            // A query for groups may also have a condition on the groups, which this query does not contain.
            throw CambiumError(
                .invalidInput,
                "No condition of the query has the parameter $\(unused), but a value is given for it. Remove the value, or use "
                    + "$\(unused) in a condition.")
        }
    }
}
