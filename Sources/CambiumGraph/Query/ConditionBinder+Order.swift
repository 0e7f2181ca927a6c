import CambiumModel

extension ConditionBinder {
    /// Resolves the sort keys of a query.
    func order(_ keys: [SortKey], _ entity: Entity, _ table: TableLayout) throws(QueryMistake) -> SortSpecification {
        var bound: [SortSpecification.Key] = []
        for key in keys {
            // The operand's position is dropped. A sort key is not part of the text of the condition, so an error must not state a position
            // in this text.
            var key = key
            key.operand = Operand(key.operand.form)
            bound.append(try self.key(key, entity))
        }
        return SortSpecification(bound, table, context)
    }

    /// Resolves a sort key. The position in an error is that of the key's operand.
    func key(_ key: SortKey, _ entity: Entity) throws(QueryMistake) -> SortSpecification.Key {
        let operand = key.operand
        let reader = try reader(operand, entity)
        let path = reader as? PathReader
        if let path, path.links.contains(where: \.isToMany) {
            throw QueryMistake("'\(operand)' leads to several values. Sort by an aggregate such as \(operand).@count.", at: operand.offset)
        }
        if !key.folding.isEmpty, reader.kind != .text {
            throw .noCase(operand, reader.kind, at: operand.offset)
        }
        return SortSpecification.Key(
            reader: reader, field: path?.links.isEmpty == true ? path?.field : nil, isDescending: key.direction == .descending,
            nullsFirst: key.nulls == .first, folding: key.folding, countSlot: try countSlot(operand, entity))
    }

    /// Returns the column with the number of members, if the operand counts the members of a relationship. Returns `nil` for any other
    /// operand.
    private func countSlot(_ operand: Operand, _ entity: Entity) throws(QueryMistake) -> Int? {
        guard case .aggregate(let aggregate) = operand.form, aggregate.function == .count else { return nil }
        let links = try resolve(aggregate.path, entity, at: operand.offset).links
        return links.count == 1 ? links[0].countSlot : nil
    }
}
