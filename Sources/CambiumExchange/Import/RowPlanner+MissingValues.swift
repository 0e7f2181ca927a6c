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

    /// Records that an object lacks a mandatory value. A later part of the row, or the program's hook, may supply the value.
    ///
    /// - Parameter isReference: Whether the object is nested and has only an identity, so that it probably refers to another row.
    private mutating func lack(_ index: Int, _ entity: ImportEntity, _ batch: borrowing RowBatch, isReference: Bool = false) {
        let why = isReference ? ", because there is no '\(entity.entity.name)' with this identity; import its row first" : ""
        let failure = failure(.missingMandatory, batch, "'\(entity.attributes[index].name)' must have a value" + why)
        plan.lacks.append(.init(object: plan.objects.count, attribute: index, failure: failure))
    }

    /// An object that the row describes or refers to.
    enum PlannedObject: Hashable {
        /// The index of a new object in the plan.
        case new(Int)
        case existing(table: Int, row: UInt32)
    }

    /// A property of an object that the row describes or refers to.
    private struct Supply: Hashable {
        let object: PlannedObject
        let property: PropertyNumber
    }

    private func supply(_ place: Int, attribute: Int) -> Supply {
        let entity = entities[plan.objects[place].entity].counted
        return Supply(object: object(at: place, entity), property: entity.attributes[attribute].number)
    }

    private func supply(_ link: RowPlan.Link) -> Supply {
        let entity = entities[plan.objects[link.owner].entity].counted
        return Supply(object: object(at: link.owner, entity), property: entity.links[link.link].relationship.number)
    }

    func object(at place: Int, _ entity: ImportEntity) -> PlannedObject {
        switch plan.objects[place].target {
        case .new: .new(place)
        case .alias(let other): .new(other)
        case .existing(let row), .skipped(let row): .existing(table: entity.table.number, row: row)
        }
    }

    /// Returns the attributes to which parts of the row give values.
    private func statedAttributes(_ batch: borrowing RowBatch) -> Set<Supply> {
        var stated: Set<Supply> = []
        for place in plan.objects.indices {
            for value in plan.objects[place].values where batch.values[value].kind != .kept {
                stated.insert(supply(place, attribute: Int(batch.values[value].attribute)))
            }
        }
        return stated
    }

    /// Lets the values and links that the row states take precedence over keys that are absent from another part of the row. A relationship
    /// is cleared before any part of the row links objects, and not at all if another part states its members. Complexity: O(objects,
    /// values and links of the row).
    mutating func preferStated(_ batch: borrowing RowBatch) {
        if !plan.extras.isEmpty {
            let stated = statedAttributes(batch)
            for place in plan.objects.indices {
                for extra in plan.objects[place].extras where stated.contains(supply(place, attribute: plan.extras[extra].attribute)) {
                    plan.extras[extra].kind = .stated
                }
            }
        }
        if !plan.links.contains(where: \.isOfAbsentKey) { return }
        let links = plan.links.filter { !$0.isOfAbsentKey }
        let stated = Set(links.map { supply($0) })
        plan.links = plan.links.filter { $0.isOfAbsentKey && !stated.contains(supply($0)) } + links
    }

    /// Checks the mandatory values that parts of the row lack. A value that another part supplies for the same object is not missing.
    /// Complexity: O(objects and values of the row).
    func checkLacks(_ batch: borrowing RowBatch) throws(RowFailure) {
        let stated = statedAttributes(batch)
        for lack in plan.lacks where !stated.contains(supply(lack.object, attribute: lack.attribute)) { throw lack.failure }
    }

    /// Checks the mandatory values that a row lacked, after the plan was applied and the program's hook has run.
    package func checkLacks(_ draft: borrowing Draft) throws(RowFailure) {
        for lack in plan.lacks {
            let table = entities[plan.objects[lack.object].entity].counted.table
            if ImportWriter.isNull(draft, table, plan.tableRow(ofObject: lack.object), attribute: lack.attribute) { throw lack.failure }
        }
    }

    /// Adds the defaults of a new object, and records the mandatory values that it lacks. Throws if the entity of the object is abstract.
    mutating func completeNew(
        _ entity: ImportEntity, _ values: RowBatch.Span, _ batch: borrowing RowBatch
    ) throws(RowFailure) {
        if entity.isAbstract {
            throw failure(
                .unknownEntity, batch, "'\(entity.entity.name)' is abstract, so the object must name one of its sub-entities")
        }
        mark(values, entity, batch)
        let isReference = !steps.isEmpty && !entity.identityParts.isEmpty && values.range.count == entity.identity.count
        for index in entity.facts.indices where !entity.isGivenAttribute(index) { complete(index, entity, batch, isReference: isReference) }
    }

    /// Completes an attribute for which the row of a new object, or of a stub, has no value. If the attribute has a default, adds the
    /// default. Adds null instead if a repeated import would clear the attribute. Records a lack if a mandatory attribute has no default.
    private mutating func complete(_ index: Int, _ entity: ImportEntity, _ batch: borrowing RowBatch, isReference: Bool = false) {
        let facts = entity.facts[index]
        if facts.hasDefault {
            let isCleared = options.missing == .clear && facts.isOptional && facts.isRead && !entity.isKeptAttribute(index)
            plan.extras.append(.init(attribute: index, kind: isCleared ? .null : .standard))
        } else if !facts.isOptional {
            lack(index, entity, batch, isReference: isReference)
        }
    }

    /// Completes a stub from its row: adds the defaults that a new object would get. If the row lacks a value that a program has already
    /// set in the stub, the value is kept. With `missing: .clear`, the value is treated as in a repeated import: an optional attribute
    /// becomes null, and a mandatory attribute gets its default.
    mutating func completeStub(
        _ entity: ImportEntity, _ row: UInt32, _ values: RowBatch.Span, _ batch: borrowing RowBatch, _ draft: borrowing Draft
    ) {
        mark(values, entity, batch)
        for index in entity.facts.indices where !entity.isGivenAttribute(index) {
            if ImportWriter.isNull(draft, entity.table, row, attribute: index) {
                complete(index, entity, batch)
            } else if options.missing == .clear {
                clear(index, entity, batch)
            }
        }
    }

    /// Clears the attributes that the row lacks. A mandatory attribute gets its default, as in a new object, because it cannot be null.
    /// Records a lack if a mandatory attribute has no default.
    mutating func clearMissing(_ entity: ImportEntity, _ values: RowBatch.Span, _ batch: borrowing RowBatch) {
        mark(values, entity, batch)
        for index in entity.facts.indices where !entity.isGivenAttribute(index) { clear(index, entity, batch) }
    }

    /// Clears an attribute that the row lacks, unless the row keeps the attribute, or no row can clear it.
    private mutating func clear(_ index: Int, _ entity: ImportEntity, _ batch: borrowing RowBatch) {
        let facts = entity.facts[index]
        if entity.isKeptAttribute(index) || entity.identity.contains(index) || !facts.isRead { return }
        let isReplaced = !facts.isOptional && facts.hasDefault
        if !facts.isOptional, !isReplaced { lack(index, entity, batch) }
        plan.extras.append(.init(attribute: index, kind: isReplaced ? .standard : .null))
    }
}
