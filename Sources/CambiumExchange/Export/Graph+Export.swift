public import CambiumGraph
internal import CambiumJSON
public import CambiumModel

extension Graph {
    /// Calls `body` with each object of an entity and its sub-entities, or of all entities. The order is stable: by root entity in
    /// declaration order, then by ascending id.
    package func forEachObject(of entity: Entity?, _ body: (ObjectPlace) throws -> Void) rethrows {
        for root in entity.map({ [$0] }) ?? schema.roots {
            try forEachPlace(of: root, body)
        }
    }

    /// Writes the objects of an entity and its sub-entities, or of all entities, always in the same order.
    ///
    /// If references are ids, the export needs an amount of memory that does not grow with the graph. If references are identities, the
    /// objects of each root entity are sorted in memory.
    ///
    /// With identities, the export omits stubs (objects of which only the identity is known), because an import creates them again. The
    /// export also omits references to objects without an identity, unless these objects are included. It writes an object whose identity
    /// contains null, but no import reads the row of that object.
    ///
    /// Throws `.invalidInput` for CSV of all entities, and for CSV with a mapping or a hook. Throws `.invalidInput` for CSV with identities
    /// if an included stub lacks a mandatory value. Throws `.invalidInput` for CSV that includes a to-one relationship if another
    /// sub-entity has a different property with the name of the relationship. Throws `.limitExceeded` for CSV with more columns than an
    /// import reads. Throws `.invalidInput` with a JSON pointer into the mapping if an import with the mapping would not read back the
    /// exported object. Throws `.invalidInput` for a mapping without an entity, and `.unknownName` for an entity that the schema does not
    /// have. Rethrows the errors of `put` and the hook. If the export throws, `put` has already received rows that precede the error.
    /// Complexity: O(bytes of the rows), and O(objects x log objects) with identities.
    ///
    /// A long export encodes its rows on two threads, unless it writes CSV or has a mapping or a hook. `put` and the hook run on the
    /// caller's thread.
    ///
    /// - Parameters:
    ///   - entity: The entity whose objects are written, with its sub-entities; `nil` for all objects.
    ///   - options: The form of the rows.
    ///   - hooks: The program's changes to each row.
    ///   - put: Takes the next bytes, usually tens or hundreds of KiB at a time.
    public func export(
        _ entity: Entity?, _ options: ExportOptions = ExportOptions(), hooks: ExportHooks = ExportHooks(), to put: ([UInt8]) throws -> Void
    ) throws {
        try export(entity, options, hooks: hooks, where: nil, to: put)
    }

    /// Writes the objects that satisfy a condition, as `export(_:_:hooks:to:)` does. Nested objects and the targets of references need not
    /// satisfy the condition.
    ///
    /// - Parameter condition: Returns whether an object is written; `nil` for all objects. It runs on the caller's thread.
    package func export(
        _ entity: Entity?, _ options: ExportOptions, hooks: ExportHooks = ExportHooks(), where condition: ((ObjectPlace) -> Bool)?,
        to put: ([UInt8]) throws -> Void
    ) throws {
        if options.mapping != nil || hooks.willExport != nil { return try exportRows(entity, options, hooks, condition, put) }
        if options.format == .csv {
            guard let entity else {
                throw CambiumError(.invalidInput, "An export as CSV contains the columns of one entity. Pass the entity.")
            }
            let objects = ObjectWriter(self, options)
            return try exportCSV(entity, try CSVObjectWriter(self, of: entity, options, objects), objects, condition, put)
        }
        try ParallelRows(self, options, declared: entity).export(where: condition, to: put)
    }

    /// Writes the rows of an export that has a mapping or a hook. Each row is first built as a JSON tree, so that the hook can change it.
    private func exportRows(
        _ entity: Entity?, _ options: ExportOptions, _ hooks: ExportHooks, _ condition: ((ObjectPlace) -> Bool)?,
        _ put: ([UInt8]) throws -> Void
    ) throws {
        if options.format == .csv {
            throw CambiumError(.invalidInput, "CSV cannot be combined with a mapping or a hook. Choose another format.")
        }
        var rows = RowOutput(options.format)
        func add(_ place: ObjectPlace, _ row: JSONValue) throws {
            var row = row
            if try hooks.willExport?(self, id(of: place), &row) == .leaveOut { return }
            rows.add { $0.write(row) }
            if rows.isFull { try rows.put(to: put) }
        }
        if let mapping = options.mapping {
            guard let entity = try entity ?? mapping.entity.map(schema.required) else {
                throw CambiumError(
                    .invalidInput, "An export with a mapping writes the objects of one entity. Pass the entity, or set it in the mapping.")
            }
            let objects = try MappedObjectWriter(self, of: entity, mapping, options)
            try objects.order.forEachObject(of: entity, where: condition) { place in try add(place, objects.row(place, declared: entity)) }
        } else {
            let objects = ObjectWriter(self, options)
            try objects.order.forEachObject(of: entity, where: condition) { place in try add(place, objects.row(place, declared: entity)) }
        }
        try rows.end(to: put)
    }

    private func exportCSV(
        _ entity: Entity, _ records: CSVObjectWriter, _ objects: ObjectWriter, _ condition: ((ObjectPlace) -> Bool)?,
        _ put: ([UInt8]) throws -> Void
    ) throws {
        var bytes = records.names()
        try objects.order.forEachObject(of: entity, where: condition) { place in
            try bytes += records.record(place)
            if bytes.count > RowOutput.byteCount {
                try put(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        try put(bytes)
    }
}
