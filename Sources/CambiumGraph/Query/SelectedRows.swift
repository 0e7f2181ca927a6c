public import CambiumModel

/// Whether rows with the same values as an earlier row are kept.
///
/// ```swift
/// let cities = try graph.values(of: [Operand(parsing: "city.name")], Query("Person"), repeated: .remove)
/// ```
public enum RepeatedRows: Sendable { case keep, remove }

extension Graph {
    /// Returns the values of some paths for each object of an answer, in the order of the answer.
    ///
    /// ```swift
    /// let rows = try graph.values(of: [Operand(parsing: "name"), Operand(parsing: "city.name")], query)
    /// ```
    ///
    /// A list of values has the order of the relationships on its path. The members of an unordered relationship are in ascending order of
    /// their ids. If repeated rows are removed, limit and offset apply to the rows that remain. Throws as `find(_:)` does. Complexity: as
    /// for `find(_:)`, and also O(objects · paths + n log n) for n values in lists.
    public func values(of operands: [Operand], _ query: Query, repeated: RepeatedRows = .keep) throws -> [[QueryValue]] {
        try selected(operands, query, repeated: repeated, isExplained: false).rows
    }

    /// Returns the rows of `values(of:_:repeated:)`, and also the objects of the answer and the steps of the query. The steps state each
    /// part of an `or` only if `isExplained` is true.
    package func selected(
        _ operands: [Operand], _ query: Query, repeated: RepeatedRows, isExplained: Bool
    ) throws -> (rows: [[QueryValue]], ids: [ObjectID], plan: QueryPlan) {
        try query.check()
        var objects = query
        if repeated == .remove { (objects.limit, objects.offset) = (nil, 0) }
        let answer = try answer(objects, isExplained: isExplained)
        let readers = try readers(operands, query)
        var rows: [[QueryValue]] = []
        for place in answer.places {
            if rows.count.isMultiple(of: Self.cancellationCount), Task.isCancelled { throw CancellationError() }
            rows.append(try readers.map { try $0.selected(place.row) })
        }
        // If the task is cancelled, the computation of a value stops early, so the last values may be wrong.
        if Task.isCancelled { throw CancellationError() }
        guard repeated == .remove else { return (rows, answer.ids, answer.plan) }
        var known: Set<[QueryValue]> = []
        rows = rows.filter { known.insert($0.map(\.canonical)).inserted }
        return (Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max)), [], answer.plan)
    }

    /// The loop checks once for every 64 rows whether the task was cancelled.
    private static var cancellationCount: Int { 64 }

    private func readers(_ operands: [Operand], _ query: Query) throws(CambiumError) -> [ValueReader] {
        let entity = try schema.required(query.entity)
        let binder = ConditionBinder(context: QueryContext(reader, layout), arguments: query.arguments)
        var readers: [ValueReader] = []
        for operand in operands {
            try operand.check()
            do throws(QueryMistake) {
                readers.append(try binder.reader(Operand(operand.form), entity))
            } catch {
                throw error.error(in: nil)
            }
        }
        return readers
    }
}

extension ValueReader {
    /// The maximum number of values in one list of an answer. Also the maximum number of paths that are followed to find these values.
    private static var listedCountMax: Int { 1_000_000 }

    /// Returns the value of a row, or the list of values if the path leads to several.
    fileprivate func selected(_ row: UInt32) throws -> QueryValue {
        guard let path = self as? PathReader, path.links.contains(where: \.isToMany) else { return value(row) }
        var values: [QueryValue] = []
        var isComplete = path.links.count(where: \.isToMany) < 2 || path.pathCount(from: row, upTo: Self.listedCountMax) != nil
        if isComplete {
            isComplete = path.visitRowsInOrder(row, memberCountMax: Self.listedCountMax) { end in
                values.append(end.map(path.read) ?? .null)
                return values.count <= Self.listedCountMax
            }
        }
        guard isComplete else {
            throw CambiumError(
                .limitExceeded,
                "A selected path leads to more than \(Self.listedCountMax) values. Select a shorter path, or a count such as items.@count.")
        }
        return .list(values)
    }
}
