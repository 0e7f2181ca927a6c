public import CambiumGraph
public import CambiumJSON
public import CambiumModel

/// Writes objects as JSON: the id, attributes, then relationships, each in declaration order.
///
/// A to-one relationship is an id or null, a to-many one an array of ids: in order where it is ordered, else ascending. Not for
/// several threads at once.
public final class ObjectWriter {
    private let graph: Graph
    private var shapes: [EntityNumber: Shape] = [:]

    /// What writing an object of one entity needs.
    private final class Shape {
        let entity: Entity
        /// The key in quotes, with its colon.
        let fields: [(key: [UInt8], field: Field)]
        let ends: [(key: [UInt8], relationship: Relationship, handle: EndHandle)]

        init(_ entity: Entity, _ graph: Graph) {
            self.entity = entity
            fields = entity.attributes.map { (Self.quoted($0.name), graph.field($0)) }
            ends = entity.relationships.map { (Self.quoted($0.name), $0, graph.end($0)) }
        }

        private static func quoted(_ name: String) -> [UInt8] {
            var writer = JSONWriter()
            writer.key(name)
            return writer.bytes
        }
    }

    public init(_ graph: Graph) { self.graph = graph }

    /// Writes one object. Complexity: O(attributes and members), included objects too.
    public func write(_ place: ObjectPlace, including tree: IncludeTree = IncludeTree(), to writer: inout JSONWriter) {
        write(place, tree, path: [], &writer)
    }

    private func shape(_ entity: Entity) -> Shape {
        if let shape = shapes[entity.number] { return shape }
        let shape = Shape(entity, graph)
        shapes[entity.number] = shape
        return shape
    }

    /// The recursion is as deep as the tree of includes. An object that is on the path already is written as its id.
    private func write(_ place: ObjectPlace, _ tree: IncludeTree, path: [ObjectPlace], _ writer: inout JSONWriter) {
        let shape = shape(graph.entity(of: place))
        writer.beginObject()
        writer.key("_id")
        writer.string(graph.schema.text(of: graph.id(of: place), entity: shape.entity))
        if graph.isStub(place) {
            writer.key("_stub")
            writer.bool(true)
        }
        for (key, field) in shape.fields {
            writer.quotedKey(key)
            write(field, place, &writer)
        }
        for (key, relationship, handle) in shape.ends {
            writer.quotedKey(key)
            write(relationship, handle, place, tree.children[relationship.name], path: path + [place], &writer)
        }
        writer.endObject()
    }

    private func write(_ field: Field, _ place: ObjectPlace, _ writer: inout JSONWriter) {
        switch field.type {
        case .string, .uri:
            graph.withCell(field, place) { cell in
                if cell.kind == .null { writer.null() } else { writer.string(utf8: cell.bytes) }
            }
        default:
            graph.value(of: field, at: place).write(to: &writer)
        }
    }

    private func write(
        _ relationship: Relationship, _ handle: EndHandle, _ place: ObjectPlace, _ tree: IncludeTree?, path: [ObjectPlace],
        _ writer: inout JSONWriter
    ) {
        func write(_ member: ObjectPlace) {
            if let tree, !path.contains(member) {
                self.write(member, tree, path: path, &writer)
            } else {
                writer.string(graph.schema.text(of: graph.id(of: member), entity: graph.entity(of: member)))
            }
        }
        guard relationship.isToMany else {
            if let target = graph.target(handle, of: place) { write(target) } else { writer.null() }
            return
        }
        writer.beginArray()
        for id in graph.memberIDs(handle, of: place) {
            if let member = graph.place(of: id) { write(member) }
        }
        writer.endArray()
    }
}

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
}
