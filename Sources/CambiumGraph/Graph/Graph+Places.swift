package import CambiumModel

extension Graph {
    /// Checks a place that a caller passed, and returns the place. Ends the process if this graph has no object at the place. Complexity:
    /// O(1). The check loads only pages that a read at the place loads, too.
    @inline(__always) func checked(_ place: ObjectPlace) -> ObjectPlace {
        let table = Int(place.table)
        if !layout.hasObjects(inTable: table) || !reader.rows(table).isLive(place.row) { refuse(place) }
        return place
    }

    @inline(never) private func refuse(_ place: ObjectPlace) -> Never {
        refuse("table \(place.table) has no object in row \(place.row)")
    }

    /// Returns whether the store had assigned an id when this graph was made. An assigned id may belong to a deleted object, which the
    /// graph does not have.
    package func hasAssigned(_ id: ObjectID) -> Bool {
        guard id.serial > 0, let table = layout.table(of: id.root) else { return false }
        return id.serial < reader.nextSerial(table.index)
    }
}
