package import CambiumGraph
package import CambiumJSON
package import CambiumModel

/// Creates the rows of single objects, in the order in which the caller requests them.
package struct ObjectRows {
    private enum Writer {
        case plain(ObjectWriter)
        case mapped(MappedObjectWriter)
    }

    private let graph: Graph
    private let entity: Entity
    private let hooks: ExportHooks
    private let writer: Writer
    /// The objects of the previous rows, by their identities. They are recorded only if there is a mapping.
    private var written: [MappedIdentity: ObjectPlace] = [:]

    /// Prepares the rows. Throws `.invalidInput` with the JSON pointer to a name of the mapping that is not in the schema.
    ///
    /// - Parameters:
    ///   - entity: An entity to which all objects belong, directly or through a sub-entity.
    ///   - options: The form of the rows. Their `format` is not used here, because the caller applies it.
    package init(_ graph: Graph, of entity: Entity, _ options: ExportOptions, _ hooks: ExportHooks) throws(CambiumError) {
        self.graph = graph
        self.entity = entity
        self.hooks = hooks
        if let mapping = options.mapping {
            writer = .mapped(try MappedObjectWriter(graph, of: entity, mapping, options))
        } else {
            writer = .plain(ObjectWriter(graph, options))
        }
    }

    /// Returns the row of an object, or `nil` if the hook omits the row.
    ///
    /// Throws `.invalidInput` if an import with the mapping would not read back the object. Rethrows the hook's errors.
    package mutating func row(_ place: ObjectPlace) throws -> JSONValue? {
        var row: JSONValue
        switch writer {
        case .plain(let objects): row = try objects.row(place, declared: entity)
        case .mapped(let objects): row = try objects.row(place, declared: entity, written: &written)
        }
        let decision = try hooks.willExport?(graph, graph.id(of: place), &row)
        return decision == .leaveOut ? nil : row
    }
}
