import CambiumModel

extension ConditionBinder {
    /// Binds the sort keys of a query.
    func order(_ keys: [SortKey], _ entity: Entity, _ table: TableLayout) throws(QueryMistake) -> SortSpecification {
        var bound: [SortSpecification.Key] = []
        for key in keys { bound.append(try self.key(key, entity)) }
        return SortSpecification(bound, table, context)
    }

    private func key(_ key: SortKey, _ entity: Entity) throws(QueryMistake) -> SortSpecification.Key {
        // A sort key has no position in the text of the condition.
        let operand = Operand(key.operand.form)
        let reader = try reader(operand, entity)
        let path = reader as? PathReader
        if let path, path.links.contains(where: \.isToMany) {
            throw QueryMistake("'\(operand)' leads to several values. Sort by an aggregate such as \(operand).@count.", at: operand.offset)
        }
        if !key.folding.isEmpty, reader.kind != .text {
            throw QueryMistake("'\(operand)' is \(reader.kind.text), which has no case. Remove the option in brackets.", at: operand.offset)
        }
        return SortSpecification.Key(
            reader: reader, field: path?.links.isEmpty == true ? path?.field : nil, isDescending: key.direction == .descending,
            nullsFirst: key.nulls == .first, folding: key.folding, countSlot: try countSlot(operand, entity))
    }

    /// Returns the column with the number of members that an operand counts; `nil` if there is no such column.
    private func countSlot(_ operand: Operand, _ entity: Entity) throws(QueryMistake) -> Int? {
        guard case .aggregate(let aggregate) = operand.form, aggregate.function == .count else { return nil }
        let links = try resolve(aggregate.path, entity, at: operand.offset).links
        return links.count == 1 ? links[0].countSlot : nil
    }
}
