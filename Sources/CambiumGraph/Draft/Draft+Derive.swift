public import CambiumModel

extension Draft {
    /// Notes from here on which objects change, so that `deriveOps` can emit the outcome.
    public mutating func trackChanges() { trackChanges(HubLimits()) }

    package mutating func trackChanges(_ limits: HubLimits) { touched = TouchedRows(layout, limits) }

    /// Emits the ops that lead from the original graph to this one: what nets to nothing is in none of them.
    ///
    /// Blocks of inserted and changed objects come first, then blocks of links. Deletions are not derived: nothing may have
    /// been deleted since `trackChanges`. Complexity: O(objects changed).
    ///
    /// - Parameter emit: takes each block as it is made, so that all of them need not be in memory at once.
    public borrowing func deriveOps(_ emit: (Op) throws(CambiumError) -> Void) throws(CambiumError) {
        if touched != nil { try derivation.run(emit) }
    }
}
extension Draft {
    /// The comparison with the original graph.
    var derivation: OpDerivation {
        OpDerivation(reader: reader, layout: layout, before: (base.reader, base.layout), touched: touched)
    }
}

extension Graph {
    /// Emits the ops that make this graph out of one that has its schema and no objects.
    ///
    /// A hierarchy whose last serial belongs to no object gets an object with that serial, which is deleted again: the next
    /// serial is part of a graph. Who changed what, and which object is a copy of which, is not in these ops.
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
