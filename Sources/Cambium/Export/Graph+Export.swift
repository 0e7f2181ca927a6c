public import CambiumGraph
import CambiumJSON
public import CambiumModel

extension Graph {
    /// Every object of an entity and its sub-entities, or of all entities, in a stable order: by root entity in declaration
    /// order, then by ascending id.
    public func forEachObject(of entity: Entity?, _ body: (ObjectPlace) throws -> Void) rethrows {
        for root in entity.map({ [$0] }) ?? schema.roots {
            for id in objects(of: root) {
                if let place = place(of: id) { try body(place) }
            }
        }
    }

    /// Writes the objects of an entity and its sub-entities, or of all, always in the same order.
    ///
    /// Memory does not grow with the graph where references are ids. Where they are identities the objects are sorted by them, stubs
    /// are left out, as imports make them by themselves, and so are relationships to objects that have no identity and are not
    /// included. Throws `.invalidInput` for CSV of all entities; what `put` throws.
    ///
    /// - Parameter put: takes the next bytes, 64 KiB or little more at a time.
    public func export(_ entity: Entity?, _ options: ExportOptions = ExportOptions(), to put: ([UInt8]) throws -> Void) throws {
        let objects = ObjectWriter(self, options)
        if options.format == .csv {
            guard let entity else {
                throw CambiumError(.invalidInput, "CSV has the columns of one entity, and none is named; name it.")
            }
            return try exportCSV(entity, CSVObjectWriter(self, of: entity, options, objects), objects, put)
        }
        var writer = JSONWriter()
        var isFirst = true
        if options.format == .array { writer.beginArray() }
        try objects.order.forEachObject(of: entity) { place in
            if options.format == .array, !isFirst { writer.separateLine() }
            objects.object(place, .init(tree: options.include, declared: entity), &writer)
            if options.format == .lines { writer.endLine() }
            isFirst = false
            if writer.bytes.count > Self.exportByteCount {
                try put(writer.bytes)
                writer.forgetBytes()
            }
        }
        if options.format == .array {
            writer.endArray()
            writer.endLine()
        }
        try put(writer.bytes)
    }

    private static let exportByteCount = 1 << 16

    private func exportCSV(
        _ entity: Entity, _ records: CSVObjectWriter, _ objects: ObjectWriter, _ put: ([UInt8]) throws -> Void
    ) throws {
        var bytes = records.names()
        try objects.order.forEachObject(of: entity) { place in
            bytes += records.record(place)
            if bytes.count > Self.exportByteCount {
                try put(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
        }
        try put(bytes)
    }
}
