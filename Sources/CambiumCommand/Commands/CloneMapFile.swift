import Cambium
import CambiumJSON

/// The file for the old and the new ids of a clone. Until the clone is committed, a temporary file next to the requested file contains the
/// ids. After the commit, the temporary file replaces the requested file.
struct CloneMapFile {
    private let path: String
    private let file: OutputFile

    /// Creates the temporary file. Throws `.cannotCreate` if no file can be created next to the requested file.
    init(_ path: String) throws(CambiumError) {
        self.path = path
        file = try OutputFile(path, option: "--map")
    }

    /// Writes a line for each object, in ascending order of id.
    func write(_ map: CloneMap, _ graph: Graph) throws(CambiumError) {
        var writer = JSONWriter()
        try map.forEach { (original: ObjectID, copy: ObjectID) throws(CambiumError) in
            // A copy has the same entity as its original. The copy itself is not in this graph yet.
            guard let entity = graph.entity(of: original) else { return }
            try add(original, copy, entity, graph.schema, to: &writer)
        }
        try end(&writer)
    }

    /// Writes a line for each object of an earlier clone. The op of that clone was read from the log. Throws `.notFound` if a copy is not
    /// in the graph.
    func write(_ op: CloneOp, _ graph: Graph) throws(CambiumError) {
        var writer = JSONWriter()
        // A clone assigns ascending serials to the copies, in ascending order of the originals. So the lines are in ascending order of the
        // originals, too.
        for hierarchy in op.hierarchies {
            for serial in hierarchy.firstSerial..<hierarchy.firstSerial + UInt64(hierarchy.objectCount) {
                let copy = ObjectID(root: hierarchy.root, serial: serial)
                guard let original = graph.source(of: copy), let entity = graph.entity(of: copy) else {
                    throw CambiumError(
                        .notFound,
                        "The map cannot be written, because a copy was deleted later, and the moment of the clone is not available. "
                            + "Omit --map.", place: .init(file: path))
                }
                try add(original, copy, entity, graph.schema, to: &writer)
            }
        }
        try end(&writer)
    }

    private func add(
        _ original: ObjectID, _ copy: ObjectID, _ entity: Entity, _ schema: Schema, to writer: inout JSONWriter
    ) throws(CambiumError) {
        writer.object { writer in
            writer.member("old", schema.text(of: original, entity: entity))
            writer.member("new", schema.text(of: copy, entity: entity))
        }
        writer.endLine()
        if writer.bytes.count >= 1 << 16 { try flush(&writer) }
    }

    private func end(_ writer: inout JSONWriter) throws(CambiumError) {
        try flush(&writer)
        try file.end()
    }

    private func flush(_ writer: inout JSONWriter) throws(CambiumError) {
        try file.write(writer.bytes)
        writer.removeAll()
    }

    /// Renames the map to its final path after the clone is committed.
    func keep() throws(CambiumError) { try file.keep() }

    func discard() { file.discard() }
}
