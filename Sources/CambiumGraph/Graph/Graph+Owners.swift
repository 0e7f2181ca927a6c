package import CambiumModel

extension Graph {
    /// Returns the ids of the objects from which a relationship without an inverse in the schema leads to an object. The ids are in no
    /// particular order. Returns no ids if the object is not in this graph. Complexity: O(links of the object).
    package func ownersWithoutInverse(of id: ObjectID) -> [ObjectID] {
        guard let place = place(of: id) else { return [] }
        let reader = reader
        var owners: [ObjectID] = []
        for end in layout.endsByTable[Int(place.table)] {
            let link = schema.links[end.link]
            if (end.end == 0 ? link.first : link.second).property != nil { continue }
            let table = layout.startTable(layout.end(end.link, 1 - end.end))
            reader.forEachMember(end, owner: place.row) { owners.append(reader.id(ObjectPlace(table: table, row: $0), layout)) }
        }
        return owners
    }
}
