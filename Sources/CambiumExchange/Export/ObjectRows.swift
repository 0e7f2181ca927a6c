package import CambiumGraph
package import CambiumJSON
package import CambiumModel

/// Creates the rows of single objects, in the order in which the caller requests the objects.
package struct ObjectRows {
    private enum Writer {
        case plain(ObjectWriter)
        case mapped(MappedObjectWriter)
    }

    private let graph: Graph
    private let entity: Entity
    private let hooks: ExportHooks
    private let writer: Writer
    /// The objects of the previous rows, by their identities. Empty if there is no mapping.
    private var written: [MappedIdentity: ObjectPlace] = [:]

    /// Prepares the rows. If the schema lacks a name in the mapping, throws `.invalidInput` with the JSON pointer to the name.
    ///
    /// - Parameters:
    ///   - entity: An entity to which all objects belong, directly or through a sub-entity.
    ///   - options: The form of the rows. `options.format` is not used here, because the caller applies the format.
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
