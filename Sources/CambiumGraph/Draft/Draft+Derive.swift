package import CambiumModel

extension Draft {
    /// Starts to record which objects change, so that `deriveOps` can emit the net changes afterwards.
    package mutating func trackChanges() { trackChanges(HubLimits()) }

    package mutating func trackChanges(_ limits: HubLimits) { touched = TouchedRows(layout, limits) }

    /// Emits the ops that lead from the original graph to the draft's graph. The ops omit changes that cancel each other out.
    ///
    /// Blocks of inserted and changed objects come first, then blocks of links. Deletions are not derived, so no object may have been
    /// deleted since `trackChanges`. Complexity: O(objects changed).
    ///
    /// - Parameter emit: Receives each op as soon as it is created, so that not all ops are in memory at once.
    package borrowing func deriveOps(_ emit: (Op) throws(CambiumError) -> Void) throws(CambiumError) {
        if touched != nil { try derivation.run(emit) }
    }
}
extension Draft {
    /// The derivation of the ops that lead from the original graph to the draft's graph.
    var derivation: OpDerivation {
        OpDerivation(reader: reader, layout: layout, before: (base.reader, base.layout), touched: touched)
    }
}

extension Graph {
    /// Emits the ops that make this graph from a graph that has the same schema and no objects.
    ///
    /// The ops restore the next serial of each hierarchy, too. If the object with the last serial was deleted, the ops insert an object
    /// with that serial and delete it. The ops do not state which transactions changed an object, or which object it is a copy of.
    ///
    /// Complexity: O(graph).
    package func deriveOps(_ emit: (Op) throws(CambiumError) -> Void) throws(CambiumError) {
        try OpDerivation(reader: reader, layout: layout, before: (reader, GraphLayout(Schema.empty)), touched: nil).run(emit)
        for table in layout.tables {
            let last = reader.nextSerial(table.index) &- 1
            guard let root = table.root, last > 0, reader.row(table.index, serial: last) == nil,
                let entity = schema.entities.first(where: { $0.root == root.number && !$0.isAbstract })
            else { continue }
            let id = ObjectID(root: root.number, serial: last)
            try emit(.insert(id, entity: entity.number, []))
            try emit(.delete([id]))
        }
    }
}
