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
        let counted = try countedLink(operand, entity)
        return SortSpecification.Key(
            reader: reader, field: path?.links.isEmpty == true ? path?.field : nil, isDescending: key.direction == .descending,
            nullsFirst: key.nulls == .first, folding: key.folding, isMemberCount: counted != nil, countSlot: counted?.countSlot)
    }

    /// Returns the relationship whose members the operand counts. Returns `nil` for any other operand.
    private func countedLink(_ operand: Operand, _ entity: Entity) throws(QueryMistake) -> LinkStep? {
        guard case .aggregate(let aggregate) = operand.form, aggregate.function == .count else { return nil }
        let links = try resolve(aggregate.path, entity, at: operand.offset).links
        return links.count == 1 ? links[0] : nil
    }
}
