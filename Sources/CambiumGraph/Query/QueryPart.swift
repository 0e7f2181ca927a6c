package import CambiumModel

/// A part of a query that was parsed from a separate text, such as the value of an option on the command line.
package enum QueryPart {
    /// The paths whose values are listed.
    case values([Operand])
    /// The paths by whose values objects are grouped.
    case groupKeys([Operand])
    /// The paths to which a function is applied.
    case function(AggregateFunction, [Operand])
    /// The sort keys of objects.
    case sort([SortKey])
    /// The sort keys of groups.
    case groupSort([SortKey], Grouping)
}

extension Graph {
    /// Checks that a part of a query fits an entity. Throws `.invalidInput` with the position of the mistake in `text`, from which the part
    /// was parsed.
    package func check(_ part: QueryPart, of entity: Entity, in text: String) throws(CambiumError) {
        let binder = ConditionBinder(context: QueryContext(reader, layout), arguments: [:])
        do throws(QueryMistake) { try binder.check(part, entity) } catch { throw error.error(in: text) }
    }
}

extension ConditionBinder {
    fileprivate func check(_ part: QueryPart, _ entity: Entity) throws(QueryMistake) {
        switch part {
        case .values(let operands): for operand in operands { _ = try reader(operand, entity) }
        case .groupKeys(let keys): _ = try codes(keys, entity, layout.tables[layout.tableIndex(ofKnown: entity.root)])
        case .function(let function, let operands): for operand in operands { _ = try sums(Aggregate(function, of: operand), entity) }
        case .sort(let keys): for key in keys { _ = try self.key(key, entity) }
        case .groupSort(let keys, let grouping):
            let order = try GroupOrder(grouping, self, entity)
            for key in keys { _ = try order.place(key) }
        }
    }
}
