import CambiumGraph
import CambiumModel

/// The values that an object gets although the row lacks them, and the mandatory values that an object must have.
extension RowPlanner {
    private func mark(_ values: RowBatch.Span, _ entity: ImportEntity, _ batch: borrowing RowBatch) {
        entity.beginAttributes()
        for place in values.range { entity.mark(batch.values[place]) }
    }

    /// Returns whether the values in a row suffice for a new object. If so, the row has the same outcome whether or not the object exists.
    func isWhole(_ entity: ImportEntity, _ values: RowBatch.Span, _ batch: borrowing RowBatch) -> Bool {
        mark(values, entity, batch)
        return entity.isAlone && entity.facts.indices.allSatisfy { entity.facts[$0].isOptional || entity.isGivenAttribute($0) }
    }

    /// Throws the failure of an object that lacks a mandatory value. If the program's hook may supply the value, only records the failure.
    private mutating func lack(_ index: Int, _ entity: ImportEntity, _ batch: borrowing RowBatch) throws(RowFailure) {
        let failure = failure(.missingMandatory, batch, "'\(entity.attributes[index].name)' must have a value")
        if !isFinishedByHook { throw failure }
        plan.lacks.append(.init(object: plan.objects.count, attribute: index, failure: failure))
    }

    /// Checks the mandatory values that a row lacked, after the plan was applied and the program's hook has run.
    package func checkLacks(_ draft: borrowing Draft) throws(RowFailure) {
        for lack in plan.lacks {
            let table = entities[plan.objects[lack.object].entity].counted.table
            if draft.isNull(table, plan.tableRow(ofObject: lack.object), attribute: lack.attribute) { throw lack.failure }
        }
    }

    /// Adds the defaults of a new object. Throws if the entity of the object is abstract, or if the object lacks a mandatory value.
    mutating func completeNew(
        _ entity: ImportEntity, _ values: RowBatch.Span, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        if entity.isAbstract {
            throw failure(
                .unknownEntity, batch, "'\(entity.entity.name)' is abstract, so the object must name one of its sub-entities")
        }
        mark(values, entity, batch)
        for index in entity.facts.indices where !entity.isGivenAttribute(index) { try complete(index, entity, batch) }
    }

    /// Adds the value of an attribute that the row lacks, in a new object. This is the default, or null if the options clear missing values
    /// and the attribute is optional: then a repeated import finds the same value. Throws if a mandatory attribute has no default.
    private mutating func complete(_ index: Int, _ entity: ImportEntity, _ batch: borrowing RowBatch) throws(RowFailure) {
        let facts = entity.facts[index]
        if facts.hasDefault {
            let isCleared = options.missing == .clear && facts.isOptional && !facts.isDerived && !entity.isKeptAttribute(index)
            plan.extras.append(.init(attribute: index, kind: isCleared ? .null : .standard))
        } else if !facts.isOptional {
            try lack(index, entity, batch)
        }
    }

    /// Adds the defaults to a stub that the row completes, so that the stub gets the same values as a new object.
    mutating func completeStub(
        _ entity: ImportEntity, _ row: UInt32, _ values: RowBatch.Span, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) throws(RowFailure) {
        mark(values, entity, batch)
        for index in entity.facts.indices
        where !entity.isGivenAttribute(index) && draft.isNull(entity.table, row, attribute: index) {
            try complete(index, entity, batch)
        }
    }

    /// Clears the attributes that the row lacks. A mandatory attribute gets its default, as in a new object, because it cannot be null.
    /// Throws if a mandatory attribute has no default.
    mutating func clearMissing(
        _ entity: ImportEntity, _ values: RowBatch.Span, _ batch: borrowing RowBatch
    ) throws(RowFailure) {
        mark(values, entity, batch)
        for index in entity.facts.indices
        where !entity.isGivenAttribute(index) && !entity.isKeptAttribute(index) && !entity.identity.contains(index)
            && !entity.facts[index].isDerived
        {
            let isReplaced = !entity.facts[index].isOptional && entity.facts[index].hasDefault
            if !entity.facts[index].isOptional, !isReplaced { try lack(index, entity, batch) }
            plan.extras.append(.init(attribute: index, kind: isReplaced ? .standard : .null))
        }
    }
}
