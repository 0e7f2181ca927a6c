package import CambiumModel

extension Draft {
    /// Checks the rules that must hold at the end of a transaction: mandatory attributes, numbers of members, uniqueness and denied
    /// deletions. Complexity: O(changes).
    ///
    /// Computes the derived attributes first, because a derived attribute may be part of a unique set.
    ///
    /// - Throws: The errors of `updateDerived`, and `.ruleViolated` with a `RuleViolations`, which lists all violations. After a migration,
    ///   it lists a limited number of violations.
    package mutating func check() throws(CambiumError) {
        try DerivedNotes.updateDerived(&self)
        if pending.isEmpty { return }
        let violations = violations()
        if violations.isEmpty { return }
        let (reader, layout) = (reader, layout)
        throw CambiumError(violations) { reader.identityText(ofObject: $0, layout) }
    }

    /// Accepts the nearest value where a migration in this transaction has converted a value that has no exact equivalent.
    package mutating func acceptNearestValues() { pending.migration?.acceptsNearest = true }

    /// Throws `.ioFailure` if the limits of the process leave too little memory for a small change and a value of this many bytes. A step
    /// that changes many objects calls this method for each of them. Complexity: O(1).
    @inline(__always)
    borrowing func checkMemory(forValueOf byteCount: Int = 0) throws(CambiumError) {
        if !space.memory.isLimited { return }
        if pending.isOff { space.memory.unpublishedChunkCount = 0 }  // A replay is not encoded.
        if !space.holdsMemory(forValueOf: byteCount) { throw .outOfMemory("the pages of a graph") }
    }

    /// Returns the broken rules and clears the pending checks. Denied deletions come first, because they usually explain the other
    /// violations.
    mutating func violations() -> RuleViolations {
        var found: [Violation] = []
        for denial in pending.denials { found += violation(of: denial) }
        let isDenied = !found.isEmpty
        let (changed, reached) = pending.split()
        var seen = PlaceSet(placeCount: changed.count + reached.count, tableCount: layout.tables.count)
        for place in changed where seen.insert(place) && isLive(place) { found += violations(at: place) }
        let isOfMigration = pending.migration != nil
        let duplicateCountMax = isOfMigration ? found.count + MigrationChecks.migrationViolationCountMax : Int.max
        // If several changes gave an object a duplicate value, `duplicates` has the object several times. The violation is listed only
        // once.
        var known: Set<Violation> = []
        for duplicate in pending.duplicates where found.count < duplicateCountMax {
            found += violation(of: duplicate).filter { known.insert($0).inserted }
        }
        // The checks of the new rules may find a violation that the checks above have already found, for example if the migration unlinked
        // the object. Such a violation is listed only once.
        if let checks = pending.migration {
            known.formUnion(found)
            found += MigrationChecks.violations(self, of: checks).filter { known.insert($0).inserted }
        }
        let causeCount = found.count
        for place in reached where seen.insert(place) && isLive(place) { found += violations(at: place).filter { !known.contains($0) } }
        pending = PendingChecks()
        let consequenceCount = isDenied ? found.count - causeCount : 0
        return RuleViolations(violations: found, consequenceCount: consequenceCount, isOfMigration: isOfMigration)
    }

    func isLive(_ place: ObjectPlace) -> Bool { reader.rows(Int(place.table)).isLive(place.row) }

    /// Returns the rules that an object breaks by its attributes and its numbers of members. A stub (an object of which only the identity
    /// is known) may lack attributes and members.
    func violations(at place: ObjectPlace) -> [Violation] {
        guard let entity = entity(at: place) else { return [] }
        let table = layout.tables[Int(place.table)]
        let rows = reader.rows(table.index)
        var found: [Violation] = []
        if !rows.isStub(place.row) {
            for attribute in entity.attributes where !attribute.isOptional && !attribute.isDerived {
                let slot = table.slot(of: attribute.number)
                if rows.isNull(place.row, slot, table.columns[slot]) {
                    found.append(Violation(object: text(place), rule: .mandatoryAttribute(attribute.name)))
                }
            }
        }
        for relationship in entity.relationships where layout.needsCount(table.index, relationship.number) {
            let count = reader.memberCount(layout.end(relationship), owner: place.row)
            if count < relationship.minCount, !rows.isStub(place.row) {
                let rule = Violation.Rule.tooFewMembers(relationship.name, count: count, min: relationship.minCount)
                found.append(Violation(object: text(place), rule: rule))
            }
            if let max = relationship.maxCount, count > max {
                found.append(Violation(object: text(place), rule: .tooManyMembers(relationship.name, count: count, max: max)))
            }
        }
        return found
    }

    func violation(of duplicate: (table: Int, index: Int, row: UInt32)) -> [Violation] {
        let table = layout.tables[duplicate.table]
        let place = ObjectPlace(table: duplicate.table, row: duplicate.row)
        guard isLive(place) else { return [] }
        let index = table.indexes[duplicate.index]
        let other = reader.duplicate(of: duplicate.row, table.index, index)
        guard other != noRow, let entity = entity(at: place) else { return [] }
        let names = entity.names(of: index.set)
        let rule = Violation.Rule.duplicate(attributes: names, of: text(ObjectPlace(table: duplicate.table, row: other)))
        return [Violation(object: text(place), rule: rule)]
    }

    private func violation(of denial: PendingChecks.Denial) -> [Violation] {
        guard let entity = schema.entity(denial.entity), let relationship = entity.relationship(denial.relationship),
            let member = denial.members.first(where: { place(of: $0) != nil }), let place = place(of: member)
        else { return [] }
        let object = "\(entity.name)/\(denial.object.serial)"
        return [Violation(object: object, rule: .deleteDenied(relationship: relationship.name, by: text(place)))]
    }

    package func place(of id: ObjectID) -> ObjectPlace? { reader.place(of: id, layout) }

    func text(_ place: ObjectPlace) -> String {
        "\(entity(at: place)?.name ?? "?")/\(id(place).serial)"
    }
}
