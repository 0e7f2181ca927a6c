import CambiumModel

/// The objects that an algorithm without a start object examines: all objects of the entities at both ends of the walk's relationships. If
/// the walk follows all relationships, the algorithm examines all objects of the graph.
struct WalkScope {
    private let reader: Reader
    private let layout: GraphLayout
    /// For each table of objects, the entities whose objects are examined.
    private var entities: [Set<EntityNumber>]

    init(_ walk: Walk) {
        (reader, layout) = (walk.graph.reader, walk.graph.layout)
        let schema = layout.schema
        entities = [Set<EntityNumber>](repeating: [], count: layout.tables.count)
        let ends = walk.relationships.flatMap { [$0.entity, $0.destination] }
        for entity in walk.isOverAll ? schema.entities.map(\.number) : ends {
            guard let entity = schema.entity(entity) else { continue }
            entities[layout.tableIndex(ofKnown: entity.root)].formUnion(entity.family)
        }
    }

    /// The tables with objects that the algorithm examines.
    var tables: [Int] { entities.indices.filter { !entities[$0].isEmpty } }

    /// Returns whether the algorithm, such as a topological sort, examines the object at a place.
    func contains(_ place: ObjectPlace) -> Bool {
        let table = layout.tables[Int(place.table)]
        return entities[table.index].contains(reader.rows(table.index).entity(place.row, table))
    }

    /// Calls `body` with the row of each object that the algorithm examines in a table.
    func forEachRow(of index: Int, _ body: (UInt32) -> Void) {
        let table = layout.tables[index]
        let covered = entities[index]
        if table.entities.allSatisfy(covered.contains) { return reader.forEachRow(of: table, body) }
        let rows = reader.rows(index)
        reader.forEachRow(of: table) { if covered.contains(rows.entity($0, table)) { body($0) } }
    }
}
